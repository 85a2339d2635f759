import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PermissionUpdate, SessionConfig } from '../../src/protocol/index.js';
import { PATH_ENV, resultText, scratch, start } from './kit.js';

const call = (name: string, input: Record<string, unknown>, id: string) => ({ name, input, id });
const bash = (command: string, id: string) => ({ toolUse: call('Bash', { command }, id) });

/** A workspace with a link to a folder beside it, in which there is a secret. */
function linked() {
  const outer = scratch();
  const cwd = join(outer, 'ws');
  mkdirSync(cwd);
  mkdirSync(join(outer, 'beside'));
  writeFileSync(join(outer, 'beside', 'secret.txt'), 'SECRET');
  symlinkSync(join(outer, 'beside'), join(cwd, 'link'));
  return { outer, cwd };
}

describe('E2: places are judged with their links resolved', () => {
  it.each([
    ['Read', { file_path: 'link/secret.txt' }],
    ['Grep', { pattern: 'SECRET', path: 'link', output_mode: 'content' }],
    ['Bash', { command: 'cat link/secret.txt' }],
  ])('%s through a link asks', async (name, input) => {
    const { cwd } = linked();
    const run = await start([{ toolUse: call(name, input, 't1') }, 'ok'], { cwd });
    expect((await run.ask('go')).permission_denials).toMatchObject([{ tool_use_id: 't1' }]);
    expect(resultText(run.messages, 't1')).not.toContain('SECRET');
  });

  it('Write through a link is not an edit inside the workspace', async () => {
    const { outer, cwd } = linked();
    const write = call('Write', { file_path: 'link/new.txt', content: 'x' }, 't1');
    const run = await start([{ toolUse: write }, 'ok'], { cwd, config: { permissionMode: 'acceptEdits' } });
    expect((await run.ask('go')).permission_denials).toHaveLength(1);
    expect(existsSync(join(outer, 'beside', 'new.txt'))).toBe(false);
  });

  it('what is named through a link and lies inside is inside', async () => {
    const { outer } = linked();
    mkdirSync(join(outer, 'ws', 'deep'));
    writeFileSync(join(outer, 'ws', 'deep', 'a.txt'), 'alpha');
    symlinkSync(join(outer, 'ws'), join(outer, 'alias'));
    const read = call('Read', { file_path: join(outer, 'alias', 'deep', 'a.txt') }, 't1');
    const run = await start([{ toolUse: read }, 'ok'], { cwd: join(outer, 'alias') });
    expect((await run.ask('go')).permission_denials).toEqual([]);
    expect(resultText(run.messages, 't1')).toContain('alpha');
  });
});

describe('what was shown is what was approved', () => {
  it.each([
    ['says yes', () => ({})],
    ['repeats the input', (input: Record<string, unknown>) => ({ updatedInput: { ...input } })],
    ['changes the input', (input: Record<string, unknown>) => ({ updatedInput: { ...input, content: 'y' } })],
  ])('a link that moves during the question is asked about again, whether the answer %s', async (_, more) => {
    const { outer, cwd } = linked();
    mkdirSync(join(cwd, 'own'));
    symlinkSync(join(cwd, 'own'), join(cwd, 'moving'));
    const write = call('Write', { file_path: join(cwd, 'moving', 'new.txt'), content: 'x' }, 't1');
    let asked = 0;
    const run = await start([{ toolUse: write }, 'ok'], {
      cwd,
      ask: async ({ input }) => {
        asked += 1;
        if (asked > 1) return { behavior: 'deny', message: 'not there' };
        rmSync(join(cwd, 'moving'));
        symlinkSync(join(outer, 'beside'), join(cwd, 'moving'));
        return { behavior: 'allow', ...more(input) };
      },
    });
    await run.ask('go');
    expect(asked).toBe(2);
    expect(existsSync(join(outer, 'beside', 'new.txt'))).toBe(false);
  });
});

