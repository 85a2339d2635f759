import { type FlagSpec, type ReadFlags, readFlags } from './command-flags.js';

interface GitSpec extends FlagSpec {
  accept?(read: ReadFlags): boolean;
}

const hasNoOperand = ({ operands }: ReadFlags): boolean => operands.length === 0;

/**
 * Only what tells about names. Whatever looks at the working tree or at contents (status, diff, log, show, grep, blame)
 * runs programs that the config of the repository names: fsmonitor, filters, textconv, external diffs, signatures.
 */
const SUBCOMMANDS: Readonly<Record<string, GitSpec>> = {
  branch: {
    short: 'ariqv',
    long:
      'all remotes list show-current verbose contains= no-contains= merged= no-merged= points-at= sort= format= ' +
      'ignore-case column[=] no-column color[=] no-color abbrev[=] no-abbrev',
    // Without `--list` an operand is a branch to make.
    accept: (read) => hasNoOperand(read) || read.flags.has('list'),
  },
  tag: {
    short: 'il',
    shortOptional: 'n',
    long: 'list contains= no-contains= merged= no-merged= points-at= sort= format= ignore-case column[=] color[=]',
    accept: (read) => hasNoOperand(read) || read.flags.has('list') || read.flags.has('l'),
  },
  remote: {
    short: 'v',
    long: 'verbose all push',
    // `show` asks the server; everything else but `get-url` changes the config.
    accept: ({ operands }) => operands.length === 0 || operands[0] === 'get-url',
  },
  'rev-parse': {
    short: 'q',
    long:
      'abbrev-ref[=] absolute-git-dir all branches[=] git-common-dir git-dir is-bare-repository ' +
      'is-inside-git-dir is-inside-work-tree quiet remotes[=] short[=] show-cdup show-prefix show-toplevel symbolic ' +
      'symbolic-full-name tags[=] verify',
  },
};

/** The paths a git command may read when it is known to change nothing. */
export function judgeGit(args: readonly string[]): readonly string[] | undefined {
  // Flags before the subcommand set config, directory or pager; only these two take something away.
  const at = args.findIndex((arg) => arg !== '--no-pager' && arg !== '--no-optional-locks');
  const name = args[at];
  if (at === -1 || name === undefined || !Object.hasOwn(SUBCOMMANDS, name)) return undefined;
  const rest = args.slice(at + 1);
  const spec = SUBCOMMANDS[name];
  const read = spec && readFlags(rest, spec);
  if (spec === undefined || read === undefined || spec.accept?.(read) === false) return undefined;
  const formats = [...(read.flags.get('format') ?? []), ...(read.flags.get('pretty') ?? [])];
  if (formats.some(asksForSignature)) return undefined;
  // Any word may be a path, and a path outside the repository is read as a plain file.
  return ['.', ...rest.filter((arg) => arg !== '' && !arg.startsWith('-')), ...read.operands];
}

/** These placeholders run the configured signature program. */
const asksForSignature = (format: string): boolean => /%[-+ ]?G|signature/i.test(format);
