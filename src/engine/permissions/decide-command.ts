import { placesOf } from './command.js';
import { type Cover, type CoverContext, coversOf } from './cover-command.js';
import { findHit, type Hit } from './judge-command.js';
import { type LineContext, toLineContext } from './line-context.js';
import { isProtected } from './path.js';
import type { PermissionCall, PermissionPolicy } from './policy.js';
import { findCatastrophe } from './programs/catastrophe.js';
import type { CompiledRule } from './rules/rule-index.js';
import { HOLE, showHoles } from './shell/hole.js';
import type { CommandReading, Segment } from './shell/reading.js';

/** A shell line, read once for all that is asked about it. */
export interface JudgedLine extends LineContext {
  /** The rule that denies it, or may. */
  denied(): Hit | undefined;
  /** Whether every part of it is covered, and by what. */
  outcome(): LineOutcome;
  /** The same with rules that allow commands put aside. */
  harmless(): LineOutcome;
}

export function judgeLine(command: string, call: PermissionCall, policy: PermissionPolicy): JudgedLine {
  const line = toLineContext(command, call.accesses, policy);
  return {
    ...line,
    denied: once(() => findHit(policy.book.deny, line)),
    outcome: once(() => coverLine(line, { rulesAside: false })),
    harmless: once(() => coverLine(line, { rulesAside: true })),
  };
}

/** Found out when it is first asked for. */
function once<T>(find: () => T): () => T {
  let found: { value: T } | undefined;
  return () => {
    found ??= { value: find() };
    return found.value;
  };
}

/** What a line was taken to run, for people. */
export const showSegments = ({ segments }: CommandReading): string[] => [
  ...new Set(
    segments
      .filter(({ role }) => role !== 'wrapper')
      .map(({ words }) => showHoles(words.map(({ value }) => value).join(' '))),
  ),
];

/** Why a line is asked about in every mode: what it would destroy, or the file by which it would change what is asked. */
export function guardLine(line: JudgedLine): { reason: string; path?: string } | undefined {
  const { policy, reading } = line;
  const catastrophe = findCatastrophe(reading, policy);
  if (catastrophe !== undefined) return { reason: `${catastrophe}, so it needs approval` };
  const path = protectedWrite(line);
  return path === undefined
    ? undefined
    : { reason: `${path} decides what may run, so changing it needs approval`, path };
}

function protectedWrite({ touched, places }: JudgedLine): string | undefined {
  for (const { touch, folders } of touched()) {
    const { path, access } = touch;
    // Inside of a program it may be what is written.
    const isWritten =
      access === 'write' ||
      ((access === 'text' || access === 'mention') && path.includes('/') && touch.isInText === true);
    if (!isWritten) continue;
    const forms = [path.replace(/^~(?=\/|$)/, ''), ...placesOf(path, folders)];
    const found = forms
      .flatMap((form) => [form, places.get(form) ?? form])
      .find((form) => isProtected(form) || mayBeProtected(form));
    if (found !== undefined) return showHoles(found);
  }
  return undefined;
}

/** `.claude/set*` and `.bash?c`. */
const mayBeProtected = (path: string): boolean =>
  (path.includes(HOLE.star) || path.includes(HOLE.one)) && /\/\.[a-z]{2,}[^/]*$|^\.[a-z]{2,}[^/]*$/.test(path);

export interface LineOutcome {
  /** The first thing that nothing covers; undefined when the line may run. */
  refusal?: Extract<Cover, { isCovered: false }>;
  rule?: CompiledRule;
  /** It changes files, which the mode accepts. */
  edits: boolean;
  /** It is allowed without any rule. */
  isReadOnly: boolean;
  /** The commands that nothing covers; undefined when something else is the trouble. */
  open?: readonly Segment[];
}

function coverLine(line: LineContext, { rulesAside }: { rulesAside: boolean }): LineOutcome {
  const { policy, reading } = line;
  const { allow, deny, ask } = policy.book;
  const whole = rulesAside ? undefined : allow.tool('Bash');
  const isWatched = [deny, ask].some((rules) => rules.judgesCommands || rules.judgesPaths || rules.broken.length > 0);
  const outcome: LineOutcome = { edits: false, isReadOnly: true };
  const exact = rulesAside ? undefined : allow.exactLine(reading.line);
  const [doubt] = reading.doubts;
  if (doubt !== undefined) {
    return { ...outcome, isReadOnly: false, refusal: { isCovered: false, reason: reasonForDoubt(doubt, reading) } };
  }
  if (exact !== undefined) return { edits: false, isReadOnly: false, rule: exact };
  if (reading.segments.length === 0 && reading.redirections.length === 0 && reading.settings.length === 0) {
    return { ...outcome, isReadOnly: false, refusal: { isCovered: false, reason: 'This command requires approval' } };
  }
  if (reading.hasForeignText && whole === undefined) {
    const reason = "A variable in this command can't be checked before it runs";
    return { ...outcome, isReadOnly: false, refusal: { isCovered: false, reason } };
  }
  const context: CoverContext = { ...line, whole, isWatched, rulesAside };
  const open: Segment[] = [];
  let isOther = false;
  for (const { cover, segment } of coversOf(context)) {
    if (!cover.isCovered) {
      outcome.refusal ??= cover;
      outcome.isReadOnly = false;
      if (segment === undefined) isOther = true;
      else open.push(segment);
      continue;
    }
    if (cover.rule !== undefined) outcome.rule ??= cover.rule;
    if (cover.rule !== undefined || cover.edits === true) outcome.isReadOnly = false;
    if (cover.edits === true) outcome.edits = true;
  }
  return isOther ? outcome : { ...outcome, open };
}

/** Names what hides: a variable where there is one. */
function reasonForDoubt(doubt: string, { segments }: CommandReading): string {
  const isVariable = segments.some(({ words }) => words.some(({ value }) => value.includes(HOLE.any)));
  if (isVariable && !/characters|valid bash|long|nested|here-document/.test(doubt)) {
    return `A variable in this command can't be checked before it runs: ${doubt}`;
  }
  return `This command can't be checked before it runs: ${doubt}`;
}
