/** What is wrong with a rule as it was written. What it matches is for the rules to say; here it is put on a line of a file. */
import type { PermissionBehavior } from '../../protocol/index.js';
import { TOOL_SCHEMAS } from '../../protocol/plain.js';
import type { WrittenRule } from '../permissions/layers.js';
import { compileRules } from '../permissions/rules/book.js';
import { isKnownTool, PARTS, parseWritten } from '../permissions/rules/written.js';
import { didYouMean, findNearName } from './near-name.js';

export interface RuleFault {
  severity: 'error' | 'warning';
  text: string;
  /** It can be read, and no call will ever match it. */
  isIdle?: boolean;
}

const STRICTNESS: readonly unknown[] = ['allow', 'ask', 'deny'];

/**
 * Undefined: nothing is wrong. Half a rule is an error anywhere; one that can never match is where it should restrict.
 * Names of tools that nobody here knows are a warning, for hosts have tools of their own; not so a name that restricts
 * and was only misspelled. `tools` are names beside the built-in ones.
 */
export function findRuleFault(
  rule: unknown,
  behavior: PermissionBehavior,
  tools: readonly string[] = [],
): RuleFault | undefined {
  if (!isWritten(rule)) return undefined;
  const fault = findWritingFault(rule, behavior, tools);
  if (fault !== undefined) return fault;
  const [first] = compileRules([{ ...PLACE, [behavior]: [rule] }], { home: '/', tools }).problems;
  if (first === undefined) return undefined;
  const text = `${JSON.stringify(first.rule)} can never match: ${first.problem}`;
  return { severity: behavior === 'allow' ? 'warning' : 'error', text, isIdle: true };
}

/** The faults of a list by index. Lists are long and mostly fine: they are compiled at once before each rule is. */
export function findListFaults(
  rules: readonly unknown[],
  behavior: PermissionBehavior,
  tools: readonly string[] = [],
): Map<number, RuleFault> {
  const written = rules.filter(isWritten);
  const isFine =
    written.every((rule) => findWritingFault(rule, behavior, tools) === undefined) &&
    compileRules([{ ...PLACE, [behavior]: written }], { home: '/', tools }).problems.length === 0;
  if (isFine) return new Map();
  return new Map(
    rules.flatMap((rule, index): [number, RuleFault][] => {
      const fault = findRuleFault(rule, behavior, tools);
      return fault === undefined ? [] : [[index, fault]];
    }),
  );
}

/** Where a rule starts from does not decide whether it can be read. */
const PLACE = { name: 'user', base: '/' } as const;

function findWritingFault(
  rule: WrittenRule,
  behavior: PermissionBehavior,
  tools: readonly string[],
): RuleFault | undefined {
  if (typeof rule === 'object') {
    const { tool, behavior: own = behavior } = rule;
    if (tool === undefined || tool.trim() === '') {
      return error('the rule has no "tool"; write its name, or "*" for any');
    }
    if (STRICTNESS.indexOf(own) < STRICTNESS.indexOf(behavior)) {
      return error(`the rule says ${JSON.stringify(own)} and stands under "${behavior}"; only one can be meant`);
    }
  }
  for (const { text, tool, problem } of parseWritten(rule)) {
    if (problem !== undefined) return error(`${JSON.stringify(text)}: ${problem}`);
    if (/[\s(){}"]/.test(tool)) return error(`${JSON.stringify(tool)} is no name of a tool`);
    if (tool.includes('*') || isKnownTool(tool, tools)) continue;
    const near = findNearName(tool, [...Object.keys(TOOL_SCHEMAS), ...tools]);
    const isMisspelled = behavior !== 'allow' && near !== undefined && near.distance <= 1;
    const said = `${JSON.stringify(tool)} names no tool${didYouMean(near)}`;
    return { severity: isMisspelled ? 'error' : 'warning', text: said };
  }
  return undefined;
}

/** Objects whose parts have the right types; others are told by the schema. */
const isWritten = (rule: unknown): rule is WrittenRule =>
  typeof rule === 'string' ||
  (typeof rule === 'object' &&
    rule !== null &&
    !Array.isArray(rule) &&
    Object.entries(rule).every(([name, part]) => typeof part === 'string' || !PARTS.has(name)));

const error = (text: string): RuleFault => ({ severity: 'error', text });
