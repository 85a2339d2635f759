import { describe, expect, it } from 'vitest';
import { type HookRun, mergeLate, mergeRuns } from '../../src/engine/hooks/merge.js';
import { failed, type FailureEffect, type HookOutcome } from '../../src/engine/hooks/outcome.js';
import type { SyncHookOutput } from '../../src/protocol/index.js';
import type { HookEvent } from '../../src/protocol/plain.js';

const run = (outcome: HookOutcome, onFailure: FailureEffect = 'ask', source = 'callback'): HookRun => ({
  hookName: 'PreToolUse:Bash',
  source,
  layer: 'callback',
  onFailure,
  outcome,
});
const output = (value: SyncHookOutput): HookRun => run({ kind: 'output', output: value });
const pre = (specific: Record<string, unknown>, rest: SyncHookOutput = {}): HookRun =>
  output({ ...rest, hookSpecificOutput: { hookEventName: 'PreToolUse', ...specific } });
const permission = (decision: Record<string, unknown>): HookRun =>
  output({
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } as SyncHookOutput['hookSpecificOutput'],
  });
const broken = (onFailure: FailureEffect = 'ask'): HookRun =>
  run(failed('timeout', 'it did not answer within 1 s'), onFailure);
const cancelled = run({ kind: 'cancelled' });
const exit2 = (reason: string, source = 'check.sh'): HookRun =>
  run({ kind: 'block', reason, byExit: true }, 'ask', source);

const allow = pre({ permissionDecision: 'allow' });
const ask = pre({ permissionDecision: 'ask', permissionDecisionReason: 'hook asks' });
const deny = pre({ permissionDecision: 'deny', permissionDecisionReason: 'hook says no' });

describe('PreToolUse', () => {
  it.each([
    ['nothing', [], undefined],
    ['an allow', [allow], 'allow'],
    ['ask over allow', [allow, ask], 'ask'],
    ['deny over all, in any order', [allow, deny, ask], 'deny'],
    ['approve as allow', [output({ decision: 'approve' })], 'allow'],
    ['block as deny', [output({ decision: 'block', reason: 'no' })], 'deny'],
    ['the stricter of two forms', [pre({ permissionDecision: 'allow' }, { decision: 'block' })], 'deny'],
    ['exit 2 as deny', [exit2('no'), allow], 'deny'],
    ['a failure instead of an allow', [allow, broken()], 'ask'],
    ['a failure that is to deny', [allow, broken('deny')], 'deny'],
    ['a failure that may be ignored', [allow, broken('allow')], 'allow'],
    ['a denial in spite of a failure', [broken('allow'), deny], 'deny'],
    ['a failure alone', [broken()], 'ask'],
    ['a cancelled one like a failure', [allow, cancelled], 'ask'],
    ['the end of the turn as deny', [output({ continue: false, stopReason: 'enough' }), allow], 'deny'],
  ] as const)('takes %s', (_, runs, decision) => {
    expect(mergeRuns('PreToolUse', runs).decision).toBe(decision);
  });

  it('says who decided and why', () => {
    expect(mergeRuns('PreToolUse', [allow, deny]).by).toEqual({
      reason: 'hook says no',
      source: 'callback',
      byExit: false,
    });
    expect(mergeRuns('PreToolUse', [exit2('not here')]).by).toEqual({
      reason: 'not here',
      source: 'check.sh',
      byExit: true,
    });
    expect(mergeRuns('PreToolUse', [broken()]).by?.reason).toBe(
      'The PreToolUse:Bash hook (callback) failed: it did not answer within 1 s.',
    );
  });

  it('hands a rewritten input on, but not with a denial', () => {
    const rewrite = pre({ permissionDecision: 'allow', updatedInput: { command: 'echo HOOKED' } });
    expect(mergeRuns('PreToolUse', [rewrite])).toMatchObject({
      decision: 'allow',
      updatedInput: { command: 'echo HOOKED' },
    });
    expect(mergeRuns('PreToolUse', [rewrite, deny]).updatedInput).toBeUndefined();
  });

  it('takes the last of two different rewrites, and says so', () => {
    const [first, last] = ['a', 'b'].map((command) => pre({ permissionDecision: 'allow', updatedInput: { command } }));
    const verdict = mergeRuns('PreToolUse', [first, last] as HookRun[]);
    expect(verdict.updatedInput).toEqual({ command: 'b' });
    expect(verdict.warnings).toEqual(['two hooks rewrote the input in different ways; the last one counts']);
    expect(mergeRuns('PreToolUse', [first, first] as HookRun[]).warnings).toEqual([]);
  });

  it('an allow does not cover what another hook made of the input', () => {
    const rewrite = pre({ updatedInput: { command: 'rm -r .' } });
    const verdict = mergeRuns('PreToolUse', [allow, rewrite]);
    expect(verdict).toMatchObject({ updatedInput: { command: 'rm -r .' } });
    expect(verdict.decision).toBeUndefined();
    expect(mergeRuns('PreToolUse', [ask, rewrite]).decision).toBe('ask');
  });
});

