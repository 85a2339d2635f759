import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Question } from '../../src/engine/index.js';
import { createMemoryStore } from '../../src/engine/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { type Run, resultText, type RunOptions, scratch, start } from './kit.js';
import { createTracedStore, probeTool } from './traced-store.js';

const SESSION = '99999999-2222-4333-8444-555555555560';

describe('on the disk before it has effects', () => {
  const probe = { toolUse: { name: 'Probe', input: { n: 1 }, id: 't1' } };
  const aboutCall = (events: readonly string[]) => events.filter((event) => /^call|runs/.test(event));

  it('C6: the answer, then that the call is started, then its side effect', async () => {
    const events: string[] = [];
    const run = await start([probe, 'ok'], {
      store: createTracedStore(events),
      tools: [probeTool(events)],
      ask: async () => ({ behavior: 'allow', updatedInput: { n: 2 } }),
    });
    await run.ask('go');
    expect(aboutCall(events)).toEqual([
      'call requested',
      'call answered (sync)',
      'call started (sync)',
      'Probe runs {"n":2}',
    ]);
  });

  it('C6: a store that takes its time is waited for', async () => {
    const events: string[] = [];
    const run = await start([probe, 'ok'], {
      store: createTracedStore(events, { isSlow: true }),
      tools: [probeTool(events)],
      ask: async () => ({ behavior: 'allow' }),
    });
    await run.ask('go');
    const order = aboutCall(events).filter((event) => !event.startsWith('call requested'));
    expect(order).toEqual([
      'call answered (sync)',
      'call answered (sync) written',
      'call started (sync)',
      'call started (sync) written',
      'Probe runs {"n":1}',
    ]);
  });

  it('C6: a denial is kept too', async () => {
    const events: string[] = [];
    const run = await start([probe, 'ok'], {
      store: createTracedStore(events),
      tools: [probeTool(events)],
      ask: async () => ({ behavior: 'deny', message: 'no' }),
    });
    await run.ask('go');
    expect(aboutCall(events)).toEqual(['call requested', 'call answered (sync)']);
  });

  it('a call that only reads is recorded as started without waiting for the disk', async () => {
    const events: string[] = [];
    const tools = [probeTool(events, { readOnly: true })];
    const run = await start([probe, 'ok'], { store: createTracedStore(events), tools });
    await run.ask('go');
    expect(aboutCall(events)).toEqual(['call started', 'Probe runs {"n":1}']);
  });

  it('nothing else waits for the disk', async () => {
    const events: string[] = [];
    const run = await start([probe, 'ok'], {
      store: createTracedStore(events),
      tools: [probeTool(events)],
      config: { permissionMode: 'bypassPermissions' },
    });
    await run.ask('go');
    run.session.setPermissionMode('default');
    expect(events.filter((event) => event.endsWith('(sync)'))).toEqual(['call started (sync)']);
  });
});

