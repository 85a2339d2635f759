import { isHarmlessConfig } from './git.js';

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const READS = words('-l --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool --list');
const CHANGES = words('-e --edit --add --replace-all --unset --unset-all --rename-section --remove-section');
const WITH_VALUE = words('--type --default --value --comment --url --blob -f --file');
const ALONE = words(
  '--global --system --local --worktree --bool --int --bool-or-int --path --expiry-date --name-only --show-origin ' +
    '--show-scope --includes --no-includes --fixed-value --all --append --regexp --no-type --null --show-names -z',
);
const VERBS = words('set unset remove-section rename-section edit');

/** What `git config` is told to do. */
interface ConfigCall {
  /** It reads, changes, or it is not certain: git knows any beginning of a flag. */
  kind: 'reads' | 'changes' | 'unclear';
  key: string;
  value: string;
}

export function readConfig(args: readonly string[]): ConfigCall {
  const operands: string[] = [];
  let reads = false;
  let changes = false;
  let unclear = false;
  let isOver = false;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (isOver || !arg.startsWith('-')) operands.push(arg);
    else if (arg === '--') isOver = true;
    else if (WITH_VALUE.has(arg)) at += 1;
    else if (READS.has(arg)) reads = true;
    else if (CHANGES.has(arg)) changes = true;
    else if (!ALONE.has(arg) && !/^--(?:type|default|value|comment|url|blob|file)=|^-f./.test(arg)) unclear = true;
  }
  const [verb = ''] = operands;
  const isVerb = VERBS.has(verb);
  const [key = '', value = ''] = isVerb ? operands.slice(1) : operands;
  if (unclear) return { kind: 'unclear', key, value };
  const looks = reads || verb === 'get' || verb === 'list' || (!isVerb && !changes && operands.length < 2);
  return { kind: looks && !changes ? 'reads' : 'changes', key, value };
}

/** The file that `git config` changes, unless it only reads, or sets what changes nothing that runs. */
export function changedByGit(args: readonly string[]): string[] {
  const { kind, key, value } = readConfig(args);
  if (kind === 'unclear') return ['.git/config', '~/.gitconfig'];
  if (kind === 'reads' || isHarmlessConfig(`${key}=${value}`)) return [];
  if (args.some((arg) => /^(?:-f|--fi)/.test(arg))) return [];
  if (args.includes('--global')) return ['~/.gitconfig'];
  return [args.includes('--system') ? '/etc/gitconfig' : '.git/config'];
}

/** A template brings hooks with it. */
export const hooksOfTemplate = (args: readonly string[]): string[] =>
  args.some((arg) => arg.startsWith('--te')) ? ['.git/hooks'] : [];