describe('D2: a rule is held against what is on the disk when the call runs', () => {
  it('a search that was judged before another call made what is denied is judged again', async () => {
    const cwd = scratch();
    mkdirSync(join(cwd, 'src'));
    writeFileSync(join(cwd, 'src/a.ts'), 'SECRET of a');
    writeFileSync(join(cwd, 'make.sh'), 'echo SECRET of k > src/k.pem');
    const config: Partial<SessionConfig> = { allowedTools: ['Bash(sh make.sh)'], disallowedTools: ['Read(**/*.pem)'] };
    const both = [bash('sh make.sh', 't2').toolUse, bash('grep -rh SECRET src', 't3').toolUse];
    const run = await start([bash('grep -rh SECRET src', 't1'), { toolUse: both }, 'ok'], { cwd, config });
    expect((await run.ask('go')).permission_denials).toMatchObject([{ tool_use_id: 't3' }]);
    expect(resultText(run.messages, 't1')).toBe('SECRET of a');
    expect(existsSync(join(cwd, 'src/k.pem'))).toBe(true);
    expect(resultText(run.messages, 't3')).not.toContain('SECRET of k');
  });

  it('counts for nothing while a task runs that may change it, or where the environment leads elsewhere', async () => {
    const cwd = scratch();
    mkdirSync(join(cwd, 'src'));
    writeFileSync(join(cwd, 'src/a.ts'), 'SECRET of a');
    const config: Partial<SessionConfig> = { allowedTools: ['Bash(sleep:*)'], disallowedTools: ['Read(**/*.pem)'] };
    const task = { toolUse: { name: 'Bash', id: 't1', input: { command: 'sleep 60', run_in_background: true } } };
    const beside = await start([task, bash('grep -rh SECRET src', 't2'), 'ok'], { cwd, config });
    expect((await beside.ask('go')).permission_denials).toMatchObject([{ tool_use_id: 't2' }]);
    await beside.session.close();
    const env = { ...PATH_ENV, RIPGREP_CONFIG_PATH: join(cwd, 'rg') };
    const led = await start([bash('grep -rh SECRET src', 't1'), 'ok'], { cwd, config: { ...config, env } });
    expect((await led.ask('go')).permission_denials).toHaveLength(1);
  });
});

describe('a changed input is judged again', () => {
  it('a denial that came while the question was open covers it', async () => {
    const denyBash: PermissionUpdate = {
      type: 'addRules',
      rules: [{ toolName: 'Bash' }],
      behavior: 'deny',
      destination: 'session',
    };
    const open = Promise.withResolvers<void>();
    const run = await start([{ toolUse: [bash('touch a', 't1').toolUse, bash('touch b', 't2').toolUse] }, 'ok'], {
      ask: async ({ tool_use_id }) => {
        if (tool_use_id === 't1') {
          await open.promise;
          return { behavior: 'allow', updatedPermissions: [denyBash] };
        }
        open.resolve();
        await run.seen((message) => message.type === 'user');
        return { behavior: 'allow', updatedInput: { command: 'touch changed' } };
      },
    });
    expect((await run.ask('go')).permission_denials).toMatchObject([{ tool_use_id: 't2' }]);
    expect(resultText(run.messages, 't2')).toBe('Permission to use Bash has been denied.');
    expect(['a', 'b', 'changed'].map((name) => existsSync(join(run.cwd, name)))).toEqual([true, false, false]);
  });

  it.each([
    ['touch changed', true],
    ['echo harmless', false],
  ])('in a mode that asks nobody: %s is denied: %s', async (command, isDenied) => {
    const run = await start([bash('touch a', 't1'), 'ok'], {
      ask: async () => {
        run.session.setPermissionMode('dontAsk');
        return { behavior: 'allow', updatedInput: { command } };
      },
    });
    expect((await run.ask('go')).permission_denials).toHaveLength(isDenied ? 1 : 0);
    expect(existsSync(join(run.cwd, 'changed'))).toBe(false);
    expect(resultText(run.messages, 't1')).toMatch(isDenied ? /don't ask mode/ : /^harmless$/);
  });

  it('is parsed again: an input the tool does not take denies, and the host is told', async () => {
    const run = await start([bash('touch a', 't1'), 'ok'], {
      ask: async () => ({ behavior: 'allow', updatedInput: { comand: 'touch a' } }),
    });
    expect((await run.ask('go')).permission_denials).toHaveLength(1);
    expect(resultText(run.messages, 't1')).toMatch(/^Tool permission request failed: .*command/s);
    expect(run.messages).toContainEqual(expect.objectContaining({ subtype: 'informational', level: 'error' }));
  });

  it('what it changes about permissions is not taken over when it is denied', async () => {
    const run = await start([bash('touch a', 't1'), bash('touch b', 't2'), 'ok'], {
      ask: async () => {
        run.session.setPermissionMode('dontAsk');
        const updatedPermissions = [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }];
        return { behavior: 'allow', updatedInput: { command: 'touch b' }, updatedPermissions };
      },
    });
    expect((await run.ask('go')).permission_denials).toHaveLength(2);
    expect(run.session.scope.state.mode).toBe('dontAsk');
  });
});