describe('C6: a process that died after the answer', () => {
  const write = { toolUse: { name: 'Write', input: { file_path: 'made', content: 'asked' }, id: 't1' } };

  /** A session whose log ends right behind the last entry of this state, as if its process had been killed there. */
  async function cutAfter(state: string, script: readonly ScriptStep[], ask: RunOptions['ask']): Promise<Run> {
    const first = await start(script, { config: { sessionId: SESSION }, ask });
    await first.ask('go');
    rmSync(join(first.cwd, 'made'), { force: true });
    const { lines } = (await first.store.load(SESSION)) ?? { lines: [] };
    const last = lines.findLastIndex((line) => line.includes(`"state":"${state}"`));
    expect(last).toBeGreaterThan(0);
    const store = createMemoryStore();
    await store.append({ sessionId: SESSION, cwd: first.cwd }, lines.slice(0, last + 1));
    return { ...first, store };
  }

  async function resume(dead: Run, answer: unknown) {
    const asked: Question[] = [];
    const run = await start(['seen'], {
      store: dead.store,
      cwd: dead.cwd,
      config: { resume: SESSION },
      ask: async (question) => {
        asked.push(question);
        return answer;
      },
    });
    const over = run.nextResult();
    run.session.resumeTurn();
    return { run, asked, result: await over };
  }

  const resultsFor = (run: Run, id: string) =>
    JSON.stringify(run.model.requests[0]?.body.messages).split(`"tool_use_id":"${id}"`).length - 1;

  it('runs what was allowed, with the input that was answered, and asks nobody', async () => {
    const updatedInput = { file_path: 'made', content: 'answered' };
    const dead = await cutAfter('answered', [write, 'x'], async () => ({ behavior: 'allow', updatedInput }));
    const { run, asked, result } = await resume(dead, { behavior: 'deny', message: 'asked again' });
    expect(asked).toEqual([]);
    expect(readFileSync(join(dead.cwd, 'made'), 'utf8')).toBe('answered');
    expect(result).toMatchObject({ result: 'seen', permission_denials: [] });
    expect(resultsFor(run, 't1')).toBe(1);
  });

  /** Someone else says yes to what the process had asked before it died. */
  async function answeredElsewhere(): Promise<Run> {
    const dead = await cutAfter('requested', [write, 'x'], async () => ({ behavior: 'deny', message: 'lost' }));
    const { lines } = (await dead.store.load(SESSION)) ?? { lines: [] };
    const { questionId: _, grounds, ...question } = JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>;
    expect(grounds).toEqual(expect.any(String));
    const answer = { ...question, uuid: 'elsewhere', state: 'answered', behavior: 'allow' };
    await dead.store.append({ sessionId: SESSION, cwd: dead.cwd }, [JSON.stringify(answer)]);
    return dead;
  }

  it.each([
    [
      'here',
      () => cutAfter('answered', [write, 'x'], async ({ input }) => ({ behavior: 'allow', updatedInput: input })),
    ],
    ['elsewhere', answeredElsewhere],
  ])('what was allowed %s runs, but not when its place is another by then: that is asked about', async (_, die) => {
    const same = await resume(await die(), { behavior: 'deny', message: 'asked again' });
    expect(same.asked).toEqual([]);
    expect(existsSync(join(same.run.cwd, 'made'))).toBe(true);
    const dead = await die();
    const outside = scratch();
    symlinkSync(join(outside, 'made'), join(dead.cwd, 'made'));
    const { asked } = await resume(dead, { behavior: 'deny', message: 'not there' });
    expect(asked).toHaveLength(1);
    expect(existsSync(join(outside, 'made'))).toBe(false);
  });

  it('keeps a denial: one paired result with its reason, and nothing runs', async () => {
    const dead = await cutAfter('answered', [write, 'x'], async () => ({ behavior: 'deny', message: 'Not today' }));
    const { run, asked, result } = await resume(dead, { behavior: 'allow' });
    expect(asked).toEqual([]);
    expect(existsSync(join(dead.cwd, 'made'))).toBe(false);
    expect(resultText(run.messages, 't1')).toBe('Not today');
    expect(result.permission_denials).toMatchObject([{ tool_use_id: 't1' }]);
    expect(resultsFor(run, 't1')).toBe(1);
  });

  it('asks once more what nobody had answered', async () => {
    const dead = await cutAfter('requested', [write, 'x'], async () => ({ behavior: 'deny', message: 'lost' }));
    const { asked } = await resume(dead, { behavior: 'allow' });
    expect(asked).toMatchObject([{ tool_use_id: 't1', input: { content: 'asked' } }]);
    expect(readFileSync(join(dead.cwd, 'made'), 'utf8')).toBe('asked');
  });

  it('does not run again what was allowed and started', async () => {
    const dead = await cutAfter('started', [write, 'x'], async () => ({ behavior: 'allow' }));
    const { run, asked } = await resume(dead, { behavior: 'allow' });
    expect(asked).toEqual([]);
    expect(existsSync(join(dead.cwd, 'made'))).toBe(false);
    expect(resultText(run.messages, 't1')).toMatch(/may have had its effect or not/);
  });

  it('answers one of two calls from the log and asks about the other', async () => {
    const both = { toolUse: ['t1', 't2'].map((id) => ({ name: 'Bash', input: { command: `touch ${id}` }, id })) };
    const open = Promise.withResolvers<unknown>();
    const first = await start([both, 'x'], {
      config: { sessionId: SESSION },
      ask: ({ tool_use_id }) =>
        tool_use_id === 't1' ? Promise.resolve({ behavior: 'deny', message: 'not t1' }) : open.promise,
    });
    const over = first.ask('go');
    await first.seen((message) => message.type === 'user');
    const { lines } = (await first.store.load(SESSION)) ?? { lines: [] };
    open.resolve({ behavior: 'deny', message: 'late' });
    await over;
    const store = createMemoryStore();
    const answered = lines.findIndex((line) => line.includes('"state":"answered"'));
    await store.append({ sessionId: SESSION, cwd: first.cwd }, lines.slice(0, answered + 1));
    const { run, asked } = await resume({ ...first, store }, { behavior: 'allow' });
    expect(asked.map((question) => question.tool_use_id)).toEqual(['t2']);
    expect(resultText(run.messages, 't1')).toBe('not t1');
    expect(existsSync(join(first.cwd, 't2'))).toBe(true);
  });
});
