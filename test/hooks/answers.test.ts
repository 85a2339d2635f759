/** What a hook says and did not mean as plain text is either understood or told: no decision is lost on the way. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HookFields } from '../../src/engine/hooks/registry.js';
import { checkResult } from '../../src/protocol/index.js';
import { createHookBench, callbacksOf, command, type HookBench, quiet, settingsOf } from './kit.js';

let bench: HookBench;
beforeEach(() => {
  bench = createHookBench();
});
afterEach(() => bench.close());

const CALL = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 't1' };
const FIELDS = {
  PreToolUse: CALL,
  PermissionRequest: { tool_name: 'Bash', tool_input: { command: 'ls' } },
  PostToolUse: { ...CALL, tool_response: 'x' },
  UserPromptSubmit: { prompt: 'hi' },
  SessionStart: { source: 'startup' },
  Stop: { stop_hook_active: false },
} as const;
type Event = keyof typeof FIELDS;

/** Fires an event with one command that prints the text. */
function print(event: Event, text: string) {
  const hooks = bench.create({ settings: settingsOf(event, [command(`cat <<'EOF'\n${text}\nEOF`)]) });
  return hooks.fire(event, FIELDS[event] as HookFields<Event>, { signal: quiet });
}

/** Fires an event with one callback that answers so. */
function answer(event: Event, value: unknown) {
  const hooks = bench.create(callbacksOf(event, [() => value]));
  return hooks.fire(event, FIELDS[event] as HookFields<Event>, { signal: quiet });
}

const BLOCK = '{"decision":"block","reason":"no"}';
const BURIED = 'it printed other text before its JSON answer, which must stand alone';
const LIST = 'its answer is a list, not an object';

describe('an answer that a command printed in the wrong way', () => {
  it.each<[Event, string, string]>([
    ['PreToolUse', `loading\n${BLOCK}`, BURIED],
    ['PreToolUse', `loading\n{"broken`, BURIED],
    ['PreToolUse', `[${BLOCK}]`, LIST],
    ['PermissionRequest', `[${BLOCK}]`, LIST],
    ['Stop', `loading\n${BLOCK}`, BURIED],
    ['Stop', `loading\n{\n  "decision": "block"\n}`, BURIED],
    ['Stop', `[${BLOCK}]`, LIST],
    ['UserPromptSubmit', `loading\n${BLOCK}`, BURIED],
    ['UserPromptSubmit', `loading\n${BLOCK}\nbye`, BURIED],
    ['UserPromptSubmit', `loading\n{\n  "decision": "block"\n}`, BURIED],
    ['UserPromptSubmit', `[${BLOCK}]`, LIST],
    ['SessionStart', `loading\n{"continue":false}`, BURIED],
    ['PostToolUse', `loading\n${BLOCK}`, BURIED],
  ])('%s: %j is a failure that says so', async (event, text, message) => {
    const verdict = await print(event, text);
    expect(verdict.failures).toMatchObject([{ kind: 'invalid', message }]);
    expect(verdict.additionalContext).toEqual([]);
    if (event === 'PreToolUse' || event === 'PermissionRequest') expect(verdict.decision).toBe('ask');
    if (event === 'Stop' || event === 'UserPromptSubmit') expect(verdict.block).toBeDefined();
    expect(bench.said()).toHaveLength(1);
  });

  it.each<[Event, string]>([
    ['PreToolUse', '[info] all is well'],
    ['Stop', '[info] all is well'],
    ['PostToolUse', 'A page\n{ is a brace\nand } another'],
    ['PostToolUse', 'diff\n{"a": 1}'],
  ])('%s: %j is plain text', async (event, text) => {
    expect(await print(event, text)).toMatchObject({ failures: [], warnings: [] });
  });

  it.each(['[info] on main', 'package.json:\n{\n  "name": "shop"\n}', 'seen:\n["a", {"b": 1}]', '[1, 2]'])(
    'UserPromptSubmit: %j is context',
    async (text) => {
      expect(await print('UserPromptSubmit', text)).toMatchObject({ failures: [], additionalContext: [text] });
    },
  );
});

describe('a decision in the wrong place', () => {
  it.each<[Event, object, string]>([
    ['PreToolUse', { permissionDecision: 'deny' }, 'permissionDecision at the top'],
    ['PreToolUse', { updatedInput: { command: 'true' } }, 'updatedInput at the top'],
    [
      'PreToolUse',
      { hookSpecificOutput: { hookEventName: 'PreToolUse', decision: 'block' } },
      'decision in hookSpecificOutput',
    ],
    [
      'PreToolUse',
      { hookSpecificOutput: { hookEventName: 'PreToolUse', behavior: 'deny' } },
      'behavior in hookSpecificOutput, where it means nothing to PreToolUse',
    ],
    [
      'UserPromptSubmit',
      { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', permissionDecision: 'deny' } },
      'permissionDecision in hookSpecificOutput, where it means nothing to UserPromptSubmit',
    ],
    ['PermissionRequest', { behavior: 'deny' }, 'behavior at the top'],
    ['UserPromptSubmit', { suppressOriginalPrompt: true }, 'suppressOriginalPrompt at the top'],
    [
      'UserPromptSubmit',
      { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', continue: false } },
      'continue in hookSpecificOutput',
    ],
  ])('%s: %j is a failure that says where it belongs', async (event, value, text) => {
    for (const verdict of [await print(event, JSON.stringify(value)), await answer(event, value)]) {
      expect(verdict.failures).toMatchObject([{ kind: 'invalid', message: expect.stringContaining(text) }]);
      expect(verdict.decision ?? verdict.block).toBeDefined();
    }
  });

  it('beside the right one is a warning', async () => {
    const verdict = await answer('PreToolUse', {
      permissionDecision: 'allow',
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' },
    });
    expect(verdict).toMatchObject({ decision: 'deny', failures: [] });
    expect(bench.said()).toEqual([expect.stringMatching(/^warning: .*permissionDecision at the top/)]);
  });
});

describe('an answer of the wrong shape names the field', () => {
  it.each([
    [{ decision: 'deny' }, 'its answer is wrong at decision: Invalid option: expected one of "approve"|"block"'],
    [{ continue: 'false' }, 'its answer is wrong at continue: Invalid input: expected boolean, received string'],
    [
      { decision: 'block', reason: 5 },
      'its answer is wrong at reason: Invalid input: expected string, received number',
    ],
    [{ async: true, asyncTimeout: 'x' }, 'its answer is wrong at asyncTimeout: '],
    [{ async: 'yes' }, 'its answer is wrong at async: '],
    [{ Decision: 'block' }, 'its answer is wrong at Decision: Unknown field; did you mean "decision"?'],
    [{ hook_specific_output: {} }, 'its answer is wrong at hook_specific_output: Unknown field'],
    [
      { hookSpecificOutput: { hookEventName: 'PreToolUse', permission_decision: 'deny' } },
      'its answer is wrong at hookSpecificOutput.permission_decision: Unknown field; did you mean "permissionDecision"?',
    ],
  ])('%j', async (value, message) => {
    const { failures } = await answer('PreToolUse', value);
    expect(failures).toMatchObject([{ kind: 'invalid', message: expect.stringContaining(message) }]);
  });

  it.each<[unknown, string]>([
    ['text', '(root): Invalid input: expected object, received string'],
    [{ decision: 'deny' }, 'decision: Invalid option'],
    [{ continue: 'false' }, 'continue: Invalid input: expected boolean'],
  ])('%j, from a callback over a wire', (value, text) => {
    expect(() => checkResult('hook_callback', value)).toThrow(text);
  });
});
