import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { SessionConfig, Settings } from '../../src/protocol/index.js';
import { toolResults } from '../../src/testing/index.js';
import { resultText } from '../engine/kit.js';
import { LOCAL, MANAGED, PROJECT, USER } from '../settings/place.js';
import { bash, call, createStage, person, type Stage, notices } from './stage.js';

/** From the strongest to the weakest. */
const LAYERS = ['managed', 'call', 'flag', 'local', 'project', 'user'] as const;
const FILES = { managed: MANAGED, local: LOCAL, project: PROJECT, user: USER };

/** Puts a value into each of the layers. */
function fill(stage: Stage, layers: readonly (typeof LAYERS)[number][], toSettings: (layer: string) => Settings) {
  const config: Partial<SessionConfig> = {};
  for (const layer of layers) {
    if (layer === 'flag') config.settings = JSON.stringify(toSettings(layer));
    else if (layer !== 'call') stage.write(FILES[layer], toSettings(layer));
  }
  return config;
}

describe('of several layers the strongest counts', () => {
  it.each(LAYERS.map((_, at) => LAYERS.slice(at)))('for the model: %s', async (...layers) => {
    const stage = createStage();
    const config = fill(stage, layers, (layer) => ({ model: `model-of-${layer}` }));
    const run = await stage.open(['ok'], {
      config: { ...config, ...(layers.includes('call') && { model: 'model-of-call' }) },
    });
    await run.ask('go');
    expect(run.model.requests[0]?.body.model).toBe(`model-of-${layers[0]}`);
  });

  it.each(LAYERS.map((_, at) => LAYERS.slice(at)))('for a variable: %s', async (...layers) => {
    const stage = createStage();
    const config = fill(stage, layers, (layer) => ({ env: { WHO: layer, [`ONLY_${layer.toUpperCase()}`]: 'yes' } }));
    const called = layers.includes('call') && { env: { ...stage.env, WHO: 'call' }, envIsExact: true };
    const run = await stage.open([bash('printenv WHO ONLY_USER'), 'ok'], {
      config: { ...config, ...called, allowedTools: ['Bash(printenv:*)'] },
    });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toBe(`${layers[0]}\nyes`);
  });

  it('for the mode', async () => {
    const modes = { managed: 'plan', flag: 'dontAsk', local: 'acceptEdits', project: 'plan', user: 'default' } as const;
    const modeOf = (layer: string) => modes[layer as keyof typeof modes];
    const seen = async (...layers: (typeof LAYERS)[number][]) => {
      const stage = createStage();
      const config = fill(stage, layers, (layer) => ({ permissions: { defaultMode: modeOf(layer) } }));
      const called = layers.includes('call') && { permissionMode: 'acceptEdits' as const };
      const run = await stage.open(['ok'], { config: { ...config, ...called } });
      return run.session.scope.state.mode;
    };
    expect(await seen('managed', 'call', 'flag', 'local')).toBe('plan');
    expect(await seen('call', 'flag', 'local', 'project', 'user')).toBe('acceptEdits');
    expect(await seen('flag', 'local', 'project', 'user')).toBe('dontAsk');
    expect(await seen('local', 'project', 'user')).toBe('acceptEdits');
    expect(await seen('project', 'user')).toBe('plan');
    expect(await seen('user')).toBe('default');
  });

  it('policy of a host is weaker than that of files, and stronger than the call', async () => {
    const stage = createStage();
    stage.write(MANAGED, { model: 'of-the-machine' });
    const managedSettings = JSON.stringify({ model: 'of-the-host', permissions: { defaultMode: 'plan' } });
    const run = await stage.open(['ok'], {
      config: { managedSettings, model: 'of-the-call', permissionMode: 'acceptEdits' },
    });
    await run.ask('go');
    expect(run.model.requests[0]?.body.model).toBe('of-the-machine');
    expect(run.session.scope.state.mode).toBe('plan');
  });
});

