import { join } from 'node:path/posix';
import { readFlags } from '../command-flags.js';
import { isFree } from '../shell/hole.js';
import type { GitSpec } from './git-table.js';

/** A git command, taken apart. Options in front of the subcommand do not hide it. */
export interface GitCall {
  subcommand: string | undefined;
  /** What follows the subcommand. */
  args: readonly string[];
  /** The folders of `-C`, in order. */
  folders: readonly string[];
  /** `key=value` of each `-c`. */
  configs: readonly string[];
  /** Other options in front of the subcommand. */
  options: readonly string[];
  /** The folders of `--work-tree` and `--git-dir`, as they are written. */
  trees: readonly string[];
  /** Where the subcommand stands among the arguments. */
  at: number;
}

const WITH_VALUE = new Set([
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--super-prefix',
  '--config-env',
  '--exec-path',
  '--attr-source',
]);

/** Takes the arguments of git apart. */
export function readGit(args: readonly string[]): GitCall {
  const folders: string[] = [];
  const configs: string[] = [];
  const options: string[] = [];
  const trees: string[] = [];
  let at = 0;
  for (; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (!arg.startsWith('-')) break;
    if (arg === '-C' || arg === '-c') {
      at += 1;
      (arg === '-C' ? folders : configs).push(args[at] ?? '');
    } else {
      options.push(arg);
      if (WITH_VALUE.has(arg)) at += 1;
      const [, name, attached] = TREE.exec(arg) ?? [];
      if (name !== undefined) trees.push(toTree(attached ?? args[at] ?? '', name === 'git-dir'));
    }
  }
  return { subcommand: args[at], args: args.slice(at + 1), folders, configs, options, trees, at };
}

const TREE = /^--(work-tree|git-dir)(?:=([^]*))?$/;

/** The folder that is written below; that of a repository is the one which its `.git` lies in. */
export const toTree = (value: string, isRepository: boolean): string =>
  isRepository ? value.replace(/(?:^|(?<=[^/])\/+)\.git\/*$/, '') || '.' : value;

/** Written out it is the current folder. */
export const isHere = (folder: string): boolean => /^\.(?:\/+\.)*\/*$/.test(folder);

/** Each folder of `-C` starts from the one before it. */
export const under = (folders: readonly string[], path: string): string =>
  [...folders, path].reduce((from, to) => (to.startsWith('/') ? to : join(from, to)), '.');

/** Settings that change how something looks, and nothing that runs. */
const HARMLESS_CONFIG =
  /^(?:color\.[\w.-]+|column\.\w+|advice\.\w+|core\.(?:quotepath|abbrev|autocrlf|whitespace|commentchar)|diff\.(?:renames|renamelimit|context|noprefix|mnemonicprefix|algorithm|colormoved|interhunkcontext)|log\.(?:date|decorate|abbrevcommit|follow|showroot)|status\.\w+|user\.(?:name|email)|author\.\w+|committer\.\w+|init\.defaultbranch|commit\.gpgsign|tag\.gpgsign|pull\.(?:rebase|ff)|merge\.(?:ff|conflictstyle)|rebase\.autostash|gc\.auto|fetch\.prune|push\.(?:default|autosetupremote))=/i;

export const isHarmlessConfig = (config: string): boolean =>
  HARMLESS_CONFIG.test(config) || /^core\.pager=(?:cat)?$/i.test(config) || /^pager\.\w+=false$/i.test(config);

/** Options in front of the subcommand that only take something away. */
export const isQuietOption = (option: string): boolean =>
  option === '--no-pager' || option === '-P' || option === '--no-optional-locks';

export interface GitUse {
  paths: readonly string[];
  needsTrust: boolean;
  /** It opens none of them. */
  onlyNames: boolean;
}

/** What a git command reads when it is known to change nothing. */
export function judgeGit(args: readonly string[], table: Readonly<Record<string, GitSpec>>): GitUse | undefined {
  const call = readGit(args);
  if (call.options.length === 1 && call.options[0] === '--version' && args.length === 1)
    return { paths: [], needsTrust: false, onlyNames: true };
  const isPlain = call.options.every(isQuietOption);
  if (!isPlain || !call.configs.every(isHarmlessConfig)) return undefined;
  const { subcommand } = call;
  if (subcommand === undefined || !Object.hasOwn(table, subcommand)) return undefined;
  const spec = table[subcommand] as GitSpec;
  const read = readFlags(call.args, spec);
  if (read === undefined || spec.accept?.(read) === false) return undefined;
  const formats = [...(read.flags.get('format') ?? []), ...(read.flags.get('pretty') ?? [])];
  if (formats.some(asksForSignature)) return undefined;
  if (call.args.some((arg) => arg.includes('::'))) return undefined;
  // Any word may be a path, and a path outside the repository is read as a plain file.
  const given = call.args.filter((arg) => arg !== '' && !arg.startsWith('-'));
  const starts = (path: string): string[] => (call.folders.length === 0 ? [path] : [path, under(call.folders, path)]);
  const words = given.flatMap(starts);
  const inCommits = words.flatMap((word) => pathInCommit(word) ?? []);
  const ofRanges = (read.flags.get('L') ?? []).flatMap(
    (range) => /:([^:]+)$/.exec(range)?.slice(1).flatMap(starts) ?? [],
  );
  return {
    paths: ['.', under(call.folders, '.'), ...call.folders, ...words, ...inCommits, ...ofRanges, ...read.operands],
    needsTrust: spec.needsTrust === true || call.folders.length > 0,
    onlyNames: spec.onlyNames === true,
  };
}

/** `HEAD:a`, `:0:a`: what stands behind the first colon that is in no braces. */
export function pathInCommit(word: string): string | undefined {
  const staged = /^:(?:[0-3]:)?(?![/(!^])([^]+)$/.exec(word)?.[1];
  if (word.startsWith(':')) return staged;
  let depth = 0;
  for (let at = 0; at < word.length; at += 1) {
    const char = word.charAt(at);
    if (char === '{') depth += 1;
    else if (depth > 0 && char === '}') depth -= 1;
    else if (depth === 0 && char === ':') return word.slice(at + 1) || undefined;
  }
  return undefined;
}

/** These placeholders run the configured signature program. */
const asksForSignature = (format: string): boolean => /%[-+ ]?G|signature/i.test(format) || isFree(format);
