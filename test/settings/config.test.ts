import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CONFIG_KEYS, readConfigKey, writeConfigKey } from '../../src/engine/settings/config-keys.js';
import { createConfigTool } from '../../src/engine/tools/config.js';
import type { ToolContext } from '../../src/protocol/index.js';
import { createPlace, LOCAL, USER } from './place.js';

describe('writeConfigKey', () => {
  it.each([
    ['model', 'opus', { model: 'opus' }],
    ['effortLevel', 'high', { effortLevel: 'high' }],
    ['alwaysThinkingEnabled', 'true', { alwaysThinkingEnabled: true }],
    ['autoCompactEnabled', false, { autoCompactEnabled: false }],
    ['cleanupPeriodDays', '30', { cleanupPeriodDays: 30 }],
    ['permissions.defaultMode', 'plan', { permissions: { defaultMode: 'plan' } }],
  ])('%s = %j', async (key, value, expected) => {
    const place = createPlace();
    await writeConfigKey(place.files.user, { key, value });
    expect(JSON.parse(place.text(USER))).toEqual(expected);
    expect((await place.load()).problems).toEqual([]);
  });

  it.each([
    ['permissions.defaultMode', 'bypassPermissions', /must be one of default, acceptEdits, plan, dontAsk/],
    ['permissions.allow', 'Bash(*)', /no setting "permissions\.allow"/],
    ['hooks', 'x', /There is no setting "hooks"/],
    ['modle', 'x', /did you mean "model"\?/],
    ['__proto__', 'x', /There is no setting/],
    ['model', true, /one line of text/],
    ['model', ' ', /one line of text/],
    ['model', 'a\nb', /one line of text/],
    ['effortLevel', 'most', /must be one of low, medium, high, xhigh, max/],
    ['autoCompactEnabled', 'yes', /must be true or false/],
    ['cleanupPeriodDays', 0, /whole number above 0/],
    ['cleanupPeriodDays', 1.5, /whole number above 0/],
  ])('refuses %s = %j', async (key, value, message) => {
    const place = createPlace();
    await expect(writeConfigKey(place.files.user, { key, value })).rejects.toMatchObject({
      code: 'invalid_settings',
      message: expect.stringMatching(message),
    });
    expect(existsSync(place.files.user)).toBe(false);
  });

  it('every key is one of the settings, and none of them a guard', async () => {
    const { Settings } = await import('../../src/protocol/index.js');
    const top = Object.keys(CONFIG_KEYS).map((key) => key.split('.')[0] ?? '');
    expect(Object.keys(Settings().shape)).toEqual(expect.arrayContaining(top));
    expect(top.filter((key) => ['hooks', 'sandbox', 'env', 'apiKeyHelper', 'mcpServers'].includes(key))).toEqual([]);
  });
});

describe('the Config tool', () => {
  async function setUp() {
    const place = createPlace();
    place.write(USER, '{ "model": "a" /* mine */ }');
    let loaded = await place.load();
    const tool = createConfigTool({ userFile: place.files.user, current: () => loaded });
    const call = async (input: unknown) => tool.run(await tool.parse(input), {} as ToolContext);
    const reload = async () => {
      loaded = await place.load();
      return loaded;
    };
    return { place, tool, call, reload };
  }

  it('reads', async () => {
    const { call, tool } = await setUp();
    expect(await call({ setting: 'model' })).toEqual({
      content: 'model is "a" (from the user settings).',
      structured: { success: true, operation: 'get', setting: 'model', value: 'a' },
    });
    expect((await call({ setting: 'language' })).content).toBe('language is not set.');
    expect(tool.isReadOnly({ setting: 'model' }, { cwd: '/' })).toBe(true);
    expect(tool.accesses?.({ setting: 'model' }, { cwd: '/' })).toEqual([]);
  });

  it('writes to the file of the user, which permission is told', async () => {
    const { call, tool, place, reload } = await setUp();
    const input = { setting: 'model', value: 'b' };
    expect(tool.isReadOnly(input, { cwd: '/' })).toBe(false);
    expect(tool.accesses?.(input, { cwd: '/' })).toEqual([{ path: place.files.user, access: 'write' }]);
    expect(await call(input)).toEqual({
      content: `model is now "b" in ${place.files.user}.`,
      structured: { success: true, operation: 'set', setting: 'model', previousValue: 'a', newValue: 'b' },
    });
    expect(place.text(USER)).toBe('{ "model": "b" /* mine */ }');
    expect(readConfigKey(await reload(), 'model')).toEqual({ value: 'b', layer: 'user' });
  });

  it('says when a stronger layer hides what was written', async () => {
    const { call, place, reload } = await setUp();
    place.write(LOCAL, { model: 'local' });
    await reload();
    expect((await call({ setting: 'model', value: 'b' })).content).toMatch(/The local settings set it too/);
  });

  it('refuses, with words for the model', async () => {
    const { call } = await setUp();
    await expect(call({ setting: 'permissions.deny', value: 'x' })).rejects.toThrow(/Known are: model, /);
    await expect(call({ setting: '' })).rejects.toThrow(/setting/);
    await expect(call({ setting: 'model', value: ['x'] })).rejects.toThrow(/value/);
  });
});
