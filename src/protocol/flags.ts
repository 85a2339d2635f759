/** The one table of command line flags: which option each sets, how its value reads, what the help says. */
import type { SessionConfig } from './config.js';
import { EFFORT_LEVELS, PERMISSION_MODES, SETTING_SOURCES, type SetupTrigger } from './names.js';

export const OUTPUT_FORMATS = ['text', 'json', 'stream-json', 'terminal'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
export const INPUT_FORMATS = ['text', 'stream-json'] as const;
export type InputFormat = (typeof INPUT_FORMATS)[number];

/** What flags say to the command line program alone; a session never sees it. */
export interface CliOptions {
  print?: boolean;
  outputFormat?: OutputFormat;
  inputFormat?: InputFormat;
  verbose?: boolean;
  version?: boolean;
  help?: boolean;
  bare?: boolean;
  mcpDebug?: boolean;
  awaitInitialize?: boolean;
  axScreenReader?: boolean;
  background?: boolean;
  brief?: boolean;
  files?: string[];
  worktree?: string | true;
  tmux?: string | true;
  pluginUrls?: string[];
  restricted?: boolean;
  safeMode?: boolean;
  systemPromptSnapshot?: string | true;
  autocompact?: string | true;
  promptSuggestions?: string | true;
  /** The flags given whose capability has not arrived, as they were spelled. */
  later?: { flag: string; key: string; refused: boolean }[];
}

/** Options that one flag cannot carry as they are; `argv.ts` converts them. */
interface FlatOnly extends Record<SetupTrigger, boolean> {
  excludeDynamicSections: boolean;
  dangerouslySkipPermissions: boolean;
}

export type ConfigFlagKey = keyof SessionConfig | keyof FlatOnly;
export type CliFlagKey = Exclude<keyof CliOptions, 'later'>;
export type FlagKind = 'boolean' | 'string' | 'number' | 'list' | 'json' | 'choice';
export const FLAG_GROUPS = ['Run', 'Model', 'Session', 'Tools and permissions', 'Context', 'Limits', 'Other'] as const;
export type FlagGroup = (typeof FLAG_GROUPS)[number];

interface FlagDetails {
  choices?: readonly string[];
  /** Other spellings of a choice. */
  choiceAliases?: Readonly<Record<string, string>>;
  /** How one value of a list is cut: rules keep what stands in brackets together; `whole` is not cut at all. */
  split?: 'rules' | 'comma' | 'whole';
  /** An empty list says something else than no list. */
  emptyCounts?: boolean;
  /** The value a boolean flag sets; true when absent. */
  sets?: boolean;
  /** A number that may have a fraction, and must be above 0. */
  fraction?: boolean;
  hidden?: boolean;
  /** The capability arrives later. What would only add is ignored aloud; what would restrict is refused. */
  later?: 'ignored' | 'refused';
}

export interface FlagRow extends FlagDetails {
  readonly part: 'config' | 'cli';
  readonly key: ConfigFlagKey | CliFlagKey;
  readonly kind: FlagKind;
  readonly group: FlagGroup;
  readonly help: string;
  /** As help and errors show it: `-r, --resume [session]`. */
  readonly spec: string;
  /** Every spelling; the first long one is what `toArgv` writes. */
  readonly names: readonly string[];
  readonly flag: string;
  readonly value?: { readonly optional: boolean; readonly variadic: boolean };
}

type RowText = [spec: string, help: string, details?: FlagDetails];

function readSpec(spec: string): Pick<FlagRow, 'spec' | 'names' | 'flag' | 'value'> {
  const words = spec.split(/,? +/);
  const names = words.filter((word) => word.startsWith('-'));
  const value = words.find((word) => word.startsWith('<') || word.startsWith('['));
  return {
    spec,
    names,
    flag: names.find((name) => name.startsWith('--')) ?? spec,
    ...(value === undefined ? {} : { value: { optional: value.startsWith('['), variadic: value.includes('...') } }),
  };
}

const rowsOf = (group: FlagGroup) => ({
  config: (key: ConfigFlagKey, kind: FlagKind, [spec, help, details]: RowText): FlagRow => ({
    part: 'config',
    key,
    kind,
    group,
    help,
    ...readSpec(spec),
    ...details,
  }),
  cli: (key: CliFlagKey, kind: FlagKind, [spec, help, details]: RowText): FlagRow => ({
    part: 'cli',
    key,
    kind,
    group,
    help,
    ...readSpec(spec),
    ...details,
  }),
});

const hidden = { hidden: true } as const;
const ignored = { later: 'ignored' } as const;

const run = rowsOf('Run');
const model = rowsOf('Model');
const session = rowsOf('Session');
const tools = rowsOf('Tools and permissions');
const context = rowsOf('Context');
const limits = rowsOf('Limits');
const other = rowsOf('Other');

export const FLAGS: readonly FlagRow[] = [
  run.cli('print', 'boolean', ['-p, --print', 'Answer once and leave; the prompt is the argument, stdin, or both']),
  run.cli('outputFormat', 'choice', [
    '--output-format <format>',
    'text, json (one result), stream-json (one message a line, needs --verbose), terminal',
    { choices: OUTPUT_FORMATS },
  ]),
  run.cli('inputFormat', 'choice', [
    '--input-format <format>',
    'text, or stream-json: messages and control requests, one a line, on stdin',
    { choices: INPUT_FORMATS },
  ]),
  run.config('includePartialMessages', 'boolean', [
    '--include-partial-messages',
    'Also write the pieces of an answer as they come (stream-json)',
  ]),
  run.config('includeHookEvents', 'boolean', ['--include-hook-events', 'Also write what hooks do (stream-json)']),
  run.config('replayUserMessages', 'boolean', [
    '--replay-user-messages',
    'Write user messages from stdin back to stdout (stream-json)',
  ]),
  run.cli('verbose', 'boolean', ['--verbose', 'Every message, not only the result']),

  model.config('model', 'string', [
    '--model <model>',
    'Alias (opus, sonnet, haiku) or full name; "embedded" answers offline',
  ]),
  model.config('fallbackModel', 'string', ['--fallback-model <model>', 'Used when the model is overloaded']),
  model.config('effort', 'choice', ['--effort <level>', 'How hard the model thinks', { choices: EFFORT_LEVELS }]),
  model.config('thinking', 'choice', [
    '--thinking <mode>',
    'Thinking: adaptive, enabled or disabled',
    { ...hidden, choices: ['adaptive', 'enabled', 'disabled'] },
  ]),
  model.config('maxThinkingTokens', 'number', [
    '--max-thinking-tokens <tokens>',
    'Tokens the model may think for',
    hidden,
  ]),
  model.config('betas', 'list', ['--betas <betas...>', 'Beta features to ask the API for', { split: 'comma' }]),

  session.config('continue', 'boolean', ['-c, --continue', 'Go on with the last session of this folder']),
  session.config('resume', 'string', ['-r, --resume [session]', 'Go on with the session of this id or title']),
  session.config('forkSession', 'boolean', [
    '--fork-session',
    'With --continue or --resume: leave that session as it is and go on in a copy',
  ]),
  session.config('sessionId', 'string', ['--session-id <uuid>', 'The id of the new session']),
  session.config('init', 'boolean', ['--init', 'Run the Setup hooks first, to prepare the folder']),
  session.config('maintenance', 'boolean', ['--maintenance', 'Run the Setup hooks first, to maintain the folder']),
  session.config('persistSession', 'boolean', [
    '--no-session-persistence',
    'Keep nothing of this session on the disk',
    { sets: false },
  ]),
  session.config('title', 'string', ['-n, --name <name>', 'A title for the session']),
  session.config('resumeSessionAt', 'string', [
    '--resume-session-at <uuid>',
    'Resume at this message and drop what came after it',
    hidden,
  ]),
  session.config('resumeDropsTurn', 'string', ['--resume-drops-turn <value>', '', hidden]),

  tools.config('tools', 'list', [
    '--tools <tools...>',
    'The tools that exist: names, "default", or "" for none',
    { split: 'rules', emptyCounts: true },
  ]),
  tools.config('allowedTools', 'list', [
    '--allowedTools, --allowed-tools <tools...>',
    'Calls that run unasked, e.g. "Bash(npm test) Edit"',
    { split: 'rules' },
  ]),
  tools.config('disallowedTools', 'list', [
    '--disallowedTools, --disallowed-tools <tools...>',
    'Calls that never run',
    { split: 'rules' },
  ]),
  tools.config('permissionMode', 'choice', [
    '--permission-mode <mode>',
    'What happens to calls no rule decides',
    { choices: PERMISSION_MODES, choiceAliases: { manual: 'default' } },
  ]),
  tools.config('dangerouslySkipPermissions', 'boolean', [
    '--dangerously-skip-permissions',
    'Run every call unasked (same as --permission-mode bypassPermissions). Only in a sandbox',
  ]),
  tools.config('allowDangerouslySkipPermissions', 'boolean', [
    '--allow-dangerously-skip-permissions',
    'Allow switching to bypassPermissions later, without starting in it',
  ]),
  tools.config('permissionPromptTool', 'string', [
    '--permission-prompt-tool <tool>',
    'Who answers permission questions: "stdio", or an MCP tool',
    hidden,
  ]),
  tools.config('permissionPrompts', 'choice', [
    '--permission-prompts <who>',
    'none: ask nobody, deny what would be asked',
    { choices: ['none'] },
  ]),
  tools.config('additionalDirectories', 'list', [
    '--add-dir <directories...>',
    'More folders the tools may use',
    { split: 'whole' },
  ]),
  tools.config('mcpConfig', 'list', [
    '--mcp-config <configs...>',
    'MCP servers: JSON, or files of JSON',
    { split: 'whole' },
  ]),
  tools.config('strictMcpConfig', 'boolean', ['--strict-mcp-config', 'Only the MCP servers of --mcp-config']),

  context.config('systemPrompt', 'string', ['--system-prompt <prompt>', 'Instead of the built-in system prompt']),
  context.config('appendSystemPrompt', 'string', ['--append-system-prompt <prompt>', 'After the system prompt']),
  context.config('excludeDynamicSections', 'boolean', [
    '--exclude-dynamic-system-prompt-sections',
    'Keep what differs between machines out of the system prompt',
  ]),
  context.config('settings', 'string', ['--settings <file-or-json>', 'Settings on top of the settings files']),
  context.config('settingSources', 'list', [
    '--setting-sources <sources>',
    'Which settings files are read: user, project, local; "" for none',
    { split: 'comma', emptyCounts: true, choices: SETTING_SOURCES },
  ]),
  context.config('managedSettings', 'string', ['--managed-settings <json>', '', hidden]),
  context.config('trusted', 'boolean', ['--trusted', 'Let all settings of this project count, without heddle trust']),
  context.config('projectConfigRoot', 'string', ['--project-config-root <folder>', '', { ...hidden, ...ignored }]),
  context.config('agent', 'string', ['--agent <agent>', 'The agent of this session']),
  context.config('agents', 'json', ['--agents <json>', 'Agents, as JSON by name']),
  context.config('pluginDirs', 'list', [
    '--plugin-dir <path>',
    'A folder with a plugin; repeatable',
    { split: 'whole' },
  ]),
  context.cli('pluginUrls', 'list', ['--plugin-url <url>', '', { split: 'whole', ...hidden, ...ignored }]),
  context.config('jsonSchema', 'json', ['--json-schema <schema>', 'The answer must match this JSON Schema']),
  context.config('disableSlashCommands', 'boolean', ['--disable-slash-commands', 'No skills or slash commands']),
  context.cli('bare', 'boolean', ['--bare', 'Read no settings files; only what the flags say counts']),
  context.cli('systemPromptSnapshot', 'string', ['--system-prompt-snapshot [value]', '', { ...hidden, ...ignored }]),

  limits.config('maxTurns', 'number', ['--max-turns <turns>', 'Stop after so many turns; 0 for no limit']),
  limits.config('maxTotalTurns', 'number', ['--max-total-turns <turns>', 'Turns of the session and its agents']),
  limits.config('maxSeconds', 'number', ['--max-seconds <seconds>', 'Stop after so long', { fraction: true }]),
  limits.config('maxQuestionSeconds', 'number', [
    '--max-question-seconds <seconds>',
    'Deny a call when nobody answers for so long',
    { fraction: true },
  ]),
  limits.config('maxBudgetUsd', 'number', [
    '--max-budget-usd <amount>',
    'Stop before costing more',
    { fraction: true },
  ]),
  limits.config('taskBudget', 'number', ['--task-budget <tokens>', 'Tokens of the session and its agents']),
  limits.cli('autocompact', 'string', ['--autocompact [value]', '', { ...hidden, ...ignored }]),

  other.config('debug', 'string', ['-d, --debug [topics]', 'Say on stderr what happens inside']),
  other.config('debugFile', 'string', ['--debug-file <path>', 'The same, into a file']),
  other.cli('mcpDebug', 'boolean', ['--mcp-debug', 'The old name of --debug', hidden]),
  other.cli('axScreenReader', 'boolean', [
    '--ax-screen-reader',
    'Plain output for screen readers: no colours, no marks',
  ]),
  other.config('forwardSubagentText', 'boolean', ['--forward-subagent-text', '', hidden]),
  other.cli('promptSuggestions', 'string', ['--prompt-suggestions [value]', '', { ...hidden, ...ignored }]),
  other.cli('awaitInitialize', 'boolean', ['--await-initialize', '', hidden]),
  other.cli('background', 'boolean', ['--bg, --background', '', { ...hidden, ...ignored }]),
  other.cli('brief', 'boolean', ['--brief', '', { ...hidden, ...ignored }]),
  other.cli('files', 'list', ['--file <specs...>', '', { split: 'whole', ...hidden, ...ignored }]),
  other.cli('worktree', 'string', ['-w, --worktree [name]', '', { ...hidden, ...ignored }]),
  other.cli('tmux', 'string', ['--tmux [layout]', '', { ...hidden, ...ignored }]),
  other.cli('restricted', 'boolean', ['--restricted', '', { ...hidden, later: 'refused' }]),
  other.cli('safeMode', 'boolean', ['--safe-mode', '', { ...hidden, later: 'refused' }]),
  other.cli('version', 'boolean', ['-v, --version', 'The version']),
  other.cli('help', 'boolean', ['-h, --help', 'This text']),
];
