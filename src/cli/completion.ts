/** Completion for shells, from the table of flags. */
import { FLAGS, type FlagRow, HeddleError } from '../protocol/plain.js';
import { MCP_COMMANDS } from './mcp.js';
import { PLUGIN_COMMANDS } from './plugin.js';
import { SESSION_COMMANDS } from './sessions.js';

const COMMANDS = ['completion', 'doctor', 'mcp', 'permissions', 'plugin', 'sessions', 'trust'];

const SCRIPTS: Readonly<Record<string, () => string>> = { bash: forBash, fish: forFish, zsh: forZsh };

/** The script that a shell loads: `source <(heddle completion bash)`. */
export function completionScript(shell: string | undefined): string {
  const make = shell !== undefined && Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (make) return make();
  throw new HeddleError('invalid_config', `error: completion needs a shell: ${Object.keys(SCRIPTS).join(', ')}.`, {
    hint: 'For example: source <(heddle completion bash)',
  });
}

const shown = (): FlagRow[] => FLAGS.filter((row) => !row.hidden);

function forBash(): string {
  const cases = shown().flatMap(({ names, choices }) =>
    choices ? [`    ${names.join('|')}) COMPREPLY=($(compgen -W "${choices.join(' ')}" -- "$cur")); return;;`] : [],
  );
  const words = [...COMMANDS, ...shown().flatMap(({ names }) => names)];
  return `_heddle() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  case "$prev" in
${cases.join('\n')}
    mcp) COMPREPLY=($(compgen -W "${MCP_COMMANDS.join(' ')}" -- "$cur")); return;;
    plugin) COMPREPLY=($(compgen -W "${PLUGIN_COMMANDS.join(' ')}" -- "$cur")); return;;
    sessions) COMPREPLY=($(compgen -W "${SESSION_COMMANDS.join(' ')}" -- "$cur")); return;;
    completion) COMPREPLY=($(compgen -W "${Object.keys(SCRIPTS).join(' ')}" -- "$cur")); return;;
  esac
  if [[ "$cur" == -* || $COMP_CWORD -eq 1 ]]; then COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$cur"))
  else COMPREPLY=($(compgen -f -- "$cur")); fi
}
complete -F _heddle heddle
`;
}

function forZsh(): string {
  const lines = shown().flatMap(({ names, help, choices, value }) =>
    names.map((name) => {
      const argument = choices ? `:value:(${choices.join(' ')})` : value ? ':value:_files' : '';
      return `  '${name}[${quoteZsh(help)}]${argument}'`;
    }),
  );
  return `#compdef heddle
_heddle_word() {
  case $words[2] in
    mcp) compadd ${MCP_COMMANDS.join(' ')} ;;
    plugin) compadd ${PLUGIN_COMMANDS.join(' ')} ;;
    sessions) compadd ${SESSION_COMMANDS.join(' ')} ;;
    *) _files ;;
  esac
}
_arguments -s \\
${lines.join(' \\\n')} \\
  '1:command:(${COMMANDS.join(' ')})' '2:word:_heddle_word' '*:file:_files'
`;
}

const quoteZsh = (text: string): string => text.replace(/'/g, "'\\''").replace(/[[\]:\\]/g, '\\$&');

function forFish(): string {
  const flags = shown().flatMap(({ names, help, choices, value }) => {
    const spelled = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
    const argument = choices ? ` -x -a "${choices.join(' ')}"` : value ? ' -r' : '';
    return [`complete -c heddle ${spelled.join(' ')}${argument} -d ${JSON.stringify(help)}`];
  });
  const commands = `complete -c heddle -n __fish_use_subcommand -a "${COMMANDS.join(' ')}"`;
  const sessions = `complete -c heddle -n "__fish_seen_subcommand_from sessions" -a "${SESSION_COMMANDS.join(' ')}"`;
  const mcp = `complete -c heddle -n "__fish_seen_subcommand_from mcp" -a "${MCP_COMMANDS.join(' ')}"`;
  const plugin = `complete -c heddle -n "__fish_seen_subcommand_from plugin" -a "${PLUGIN_COMMANDS.join(' ')}"`;
  return `${[commands, mcp, plugin, sessions, ...flags].join('\n')}\n`;
}
