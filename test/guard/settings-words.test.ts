/** Other words for a restriction are refused: a session must not start without what was meant. */
import { describe, expect, it } from 'vitest';
import { checkCalledRules } from '../../src/engine/settings/called-rules.js';
import { checkSettings } from '../../src/engine/settings/check.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { USER } from '../settings/place.js';
import { createStage } from './stage.js';

describe('a key that means a restriction', () => {
  it.each([
    [{ permissions: { denied: ['Bash'] } }, 'permissions.denied', 'permissions.deny'],
    [{ permissions: { disallowedTools: ['Bash'] } }, 'permissions.disallowedTools', 'permissions.deny'],
    [{ permissions: { blocked: ['Bash'] } }, 'permissions.blocked', 'permissions.deny'],
    [{ permissions: { DenyList: ['Bash'] } }, 'permissions.DenyList', 'permissions.deny'],
    [{ permissions: { asks: ['Bash'] } }, 'permissions.asks', 'permissions.ask'],
    [{ permissions: { mode: 'plan' } }, 'permissions.mode', 'permissions.defaultMode'],
    [{ disallowedTools: ['Bash'] }, 'disallowedTools', 'permissions.deny'],
    [{ denied: ['Bash'] }, 'denied', 'permissions.deny'],
    [{ permissionMode: 'plan' }, 'permissionMode', 'permissions.defaultMode'],
  ])('%j', async (settings, path, meant) => {
    expect(await checkSettings(settings, 'user')).toEqual([
      { path, severity: 'error', text: `this key is not known; did you mean "${meant}"?`, meansGuard: true },
    ]);
    const stage = createStage();
    stage.write(USER, settings);
    await expect(stage.open(['ok'])).rejects.toMatchObject({ code: 'invalid_settings' });
  });

  it.each([{ blocked: 1 }, { mode: 'dark' }, { allowedTools: ['Bash'] }])(
    '%j restricts nothing: a warning',
    async (settings) => {
      const found = await checkSettings(settings, 'user');
      expect(found.map(({ severity }) => severity)).toEqual(['warning']);
    },
  );
});

it('a question is not followed by a full stop', () => {
  const check = (disallowedTools: string[]) => () => checkCalledRules({ disallowedTools } as SessionConfig, []);
  expect(check(['Bassh'])).toThrow(/did you mean "Bash"\?$/);
  expect(check(['Bash('])).toThrow(/[^?]\.$/);
});
