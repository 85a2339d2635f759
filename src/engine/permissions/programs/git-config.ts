import { isHarmlessConfig } from './git.js';

const READS = /^(?:-l|--(?:get|get-all|get-regexp|get-urlmatch|get-color|get-colorbool|list))$/;
const CHANGES = /^(?:-e|--(?:e|u|remove-s|rename-s|ad|replace))/;
const WITH_VALUE = new Set(['--type', '--default', '--value', '--comment', '--url', '--blob', '-f', '--file']);
const VERBS = new Set(['set', 'unset', 'remove-section', 'rename-section', 'edit']);

/** The file that `git config` changes, unless it only reads, or sets what changes nothing that runs. */
export function changedByGit(args: readonly string[]): string[] {
  const operands = args.filter((arg, at) => !arg.startsWith('-') && !WITH_VALUE.has(args[at - 1] ?? ''));
  const [verb = ''] = operands;
  if (args.some((arg) => READS.test(arg)) || verb === 'get' || verb === 'list') return [];
  const isVerb = VERBS.has(verb);
  const [key = '', value = ''] = isVerb ? operands.slice(1) : operands;
  if (!isVerb && value === '' && !args.some((arg) => CHANGES.test(arg))) return [];
  if (isHarmlessConfig(`${key}=${value}`)) return [];
  if (args.some((arg) => /^(?:-f|--fi)/.test(arg))) return [];
  if (args.some((arg) => arg.startsWith('--gl'))) return ['~/.gitconfig'];
  return [args.some((arg) => arg.startsWith('--sy')) ? '/etc/gitconfig' : '.git/config'];
}

/** A template brings hooks with it. */
export const hooksOfTemplate = (args: readonly string[]): string[] =>
  args.some((arg) => arg.startsWith('--te')) ? ['.git/hooks'] : [];
