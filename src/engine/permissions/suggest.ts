import { dirname } from 'node:path';
import type { PermissionMode, PermissionUpdate } from '../../protocol/index.js';
import { isTextOfFlag } from './cover-command.js';
import { isProtected } from './path.js';
import { isHarmlessVariable } from './programs/variables.js';
import { splitWords } from './rules/command-pattern.js';
import type { CommandReading, Segment } from './shell/reading.js';
import { isLiteralWord, type ShellWord } from './shell/word.js';

/** What an approval may add so that the like is not asked again. Always the narrowest thing that helps. */

type RuleValue = { toolName: string; ruleContent?: string };

const allowRules = (rules: RuleValue[], destination: 'session' | 'localSettings'): PermissionUpdate => ({
  type: 'addRules',
  rules,
  behavior: 'allow',
  destination,
});

/** Reading the folder of the path, for this session. */
export function suggestForRead(tool: string, path: string | undefined): PermissionUpdate[] {
  if (path === undefined) return [];
  // Read names a file; the others name the folder they look into.
  const folder = tool === 'Read' ? dirname(path) : path;
  const canBeSaid = folder.startsWith('/') && folder !== '/' && !/[*?[\]{}!\\()]/.test(folder);
  return canBeSaid ? [allowRules([{ toolName: 'Read', ruleContent: `/${folder}/**` }], 'session')] : [];
}

export interface EditPlace {
  mode: PermissionMode;
  path: string;
  /** The folder itself must be opened as well. */
  addsDirectory: boolean;
}

/** Accepting edits for this session; nothing where that would not help. */
export function suggestForEdit({ mode, path, addsDirectory }: EditPlace): PermissionUpdate[] {
  if (isProtected(path)) return [];
  const directories = [dirname(path)].filter((directory) => directory !== '/');
  const isUseless = addsDirectory && directories.length === 0;
  if (isUseless) return [];
  return [
    ...(addsDirectory ? [{ type: 'addDirectories' as const, directories, destination: 'session' as const }] : []),
    ...(mode === 'acceptEdits'
      ? []
      : [{ type: 'setMode' as const, mode: 'acceptEdits' as const, destination: 'session' as const }]),
  ];
}

/** Commands whose arguments are others each time, and that do no more harm with one than with another. */
const VARYING = new Set(
  (
    'git add|git commit|git checkout|git switch|git stash push|git stash show|git fetch|git pull|git merge|npm test|npm ci|pnpm test|' +
    'yarn test|bun test|cargo build|cargo test|cargo check|cargo clippy|cargo fmt|go test|go build|go vet|dotnet test|dotnet build|' +
    'gh pr view|gh pr list|gh pr diff|gh pr checks|gh pr status|gh pr create|gh issue view|gh issue list|gh run view|gh run list|' +
    'gh run watch|docker compose ps|docker compose logs|docker compose up|docker compose build|uv sync'
  ).split('|'),
);
const RUNNERS = /^(?:npm|pnpm|yarn|bun) run$/;
const MAX_RULES = 5;

/**
 * The commands of a line that nothing covers yet, each as a rule of its own. None where a rule's text would say less than
 * what runs, or more than was asked.
 */
export function suggestForCommand({ line, doubts }: CommandReading, open?: readonly Segment[]): PermissionUpdate[] {
  if (doubts.length > 0 || open === undefined || line.trim() !== line) return [];
  if (!open.every(isExpressible)) return [];
  const [only] = open;
  const isWrapped = open.some(({ outer }) => outer !== undefined);
  // Of several lines only what a rule says by its beginning: a message may well have more than one.
  if (line.includes('\n') && (isWrapped || !open.every((segment) => beginningOf(segment) !== undefined))) return [];
  if (isWrapped && only !== undefined) return isText(line) ? [exactly([line])] : [];
  const texts = [...new Set(open.map(toRule))];
  return texts.length > 0 && texts.length <= MAX_RULES ? [exactly(texts)] : [];
}

const exactly = (texts: readonly string[]): PermissionUpdate =>
  allowRules(
    texts.map((ruleContent) => ({ toolName: 'Bash', ruleContent })),
    'localSettings',
  );

/** A star in it would be read as a pattern. */
const isText = (line: string): boolean => !line.includes('*');

function isExpressible(segment: Segment): boolean {
  const { words, assignments } = segment;
  const isPlain = (word: ShellWord): boolean => isLiteralWord(word) && !/[\n*\\]/.test(word.value);
  const isMessage = (at: number): boolean => isTextOfFlag(words, at) && beginningOf(segment) !== undefined;
  return assignments.every(isHarmlessVariable) && words.every((word, at) => isPlain(word) || isMessage(at));
}

/** The words by which it is told from others, where those that follow are others each time. */
function beginningOf({ words }: Segment): string | undefined {
  const values = words.map(({ value }) => value);
  const [two = '', three = ''] = [2, 3].map((count) => values.slice(0, count).join(' '));
  if (RUNNERS.test(two) && values[2] !== undefined && !values[2].startsWith('-')) return three;
  return [three, two].find((beginning) => VARYING.has(beginning));
}

function toRule(segment: Segment): string {
  const beginning = beginningOf(segment);
  return beginning === undefined ? segment.words.map(({ value }) => quote(value)).join(' ') : `${beginning}:*`;
}

/** As it is where that is read back as the same word. */
function quote(value: string): string {
  const isPlain = value !== '' && !/[;|&<>()$`"'#~\s]/.test(value) && splitWords(value)[0] === value;
  return isPlain ? value : `'${value.replaceAll("'", `'"'"'`)}'`;
}

/** The tool of a server as a whole. For a built-in tool that would be far more than what was asked. */
export function suggestForTool(tool: string): PermissionUpdate[] {
  return /^mcp__[^?]/.test(tool) ? [allowRules([{ toolName: tool }], 'localSettings')] : [];
}

/** The host alone. */
export function suggestForWeb(host: string): PermissionUpdate[] {
  return /^[a-z0-9.-]+$/.test(host)
    ? [allowRules([{ toolName: 'WebFetch', ruleContent: `domain:${host}` }], 'localSettings')]
    : [];
}
