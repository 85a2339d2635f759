import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/engine/index.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { resultText, scratch, start } from './kit.js';

const SESSION = '99999999-2222-4333-8444-555555555562';
const call = (name: string, input: Record<string, unknown>, id: string) => ({ name, input, id });
const bash = (command: string, id: string) => call('Bash', { command }, id);
const session = { destination: 'session' as const };
const rules = (type: string, behavior: string, ...names: string[]) => ({
  type,
  behavior,
  rules: names.map((toolName) => ({ toolName })),
  ...session,
});

describe('what easily slips', () => {
  it('C6: an answer from the log whose input touches another place asks nobody again', async () => {
    const updatedInput = { file_path: 'answered', content: 'x' };
    const first = await start([{ toolUse: call('Write', { file_path: 'asked', content: 'x' }, 't1') }, 'x'], {
      config: { sessionId: SESSION },
      ask: async () => ({ behavior: 'allow', updatedInput }),
    });
    await first.ask('go');
    rmSync(join(first.cwd, 'answered'));
    const { lines } = (await first.store.load(SESSION)) ?? { lines: [] };
    const cut = lines.findIndex((line) => line.includes('"state":"answered"'));
    const store = createMemoryStore();
    await store.append({ sessionId: SESSION, cwd: first.cwd }, lines.slice(0, cut + 1));
    const asked: string[] = [];
    const run = await start(['seen'], {
      store,
      cwd: first.cwd,
      config: { resume: SESSION },
      ask: async ({ tool_use_id }) => {
        asked.push(tool_use_id);
        return { behavior: 'deny', message: 'again?' };
      },
    });
    const over = run.nextResult();
    run.session.resumeTurn();
    await over;
    expect(asked).toEqual([]);
    expect(existsSync(join(first.cwd, 'answered'))).toBe(true);
  });

  it.each([
    ['replaceRules', 'Grep'],
    ['removeRules', 'Glob'],
  ])('2 D: %s of ask rules leaves denials alone', async (type, name) => {
    const updatedPermissions = [rules('addRules', 'deny', 'Glob'), rules(type, 'ask', name)];
    const run = await start(
      [{ toolUse: bash('touch x', 't0') }, { toolUse: call('Glob', { pattern: '*' }, 't1') }, 'ok'],
      { ask: async () => ({ behavior: 'allow', updatedPermissions }) },
    );
    expect((await run.ask('go')).permission_denials).toMatchObject([{ tool_use_id: 't1' }]);
  });

  it('an answer whose updates cannot all be taken over changes nothing', async () => {
    const updatedPermissions = [
      rules('addRules', 'allow', 'Bash'),
      { type: 'setMode', mode: 'bypassPermissions', ...session },
    ];
    const run = await start([{ toolUse: bash('touch x', 't0') }, { toolUse: bash('touch y', 't1') }, 'ok'], {
      ask: async ({ tool_use_id }) =>
        tool_use_id === 't0' ? { behavior: 'allow', updatedPermissions } : { behavior: 'deny', message: 'asked' },
    });
    await run.ask('go');
    expect(resultText(run.messages, 't0')).toMatch(/not launched/);
    expect(existsSync(join(run.cwd, 'y'))).toBe(false);
  });

  it('E2: addDirectories through a link', async () => {
    const outer = scratch();
    for (const name of ['ws', 'real']) mkdirSync(join(outer, name));
    writeFileSync(join(outer, 'real', 'a.txt'), 'alpha');
    symlinkSync(join(outer, 'real'), join(outer, 'alias'));
    const updatedPermissions = [{ type: 'addDirectories', directories: [join(outer, 'alias')], ...session }];
    const read = call('Read', { file_path: join(outer, 'alias', 'a.txt') }, 't1');
    const run = await start([{ toolUse: bash('touch x', 't0') }, { toolUse: read }, 'ok'], {
      cwd: join(outer, 'ws'),
      ask: async ({ tool_use_id }) =>
        tool_use_id === 't0' ? { behavior: 'allow', updatedPermissions } : { behavior: 'deny', message: 'asked' },
    });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain('alpha');
  });

  it.each(['interrupt', 'close'] as const)(
    '5 G1/B1: %s while the turn waits for a slow watcher',
    async (how) => {
      const run = await start(['ok']);
      const waits = Promise.withResolvers<void>();
      const belowLimit = () => {
        waits.resolve();
        return new Promise<void>(() => {});
      };
      run.session.attach({ deliver() {}, backlog: () => ({ size: 1e9, belowLimit }) });
      const result = run.ask('go');
      await waits.promise;
      if (how === 'close') await run.session.close();
      else run.session.interrupt();
      expect(await result).toMatchObject({ terminal_reason: 'aborted_streaming' });
    },
    3_000,
  );

  it('D: a denial that came while the question was open wins over an unchanged approval', async () => {
    const open = Promise.withResolvers<void>();
    const run = await start([{ toolUse: [bash('touch a', 't1'), bash('touch b', 't2')] }, 'ok'], {
      ask: async ({ tool_use_id }) => {
        if (tool_use_id === 't1') {
          await open.promise;
          return { behavior: 'allow', updatedPermissions: [rules('addRules', 'deny', 'Bash')] };
        }
        open.resolve();
        await run.seen((message) => message.type === 'user');
        return { behavior: 'allow' };
      },
    });
    await run.ask('go');
    expect(existsSync(join(run.cwd, 'b'))).toBe(false);
  });

  it('G4: overloads count in a row (RetryState says so)', async () => {
    const failed = (code: 'model_overloaded' | 'model_server') => ({
      error: new HeddleError(code, 'x', { retryable: true }),
    });
    const [o, s] = ['model_overloaded', 'model_server'] as const;
    const run = await start([...[o, s, o, s, o].map(failed), 'ok'], { config: { fallbackModel: 'haiku' } });
    let isOver = false;
    const result = run.ask('go').finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      run.clock.advance(60_000);
    }
    await result;
    expect(run.model.requests.at(-1)?.body.model).not.toMatch(/haiku/);
  });
});