describe('PermissionRequest', () => {
  it.each([
    [
      'the last allow whole',
      [permission({ behavior: 'allow', updatedInput: { a: 1 } })],
      { behavior: 'allow', updatedInput: { a: 1 } },
    ],
    [
      'deny over allow',
      [permission({ behavior: 'allow' }), permission({ behavior: 'deny', message: 'no', interrupt: true })],
      { behavior: 'deny', message: 'no', interrupt: true },
    ],
    ['exit 2', [exit2('no')], { behavior: 'deny', message: 'no' }],
    [
      'the interrupt of any denial',
      [permission({ behavior: 'deny', message: 'no' }), permission({ behavior: 'deny', interrupt: true })],
      { behavior: 'deny', message: 'no', interrupt: true },
    ],
    [
      'block over its own allow',
      [
        output({
          decision: 'block',
          reason: 'no',
          hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } },
        }),
      ],
      { behavior: 'deny', message: 'no' },
    ],
    ['approve', [output({ decision: 'approve' })], { behavior: 'allow' }],
    [
      'the end of the turn',
      [output({ continue: false, stopReason: 'enough' })],
      { behavior: 'deny', message: 'enough', interrupt: true },
    ],
    ['a failure instead of an allow', [permission({ behavior: 'allow' }), broken()], undefined],
    ['a failure that may be ignored', [permission({ behavior: 'allow' }), broken('allow')], { behavior: 'allow' }],
    ['a denial beside a failure', [broken(), permission({ behavior: 'deny' })], { behavior: 'deny' }],
  ] as const)('takes %s', (_, runs, expected) => {
    expect(mergeRuns('PermissionRequest', runs).permission).toEqual(expected);
  });

  it('a failure leaves the question to the person', () => {
    expect(mergeRuns('PermissionRequest', [broken()])).toMatchObject({
      decision: 'ask',
      failures: [{ kind: 'timeout' }],
    });
  });

  it('a failure that is to deny denies', () => {
    expect(mergeRuns('PermissionRequest', [broken('deny')]).permission?.behavior).toBe('deny');
  });

  it('says when two allow in different ways', () => {
    const runs = [permission({ behavior: 'allow', updatedInput: { a: 1 } }), permission({ behavior: 'allow' })];
    const verdict = mergeRuns('PermissionRequest', runs);
    expect(verdict.permission).toEqual({ behavior: 'allow' });
    expect(verdict.warnings).toHaveLength(1);
  });
});

describe('prompts and stops', () => {
  const block = output({ decision: 'block', reason: 'not now' });

  it.each([
    ['UserPromptSubmit', [block], 'not now'],
    ['UserPromptSubmit', [exit2('no'), block], 'no\nnot now'],
    ['UserPromptSubmit', [output({ continue: false, stopReason: 'enough' })], 'enough'],
    ['UserPromptSubmit', [broken()], 'The PreToolUse:Bash hook (callback) failed: it did not answer within 1 s.'],
    ['UserPromptSubmit', [broken('allow')], undefined],
    ['UserPromptSubmit', [cancelled], 'The PreToolUse:Bash hook was cancelled.'],
    ['UserPromptSubmit', [output({ decision: 'approve' })], undefined],
    ['Stop', [block], 'not now'],
    ['Stop', [output({ continue: false }), block], undefined],
    ['Stop', [broken()], 'The PreToolUse:Bash hook (callback) failed: it did not answer within 1 s.'],
    ['Stop', [cancelled], undefined],
    ['PostToolUse', [block], 'not now'],
    ['PostToolUse', [broken()], undefined],
    ['PostToolUse', [broken('deny')], 'The PreToolUse:Bash hook (callback) failed: it did not answer within 1 s.'],
    ['PreCompact', [exit2('keep it')], 'keep it'],
  ] as const)('%s %#', (event, runs, reason) => {
    expect(mergeRuns(event, runs).block?.reason).toBe(reason);
  });

  it('a Stop hook that keeps failing does not keep the turn going for ever', () => {
    expect(mergeRuns('Stop', [broken()], { stopActive: true }).block).toBeUndefined();
    expect(mergeRuns('Stop', [block], { stopActive: true }).block?.reason).toBe('not now');
  });

  it('what cannot be blocked is not, and says so', () => {
    const verdict = mergeRuns('SessionStart', [exit2('no')]);
    expect(verdict.block).toBeUndefined();
    expect(verdict.warnings[0]).toContain('SessionStart cannot be blocked');
  });

  it('names each objection with its source', () => {
    const { block: both } = mergeRuns('PostToolUse', [exit2('one', 'a.sh'), block]);
    expect(both?.all.map(({ source, reason }) => `${source}: ${reason}`)).toEqual(['a.sh: one', 'callback: not now']);
  });
});

