import { showCommand } from './show.js';
import { APPROVAL, type Cover, type CoverContext, coversOf } from './cover-command.js';
import { findHidden } from './hidden.js';
import { findHit, type Hit } from './judge-command.js';
import { type LineContext, toLineContext } from './line-context.js';
import type { PermissionCall, PermissionPolicy } from './policy.js';
import { findCatastrophe } from './programs/catastrophe.js';
import { findProtectedWrite } from './protected-write.js';
import type { CompiledRule } from './rules/rule-index.js';
import { toAbsence } from './seen.js';
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
  /** Why not all that it runs can be held against rules. */
  hidden(): string | undefined;
}

export function judgeLine(command: string, call: PermissionCall, policy: PermissionPolicy): JudgedLine {
  const line = toLineContext(command, call.accesses, policy, call.seen && toAbsence(call.seen));
  const known = { knowsLinks: call.knowsLinks === true };
  return {
    ...line,
    denied: once(() => findHit(policy.book.deny, line)),
    outcome: once(() => coverLine(line, { ...known, rulesAside: false })),
    harmless: once(() => coverLine(line, { ...known, rulesAside: true })),
    hidden: once(() => findHidden(line, { atGate: false })),
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

const MAX_SEGMENTS = 100;
const MAX_SHOWN = 10_000;

/** What a line was taken to run, for people: of very much of it the beginning, and how much more there is. */
export function showSegments({ segments }: CommandReading): string[] {
  const shown = new Set<string>();
  let room = MAX_SHOWN;
  for (const [at, { role, words }] of segments.entries()) {
    if (role === 'wrapper') continue;
    const cut = showCommand(showHoles(words.map(({ value }) => value).join(' ')));
    if (shown.has(cut)) continue;
    if (shown.size >= MAX_SEGMENTS || cut.length > room) return [...shown, `\u2026 (${segments.length - at} more)`];
    shown.add(cut);
    room -= cut.length;
  }
  return [...shown];
}

/** Why a line is asked about in every mode: what it would destroy, or the file by which it would change what is asked. */
export function guardLine(line: JudgedLine): { reason: string; path?: string } | undefined {
  const { policy, reading } = line;
  const catastrophe = findCatastrophe(reading, policy);
  if (catastrophe !== undefined) return { reason: `${catastrophe}, so it needs approval` };
  const path = findProtectedWrite(line);
  return path === undefined
    ? undefined
    : { reason: `${path} decides what may run, so changing it needs approval`, path };
}

export interface LineOutcome {
  /** The first thing that nothing covers; undefined when the line may run. */
  refusal?: Refusal;
  rule?: CompiledRule;
  /** It changes files, which the mode accepts. */
  edits: boolean;
  /** It is allowed without any rule. */
  isReadOnly: boolean;
  /** The commands that nothing covers; undefined when something else is the trouble. */
  open?: readonly Segment[];
  /** The commands that may run without a rule that names them. */
  unnamed?: readonly Segment[];
}

function coverLine(
  line: LineContext,
  { rulesAside, knowsLinks }: Pick<CoverContext, 'rulesAside' | 'knowsLinks'>,
): LineOutcome {
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
  const isEmpty = reading.segments.length === 0 && reading.redirections.length === 0 && reading.settings.length === 0;
  if (isEmpty && !reading.tests) {
    return { ...outcome, isReadOnly: false, refusal: { isCovered: false, reason: APPROVAL } };
  }
  if (reading.hasForeignText && whole === undefined) {
    const reason = "A variable in this command can't be checked before it runs";
    return { ...outcome, isReadOnly: false, refusal: { isCovered: false, reason } };
  }
  const context: CoverContext = { ...line, whole, isWatched, rulesAside, knowsLinks };
  const open: Segment[] = [];
  const unnamed: Segment[] = [];
  let isOther = false;
  for (const { cover, segment } of coversOf(context)) {
    if (!cover.isCovered) {
      outcome.refusal ??= naming(cover, segment, reading);
      outcome.isReadOnly = false;
      if (segment === undefined) isOther = true;
      else open.push(segment);
      continue;
    }
    if (cover.rule !== undefined) outcome.rule ??= cover.rule;
    else if (segment !== undefined) unnamed.push(segment);
    if (cover.rule !== undefined || cover.edits === true) outcome.isReadOnly = false;
    if (cover.edits === true) outcome.edits = true;
  }
  return isOther ? { ...outcome, unnamed } : { ...outcome, unnamed, open };
}

type Refusal = Extract<Cover, { isCovered: false }>;

/** Of several commands, says which one nothing covers. */
function naming(refusal: Refusal, segment: Segment | undefined, { segments }: CommandReading): Refusal {
  const isAlone = segments.filter(({ role }) => role === 'run').length < 2;
  if (segment === undefined || isAlone || refusal.reason !== APPROVAL) return refusal;
  return {
    ...refusal,
    reason: `${APPROVAL}: ${showCommand(showHoles(segment.words.map(({ value }) => value).join(' ')))}`,
  };
}

/** Names what hides: a variable where there is one. */
function reasonForDoubt(doubt: string, { segments }: CommandReading): string {
  const isVariable = segments.some(({ words }) => words.some(({ value }) => value.includes(HOLE.any)));
  if (isVariable && !/characters|valid bash|long|nested|here-document/.test(doubt)) {
    return `A variable in this command can't be checked before it runs: ${doubt}`;
  }
  return `This command can't be checked before it runs: ${doubt}`;
}