describe('which layers are read', () => {
  it('only those that settingSources names; policy and options in any case', async () => {
    const stage = createStage();
    for (const layer of ['managed', 'local', 'project', 'user'] as const) {
      stage.write(FILES[layer], { permissions: { allow: [`Bash(touch ${layer})`] } });
    }
    const settings = JSON.stringify({ permissions: { allow: ['Bash(touch flag)'] } });
    const ran = async (settingSources: SessionConfig['settingSources']) => {
      const names = ['managed', 'flag', 'local', 'project', 'user'];
      const run = await stage.open([...names.map((name) => bash(`touch ${name}`, name)), 'ok'], {
        config: { settingSources, settings },
      });
      await run.ask('go');
      return toolResults(run.messages).flatMap(({ id, isError }) => (isError ? [] : [id]));
    };
    expect(await ran([])).toEqual(['managed', 'flag']);
    expect(await ran(['user'])).toEqual(['managed', 'flag', 'user']);
    expect(await ran(['project', 'local'])).toEqual(['managed', 'flag', 'local', 'project']);
  });

  it.each(['managed', 'flag', 'local', 'project', 'user'] as const)(
    'a deny of %s wins over an allow of every other layer, in every mode',
    async (layer) => {
      const stage = createStage();
      const config = fill(stage, ['managed', 'flag', 'local', 'project', 'user'], (name) => ({
        permissions: { allow: ['Bash(touch:*)'], ...(name === layer && { deny: ['Bash(touch bad)'] }) },
      }));
      for (const permissionMode of ['default', 'acceptEdits', 'bypassPermissions'] as const) {
        const run = await stage.open([bash('touch good'), bash('touch bad', 't2'), 'ok'], {
          config: {
            ...config,
            permissionMode,
            allowDangerouslySkipPermissions: true,
            allowedTools: ['Bash(touch bad)'],
          },
          ask: async () => ({ behavior: 'allow' }),
        });
        const { permission_denials } = await run.ask('go');
        expect(permission_denials.map(({ tool_use_id }) => tool_use_id)).toEqual(['t2']);
      }
      expect(stage.exists('home/shop/bad')).toBe(false);
    },
  );

  it('allowManagedPermissionRulesOnly: nobody else allows, everybody still restricts', async () => {
    const stage = createStage();
    stage.write(MANAGED, { allowManagedPermissionRulesOnly: true, permissions: { allow: ['Bash(touch:*)'] } });
    stage.write(USER, { permissions: { allow: ['Bash(mkdir:*)'], deny: ['Bash(touch bad)'] } });
    const { ask, ids } = person(({ input }) => ({
      behavior: 'allow',
      updatedPermissions: [
        {
          type: 'addRules',
          behavior: 'allow',
          destination: 'session',
          rules: [{ toolName: 'Bash', ruleContent: input.command }],
        },
      ],
    }));
    const calls = [
      bash('touch a', 'policy'),
      bash('mkdir b', 'user'),
      bash('rmdir b', 'flag'),
      bash('mkdir c', 'first'),
      bash('mkdir c', 'again'),
      bash('touch bad', 'denied'),
    ];
    const run = await stage.open([...calls, 'ok'], { ask, config: { allowedTools: ['Bash(rmdir:*)'] } });
    await run.ask('go');
    expect(ids()).toEqual(['user', 'flag', 'first', 'again']);
    expect(resultText(run.messages, 'denied')).toMatch(/has been denied/);
  });
});

describe('D3: broken files', () => {
  const CUT = '{ "permissions": { "deny": ["Read(./.env)"';

  it.each([
    ['set-022: a file that ends too early', USER, CUT, /settings\.json:1:43: .*ends too early/],
    ['a policy that ends too early', MANAGED, CUT, /managed-settings\.json:1:43: .*ends too early/],
    [
      'half a rule',
      LOCAL,
      '{\n"permissions":\n{"deny": ["Bash(rm"]}}',
      /settings\.local\.json:3:11: permissions\.deny\[0\]/,
    ],
    ['a guard that is misspelled', PROJECT, '{"permissions":\n{"denny": []}}', /settings\.json:2:2: .*mean "deny"/],
    ['a deny that can never match', USER, '{"permissions": {"deny": ["Read(relative)x"]}}', /settings\.json:1:/],
  ])('%s: no session starts, and file and line are named', async (_, file, text, expected) => {
    const stage = createStage();
    stage.write(file, text);
    await expect(stage.open([])).rejects.toMatchObject({
      code: 'invalid_settings',
      message: expect.stringMatching(expected),
    });
    stage.write(file, '{}');
    await expect((await stage.open(['fine'])).ask('go')).resolves.toMatchObject({ result: 'fine' });
  });

  it('the same of what a call brings along', async () => {
    const stage = createStage();
    for (const settings of [CUT, 'missing.json', '{"permissions": {"defaultMode": "yolo"}}']) {
      await expect(stage.open([], { config: { settings } })).rejects.toMatchObject({ code: 'invalid_settings' });
    }
    const managedSettings = '{"permissions": []}';
    await expect(stage.open([], { config: { managedSettings } })).rejects.toMatchObject({ code: 'invalid_settings' });
  });

  it('a key that is not known is a problem with file and line, and the rest counts', async () => {
    const stage = createStage();
    stage.write(USER, '{\n  "colour": "blue",\n  "permissions": { "deny": ["Bash(echo:*)"] }\n}');
    const run = await stage.open([bash('echo hi'), 'ok']);
    expect(run.session.scope.guard.settings.problems).toMatchObject([
      { severity: 'warning', fatal: false, file: stage.path(USER), line: 2, path: 'colour' },
    ]);
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toMatch(/has been denied/);
  });
});

