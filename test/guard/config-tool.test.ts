import { describe, expect, it } from 'vitest';
import type { SessionConfig } from '../../src/protocol/index.js';
import { toolResult } from '../../src/testing/index.js';
import { resultText } from '../engine/kit.js';
import { LOCAL, USER } from '../settings/place.js';
import { BYPASS, call, createStage, person } from './stage.js';

const config = (input: Record<string, unknown>, id = 't1') => call('Config', input, id);

/** One session with the tool in it; the person allows everything. */
async function play(
  calls: readonly ReturnType<typeof config>[],
  { stage = createStage(), ...more }: { stage?: ReturnType<typeof createStage>; config?: Partial<SessionConfig> } = {},
) {
  const { ask, ids, asked } = person(() => ({ behavior: 'allow' }));
  const run = await stage.open([...calls, 'ok'], { ask, config: { tools: ['Config'], ...more.config } });
  await run.ask('go');
  return { stage, run, ids, asked };
}

describe('the Config tool', () => {
  it('is there only when it is named', async () => {
    const { run } = await play([], {});
    expect(run.messages[0]).toMatchObject({ subtype: 'init', tools: ['Config'] });
    const plain = await createStage().open(['ok']);
    await plain.ask('go');
    expect((plain.messages[0] as { tools: string[] }).tools).not.toContain('Config');
  });

  it('reads unasked what is in force, and says which layer it comes from', async () => {
    const stage = createStage();
    stage.write(USER, { model: 'opus', permissions: { defaultMode: 'plan' } });
    stage.write(LOCAL, { model: 'haiku' });
    const { run, ids } = await play(
      [
        config({ setting: 'model' }, 't1'),
        config({ setting: 'permissions.defaultMode' }, 't2'),
        config({ setting: 'language' }, 't3'),
      ],
      { stage, config: { permissionMode: 'default' } },
    );
    expect(ids()).toEqual([]);
    expect(resultText(run.messages, 't1')).toBe('model is "haiku" (from the local settings).');
    expect(resultText(run.messages, 't2')).toBe('permissions.defaultMode is "plan" (from the user settings).');
    expect(resultText(run.messages, 't3')).toBe('language is not set.');
    expect(toolResult(run.messages, 't1').structured).toMatchObject({ operation: 'get', value: 'haiku' });
  });

  it('writes to the file of the user after being asked, in every mode, and keeps what is there', async () => {
    for (const mode of [{}, { permissionMode: 'acceptEdits' as const }, BYPASS, { allowedTools: ['Config', 'Edit'] }]) {
      const stage = createStage();
      stage.write(USER, '{\n  // mine\n  "model": "opus",\n  "other": 1\n}\n');
      const { run, ids } = await play(
        [
          config({ setting: 'model', value: 'haiku' }, 't1'),
          config({ setting: 'cleanupPeriodDays', value: '30' }, 't2'),
          config({ setting: 'model' }, 't3'),
        ],
        { stage, config: mode },
      );
      expect(ids()).toEqual(['t1', 't2']);
      expect(stage.text(USER)).toBe('{\n  // mine\n  "model": "haiku",\n  "other": 1,\n  "cleanupPeriodDays": 30\n}\n');
      expect(resultText(run.messages, 't3')).toBe('model is "haiku" (from the user settings).');
    }
  });

  it('is denied where nobody can be asked', async () => {
    const stage = createStage();
    const run = await stage.open([config({ setting: 'model', value: 'haiku' }), 'ok'], {
      config: { tools: ['Config'], ...BYPASS },
    });
    expect((await run.ask('go')).permission_denials).toHaveLength(1);
    expect(stage.exists(USER)).toBe(false);
  });

  it('says when a stronger layer hides what was written', async () => {
    const stage = createStage();
    stage.write(LOCAL, { model: 'opus' });
    const { run } = await play([config({ setting: 'model', value: 'haiku' })], { stage });
    expect(resultText(run.messages, 't1')).toMatch(/local settings set it too, and count more/);
  });

  it.each([
    [{ setting: 'permissions.allow', value: 'Bash' }, /no setting "permissions\.allow"/],
    [{ setting: 'permissions.allow' }, /no setting "permissions\.allow"/],
    [{ setting: 'hooks', value: 'x' }, /no setting "hooks"/],
    [{ setting: 'env.PATH', value: 'x' }, /no setting "env\.PATH"/],
    [{ setting: 'modl' }, /did you mean "model"/],
    [{ setting: '__proto__', value: 'x' }, /no setting "__proto__"/],
    [{ setting: 'permissions.defaultMode', value: 'bypassPermissions' }, /must be one of default, acceptEdits/],
    [{ setting: 'cleanupPeriodDays', value: 0 }, /whole number above 0/],
    [{ setting: 'model', value: 'a\nb' }, /one line of text/],
  ])('refuses %j, before anybody is asked', async (input, expected) => {
    const { stage, run, ids } = await play([config(input)]);
    expect(ids()).toEqual([]);
    expect(toolResult(run.messages, 't1')).toMatchObject({ isError: true, text: expect.stringMatching(expected) });
    expect(stage.exists(USER)).toBe(false);
  });

  it('leaves a file alone that breaks while the session runs', async () => {
    const stage = createStage();
    const { ask } = person(() => {
      stage.write(USER, '{ "model": ');
      return { behavior: 'allow' };
    });
    const run = await stage.open([config({ setting: 'model', value: 'haiku' }), 'ok'], {
      ask,
      config: { tools: ['Config'] },
    });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toMatch(/settings\.json:1:\d+: .*It was not changed/);
    expect(stage.text(USER)).toBe('{ "model": ');
  });

  it('can be denied by name of the setting', async () => {
    const stage = createStage();
    stage.write(USER, { permissions: { deny: ['Config(model)'] } });
    const { run } = await play([config({ setting: 'model' }, 't1'), config({ setting: 'language' }, 't2')], { stage });
    expect(resultText(run.messages, 't1')).toMatch(/has been denied/);
    expect(resultText(run.messages, 't2')).toBe('language is not set.');
  });
});
