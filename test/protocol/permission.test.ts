import { describe, expect, it } from 'vitest';
import {
  checkResult,
  checkValue,
  HeddleError,
  PermissionUpdate,
  toPermissionResult,
} from '../../src/protocol/index.js';

const pathOf = (value: unknown): unknown => {
  try {
    toPermissionResult(value);
  } catch (error) {
    if (error instanceof HeddleError && error.code === 'invalid_answer') return error.data.path;
    throw error;
  }
  return 'accepted';
};

const given = (rule: unknown) => ({ type: 'addRules', rules: [rule], behavior: 'allow', destination: 'session' });

describe('toPermissionResult (C2)', () => {
  it('takes an allow without updatedInput', () => {
    expect(toPermissionResult({ behavior: 'allow' })).toEqual({ behavior: 'allow' });
  });

  it('gives back the answer it was given, unknown fields too', () => {
    const answer = { behavior: 'deny', message: 'no', interrupt: true, extra: 1 };
    expect(toPermissionResult(answer)).toBe(answer);
  });

  it('understands the older {allowed}', () => {
    expect(toPermissionResult({ allowed: true })).toEqual({ behavior: 'allow' });
    expect(toPermissionResult({ allowed: false, reason: 'no' })).toEqual({ behavior: 'deny', message: 'no' });
    expect(toPermissionResult({ allowed: false })).toMatchObject({ behavior: 'deny' });
    expect(checkResult('can_use_tool', { allowed: true })).toEqual({ allowed: true });
  });

  it.each([
    [undefined, '(root)'],
    [true, '(root)'],
    [{}, 'behavior'],
    [{ behavior: 'maybe' }, 'behavior'],
    [{ behavior: 'allow', updatedInput: 'ls' }, 'updatedInput'],
    [
      { behavior: 'allow', updatedPermissions: [{ type: 'setMode', mode: 'x', destination: 'session' }] },
      'updatedPermissions[0].mode',
    ],
    [{ behavior: 'deny' }, 'message'],
    [{ allowed: 'yes' }, 'allowed'],
    [{ allowed: 'yes', behavior: 'deny' }, 'message'],
    // What would be dropped makes the answer wider than it was meant.
    [{ behavior: 'allow', updated_input: { command: 'ls' } }, 'updated_input'],
    [{ behavior: 'allow', updateInput: { command: 'ls' } }, 'updateInput'],
    [{ behavior: 'deny', message: 'no', Interrupt: true }, 'Interrupt'],
    [{ allowed: true, updatedInput: { command: 'ls' } }, 'updatedInput'],
    [
      { behavior: 'allow', updatedPermissions: [given({ toolName: 'Bash', rulecontent: 'touch:*' })] },
      'updatedPermissions[0].rules[0]',
    ],
    [
      { behavior: 'allow', updatedPermissions: [{ ...given({ toolName: 'Bash' }), until: 'noon' }] },
      'updatedPermissions[0]',
    ],
  ])('names the wrong field of %j', (answer, path) => {
    expect(pathOf(answer)).toBe(path);
  });
});

describe('PermissionUpdate', () => {
  const rules = [{ toolName: 'Bash', ruleContent: 'npm run *' }];
  it.each([
    { type: 'addRules', rules, behavior: 'allow', destination: 'localSettings' },
    { type: 'replaceRules', rules, behavior: 'deny', destination: 'userSettings' },
    { type: 'removeRules', rules, behavior: 'ask', destination: 'projectSettings' },
    { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
    { type: 'addDirectories', directories: ['/a'], destination: 'cliArg' },
    { type: 'removeDirectories', directories: ['/a'], destination: 'session' },
  ])('$type passes', (update) => {
    expect(checkValue(PermissionUpdate(), update, 'update')).toBe(update);
  });
});