describe('while a session runs', () => {
  const rules = (permissions: Settings['permissions']): Settings => ({ permissions });

  it.each([
    ['user', USER],
    ['project', PROJECT],
    ['local', LOCAL],
    ['managed', MANAGED],
  ])('a deny that is written into the %s file counts at the next call', async (_, file) => {
    const stage = createStage();
    const run = await stage.open(
      [
        bash('touch a'),
        () => {
          stage.write(file, rules({ deny: ['Bash(touch b)'] }));
          return bash('touch b', 't2');
        },
        'ok',
      ],
      { config: { allowedTools: ['Bash(touch:*)'] } },
    );
    const { permission_denials } = await run.ask('go');
    expect(permission_denials.map(({ tool_use_id }) => tool_use_id)).toEqual(['t2']);
  });

  it('an allow counts too, and is gone with its file after a moment', async () => {
    const stage = createStage();
    const { ask, ids } = person();
    const run = await stage.open(
      [
        () => {
          stage.write(LOCAL, rules({ allow: ['Bash(touch:*)'] }));
          return bash('touch a', 't1');
        },
        () => {
          rmSync(stage.path(LOCAL));
          return bash('touch b', 't2');
        },
        () => {
          run.clock.advance(1_001);
          return bash('touch c', 't3');
        },
        'ok',
      ],
      { ask },
    );
    await run.ask('go');
    expect(ids()).toEqual(['t3']);
  });

  it('a file that breaks loosens nothing: it counts as it last was', async () => {
    const stage = createStage();
    stage.write(USER, rules({ allow: ['Bash(touch:*)'], deny: ['Bash(touch bad)'] }));
    stage.write(MANAGED, rules({ deny: ['Bash(touch worse)'] }));
    const run = await stage.open([
      bash('touch a'),
      () => {
        stage.write(USER, '{ "permissions": { "allow": ["Bash"], ');
        stage.write(MANAGED, '');
        return bash('touch bad', 't2');
      },
      bash('touch worse', 't3'),
      bash('touch b', 't4'),
      () => {
        stage.write(USER, rules({ allow: ['Bash(touch:*)'] }));
        return bash('touch bad', 't5');
      },
      'ok',
    ]);
    const { permission_denials } = await run.ask('go');
    expect(permission_denials.map(({ tool_use_id }) => tool_use_id)).toEqual(['t2', 't3']);
    expect(run.session.scope.guard.settings.problems).toMatchObject([{ fatal: true, file: stage.path(MANAGED) }]);
  });

  it('a ConfigChange hook sees a change and can refuse it; not one of policy', async () => {
    const stage = createStage();
    const hook = { type: 'command', command: 'cat >> changes; echo >> changes; echo no >&2; exit 2' };
    stage.write(USER, { hooks: { ConfigChange: [{ matcher: 'local_settings|policy_settings', hooks: [hook] }] } });
    const run = await stage.open(
      [
        bash('touch a', 't0'),
        () => {
          stage.write(LOCAL, rules({ deny: ['Bash(touch b)'] }));
          return bash('touch b', 't1');
        },
        () => {
          stage.write(PROJECT, rules({ deny: ['Bash(touch c)'] }));
          return bash('touch c', 't2');
        },
        () => {
          stage.write(MANAGED, rules({ deny: ['Bash(touch d)'] }));
          return bash('touch d', 't3');
        },
        'ok',
      ],
      { config: { allowedTools: ['Bash(touch:*)'] } },
    );
    const { permission_denials } = await run.ask('go');
    expect(permission_denials.map(({ tool_use_id }) => tool_use_id)).toEqual(['t2', 't3']);
    const told = stage.text('home/shop/changes');
    for (const source of ['local_settings', 'policy_settings']) expect(told).toContain(`"source":"${source}"`);
    expect(told).toContain(`"file_path":${JSON.stringify(stage.path(LOCAL))}`);
    expect(notices(run.messages)).toEqual([
      `ConfigChange hook: the change of ${stage.path(LOCAL)} does not count in this session: no`,
      expect.stringContaining(`the change of ${stage.path(MANAGED)} is taken over all the same`),
    ]);
  });

  it('folders that settings add are open to tools and shell lines', async () => {
    const stage = createStage();
    stage.write('home/library/book.txt', 'text');
    stage.write('home/attic/box.txt', 'text');
    stage.write(USER, rules({ additionalDirectories: ['~/library'] }));
    const { ask, ids } = person();
    const run = await stage.open(
      [
        call('Read', { file_path: stage.path('home/library/book.txt') }, 't1'),
        bash('cat ../library/book.txt', 't2'),
        call('Read', { file_path: stage.path('home/attic/box.txt') }, 't3'),
        bash('cat ../attic/box.txt', 't4'),
        'ok',
      ],
      { ask },
    );
    await run.ask('go');
    expect(ids()).toEqual(['t3', 't4']);
  });
});