describe('what an answer changes about permissions', () => {
  /** Asks about the first call alone, whose answer carries the updates; gives the ids that were asked about. */
  async function askedAfter(
    updates: PermissionUpdate[],
    later: ReturnType<typeof bash>[],
    config: Partial<SessionConfig> & { cwd?: string } = {},
  ) {
    const asked: string[] = [];
    const run = await start([bash('touch first', 't0'), ...later, 'ok'], {
      config,
      ...(config.cwd !== undefined && { cwd: config.cwd }),
      ask: async ({ tool_use_id }) => {
        asked.push(tool_use_id);
        if (tool_use_id === 't0') return { behavior: 'allow', updatedPermissions: updates };
        return { behavior: 'deny', message: 'asked' };
      },
    });
    const { permission_denials } = await run.ask('go');
    return { asked: asked.slice(1), denied: permission_denials.map((denial) => denial.tool_use_id), run };
  }
  const session = { destination: 'session' as const };
  const rules = (
    type: 'addRules' | 'replaceRules' | 'removeRules',
    behavior: 'allow' | 'deny' | 'ask',
    ...names: { toolName: string; ruleContent?: string }[]
  ): PermissionUpdate => ({ type, behavior, rules: names, ...session });

  it('addDirectories: folders may be read, also those named from the working directory; removeDirectories ends that', async () => {
    const outer = scratch();
    const cwd = join(outer, 'ws');
    for (const name of ['ws', 'one', 'two']) mkdirSync(join(outer, name));
    for (const name of ['one', 'two']) writeFileSync(join(outer, name, 'a.txt'), `text of ${name}`);
    const read = (name: string, id: string) => ({ toolUse: call('Read', { file_path: `../${name}/a.txt` }, id) });
    const add: PermissionUpdate = { type: 'addDirectories', directories: [join(outer, 'one'), '../two'], ...session };
    const added = await askedAfter([add], [read('one', 't1'), read('two', 't2')], { cwd });
    expect(added.asked).toEqual([]);
    expect(resultText(added.run.messages, 't1')).toContain('text of one');
    expect(resultText(added.run.messages, 't2')).toContain('text of two');
    const remove: PermissionUpdate = { type: 'removeDirectories', directories: ['../two', cwd], ...session };
    const removed = await askedAfter([add, remove], [read('one', 't1'), read('two', 't2')], { cwd });
    expect(removed.asked).toEqual(['t2']);
    expect(removed.run.session.scope.state.roots).toEqual([cwd, join(outer, 'one')]);
  });

  it('replaceRules leaves only the new ones, removeRules takes one away', async () => {
    const touch = [bash('touch a', 't1')];
    const allowBash = rules('addRules', 'allow', { toolName: 'Bash' });
    expect((await askedAfter([allowBash], touch)).asked).toEqual([]);
    const replaced = rules('replaceRules', 'allow', { toolName: 'Write' });
    expect((await askedAfter([allowBash, replaced], touch)).asked).toEqual(['t1']);
    const removed = rules('removeRules', 'allow', { toolName: 'Bash' });
    expect((await askedAfter([allowBash, removed], touch)).asked).toEqual(['t1']);
    const other = rules('removeRules', 'allow', { toolName: 'Bash', ruleContent: 'ls' });
    expect((await askedAfter([allowBash, other], touch)).asked).toEqual([]);
  });

  it('an allow rule with brackets allows that command alone', async () => {
    const exact = rules('addRules', 'allow', { toolName: 'Bash', ruleContent: 'touch a' });
    const { asked } = await askedAfter([exact], [bash('touch a', 't1'), bash('touch b', 't2')]);
    expect(asked).toEqual(['t2']);
  });

  it.each(['deny', 'ask'] as const)(
    'a rule with brackets that is to %s is about the calls it names',
    async (behavior) => {
      const update = rules('addRules', behavior, { toolName: 'Bash', ruleContent: 'echo:*' });
      const { asked, denied } = await askedAfter([update], [bash('ls', 't1'), bash('ls && echo x', 't2')]);
      expect(behavior === 'ask' ? asked : denied).toEqual(['t2']);
      const path = rules('addRules', behavior, { toolName: 'Read', ruleContent: './secrets/**' });
      const read = await askedAfter([path], [bash('cat secrets/a', 't1'), bash('ls', 't2')]);
      expect(behavior === 'ask' ? read.asked : read.denied).toEqual(['t1']);
    },
  );

  it('a denial for the session wins over a rule that allows', async () => {
    const updates = [rules('addRules', 'allow', { toolName: 'Bash' }), rules('addRules', 'deny', { toolName: 'Bash' })];
    const { asked, denied } = await askedAfter(updates, [bash('ls', 't1')]);
    expect({ asked, denied }).toEqual({ asked: [], denied: ['t1'] });
  });

  it('D5: a rule that is to be kept is written to its file, and holds at once', async () => {
    const rule = rules('addRules', 'allow', { toolName: 'Bash', ruleContent: 'touch a' });
    for (const [destination, file] of [
      ['localSettings', '.claude/settings.local.json'],
      ['projectSettings', '.claude/settings.json'],
      ['userSettings', '.config/settings.json'],
    ] as const) {
      const { asked, run } = await askedAfter([{ ...rule, destination }], [bash('touch a', 't1')]);
      expect(asked).toEqual([]);
      const written = JSON.parse(readFileSync(join(run.cwd, file), 'utf8'));
      expect(written).toEqual({ permissions: { allow: ['Bash(touch a)'] } });
    }
  });

  it('setMode switches at once, and bypass stays closed to a session that was not opened for it', async () => {
    const accept: PermissionUpdate = { type: 'setMode', mode: 'acceptEdits', ...session };
    const write = { toolUse: call('Write', { file_path: 'made', content: 'x' }, 't1') };
    const { asked, run } = await askedAfter([accept], [write]);
    expect(asked).toEqual([]);
    expect(readFileSync(join(run.cwd, 'made'), 'utf8')).toBe('x');
    expect(run.messages).toContainEqual(expect.objectContaining({ subtype: 'status', permissionMode: 'acceptEdits' }));
    const bypass: PermissionUpdate = { type: 'setMode', mode: 'bypassPermissions', ...session };
    const refused = await askedAfter([bypass], []);
    expect(refused.denied).toEqual(['t0']);
    expect(existsSync(join(refused.run.cwd, 'first'))).toBe(false);
  });
});