describe('what is added up', () => {
  const specific = (event: HookEvent, fields: Record<string, unknown>, rest: SyncHookOutput = {}): HookRun =>
    output({
      ...rest,
      hookSpecificOutput: { hookEventName: event, ...fields } as SyncHookOutput['hookSpecificOutput'],
    });

  it('contexts and messages in declared order', () => {
    const verdict = mergeRuns('UserPromptSubmit', [
      specific('UserPromptSubmit', { additionalContext: 'one' }, { systemMessage: 'hello' }),
      run({ kind: 'context', text: 'two' }),
      specific('UserPromptSubmit', { additionalContext: '  ' }),
    ]);
    expect(verdict.additionalContext).toEqual(['one', 'two']);
    expect(verdict.systemMessages).toEqual(['hello']);
  });

  it('long contexts are cut with a note', () => {
    const [text = ''] = mergeRuns('Stop', [
      specific('Stop', { additionalContext: 'x'.repeat(12_345) }),
    ]).additionalContext;
    expect(text).toBe(`${'x'.repeat(10_000)}\n[2,345 more characters of the hook were cut]`);
  });

  it.each([
    ['SessionStart', 'watchPaths', ['a']],
    ['SessionStart', 'initialUserMessage', 'go'],
    ['SessionStart', 'reloadSkills', true],
    ['UserPromptSubmit', 'sessionTitle', 'a'],
    ['CwdChanged', 'watchPaths', []],
  ] as const)('%s: what nothing takes up, such as %s, is said', (event, field, value) => {
    expect(mergeRuns(event, [specific(event, { [field]: value })]).warnings).toEqual([
      `[callback] its answer has ${field}, which this version does not support`,
    ]);
  });

  it('a replaced output, with a note when there are two', () => {
    const verdict = mergeRuns('PostToolUse', [
      specific('PostToolUse', { updatedMCPToolOutput: null, updatedToolOutput: 'a' }),
      specific('PostToolUse', { updatedToolOutput: 'b' }),
    ]);
    expect(verdict).toMatchObject({ updatedToolOutput: { value: 'b' }, updatedMCPToolOutput: { value: null } });
    expect(verdict.warnings).toEqual(['two hooks replaced the output in different ways; the last one counts']);
  });

  it('a replaced prompt needs a context in its place', () => {
    const replaced = specific('UserPromptSubmit', { suppressOriginalPrompt: true, additionalContext: 'instead' });
    expect(mergeRuns('UserPromptSubmit', [replaced]).suppressOriginalPrompt).toBe(true);
    const empty = mergeRuns('UserPromptSubmit', [specific('UserPromptSubmit', { suppressOriginalPrompt: true })]);
    expect(empty.suppressOriginalPrompt).toBe(false);
    expect(empty.warnings).toHaveLength(1);
  });

  it('retry, and the first reason to stop', () => {
    expect(mergeRuns('PermissionDenied', [specific('PermissionDenied', { retry: true })]).retry).toBe(true);
    const verdict = mergeRuns('PostToolUse', [
      output({}),
      output({ continue: false, stopReason: 'first' }),
      output({ continue: false, stopReason: 'second' }),
    ]);
    expect(verdict).toMatchObject({ stop: { reason: 'first' }, ran: 3, warnings: [] });
  });

  it('a stop where nothing can be stopped is told, each one', () => {
    const verdict = mergeRuns('Notification', [
      output({ continue: false, stopReason: 'x' }),
      output({ continue: false }),
    ]);
    expect(verdict.stop).toBeUndefined();
    expect(verdict.warnings).toEqual([
      expect.stringMatching(/^\[.+\] Notification cannot end the turn: x$/),
      expect.stringMatching(/^\[.+\] Notification cannot end the turn$/),
    ]);
  });

  it('a field that belongs into hookSpecificOutput and stands beside it is told', () => {
    const verdict = mergeRuns('PostToolUse', [output({ additionalContext: 'lost' } as SyncHookOutput)]);
    expect(verdict).toMatchObject({ additionalContext: [] });
    expect(verdict.warnings).toEqual([expect.stringContaining('its answer has additionalContext at the top')]);
  });
});

describe('what comes late', () => {
  it.each([
    ['an objection by exit code', exit2('no'), 'no'],
    ['an objection in an answer', output({ decision: 'block', reason: 'no' }), 'no'],
    ['the end of a turn that is over', output({ continue: false, stopReason: 'enough' }), undefined],
    ['a failure, whatever it should do', broken('deny'), undefined],
  ])('%s decides nothing', (_, late, reason) => {
    const { verdict, objection } = mergeLate(late);
    expect(objection?.reason).toBe(reason);
    expect([verdict.decision, verdict.block, verdict.stop]).toEqual([undefined, undefined, undefined]);
  });

  it('whoever wants the turn to end is told that it is too late', () => {
    const { warnings } = mergeLate(output({ continue: false, stopReason: 'enough' })).verdict;
    expect(warnings).toEqual([expect.stringContaining('it is too late to end the turn: enough')]);
  });
});
