import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileStore, createMemoryStore, nextAction } from '../../src/engine/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { toChain } from '../../src/engine/sessions/chain.js';
import { type Entry, parseEntry } from '../../src/engine/sessions/entry.js';
import type { ModelRequest } from '../../src/protocol/index.js';
import { outline, start, stillClock } from './kit.js';

const bypass = { permissionMode: 'bypassPermissions' as const };
const SESSION = '99999999-2222-4333-8444-555555555555';

const SCRIPT: ScriptStep[] = [
  { id: 'm1', text: 'Looking.', toolUse: { id: 't1', name: 'Bash', input: { command: 'echo hi' } } },
  {
    id: 'm2',
    thinking: 'two at once',
    toolUse: [
      { id: 't2', name: 'Glob', input: { pattern: '*.md' } },
      { id: 't3', name: 'Bash', input: { command: 'echo three' } },
    ],
  },
  { id: 'm3', text: 'first done' },
  { id: 'm4', toolUse: { id: 't4', name: 'Bash', input: { command: 'echo four' } } },
  { id: 'm5', text: 'second done' },
];

describe('F1: a log cut at every entry', () => {
  it('goes on with byte-identical requests', async () => {
    const whole = await start(SCRIPT, { config: { ...bypass, sessionId: SESSION } });
    await whole.ask('first prompt');
    await whole.ask('second prompt');
    const { lines } = (await whole.store.load(SESSION)) ?? { lines: [] };
    const bodies = whole.model.requests.map((request) => JSON.stringify(request.body));
    expect(lines.length).toBeGreaterThan(20);
    let compared = 0;
    for (let cut = 1; cut < lines.length; cut += 1) {
      const kept = lines.slice(0, cut);
      if (endsInsideCall(kept)) continue;
      const done = kept.filter((line) => line.includes('"kind":"step"')).length;
      const store = createMemoryStore();
      await store.append({ sessionId: SESSION, cwd: whole.cwd }, kept);
      const run = await start(SCRIPT.slice(done), {
        store,
        cwd: whole.cwd,
        config: { ...bypass, resume: SESSION },
      });
      const result = run.nextResult();
      run.session.resumeTurn();
      if (!run.session.busy) continue;
      await result;
      const requests = run.model.requests.map((request: ModelRequest) => JSON.stringify(request.body));
      expect(requests).toEqual(bodies.slice(done, done + requests.length));
      compared += requests.length;
    }
    expect(compared).toBeGreaterThan(10);
  });

  it('never runs a call again that was started, and tells the model so', async () => {
    const whole = await start(SCRIPT.slice(0, 3), { config: { ...bypass, sessionId: SESSION } });
    await whole.ask('first prompt');
    const { lines } = (await whole.store.load(SESSION)) ?? { lines: [] };
    const started = lines.findIndex((line) => line.includes('"state":"started"') && line.includes('"t1"'));
    const store = createMemoryStore();
    await store.append({ sessionId: SESSION, cwd: whole.cwd }, lines.slice(0, started + 1));
    const run = await start(['I will check.'], { store, cwd: whole.cwd, config: { ...bypass, resume: SESSION } });
    const result = run.nextResult();
    run.session.resumeTurn();
    await result;
    expect(JSON.stringify(run.model.requests[0]?.body.messages)).toMatch(/may have had its effect or not/);
  });

  it.each([true, false])('tells the hooks that it goes on; whether it may: %s', async (mayGoOn) => {
    const whole = await start(SCRIPT.slice(0, 3), { config: { ...bypass, sessionId: SESSION } });
    await whole.ask('first prompt');
    const { lines } = (await whole.store.load(SESSION)) ?? { lines: [] };
    const stepped = lines.findIndex((line) => line.includes('"kind":"step"'));
    const store = createMemoryStore();
    await store.append({ sessionId: SESSION, cwd: whole.cwd }, lines.slice(0, stepped + 1));
    const run = await start(SCRIPT.slice(1, 3), { store, cwd: whole.cwd, config: { ...bypass, resume: SESSION } });
    const told: unknown[] = [];
    await run.session.scope.hooks.attach({
      callbacks: { SessionStart: [{ hookCallbackIds: ['a'] }], SessionEnd: [{ hookCallbackIds: ['a'] }] },
      askCallback: async (_, { hook_event_name, source }) => {
        told.push([hook_event_name, source]);
        return { continue: mayGoOn };
      },
    });
    const result = run.nextResult();
    run.session.resumeTurn();
    expect(await result).toMatchObject({ subtype: mayGoOn ? 'success' : 'error_during_execution' });
    expect(run.model.requests).toHaveLength(mayGoOn ? 2 : 0);
    await run.session.close();
    expect(told).toEqual([
      ['SessionStart', 'resume'],
      ['SessionEnd', undefined],
    ]);
  });

  it('a new prompt ends the old turn: its open calls are paired, then the prompt follows', async () => {
    const whole = await start(SCRIPT.slice(0, 3), { config: { ...bypass, sessionId: SESSION } });
    await whole.ask('first prompt');
    const { lines } = (await whole.store.load(SESSION)) ?? { lines: [] };
    const stepped = lines.findIndex((line) => line.includes('"kind":"step"'));
    const store = createMemoryStore();
    await store.append({ sessionId: SESSION, cwd: whole.cwd }, lines.slice(0, stepped + 1));
    const run = await start(['ok'], { store, cwd: whole.cwd, config: { ...bypass, resume: SESSION } });
    await run.ask('something else');
    const last = run.model.requests[0]?.body.messages.at(-1);
    expect(JSON.stringify(last?.content)).toMatch(/tool_result.*not run.*something else/s);
    expect(outline(run.messages)[1]).toBe('user error t1');
  });
});

describe('sessions on disk', () => {
  const filesIn = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));

  it('resume, continue and sessionId find the same conversation; persistSession: false keeps nothing', async () => {
    const clock = stillClock();
    const first = await start(['one'], { config: { sessionId: SESSION }, clock, cwd: undefined });
    const { cwd } = first;
    const store = createFileStore({ configDir: join(cwd, 'config') });
    const again = (script: string[], config: object) => start(script, { store, cwd, clock, config });

    const a = await again(['one'], { sessionId: SESSION });
    await a.ask('remember me');
    await a.session.close();
    const b = await again(['two'], { resume: SESSION });
    await b.ask('and now');
    await b.session.close();
    expect(b.session.id).toBe(SESSION);
    expect(JSON.stringify(b.model.requests[0]?.body.messages)).toMatch(/remember me.*one.*and now/s);
    const c = await again(['three'], { continue: true });
    await c.ask('go on');
    await c.session.close();
    expect(c.session.id).toBe(SESSION);
    expect(filesIn(join(cwd, 'config'))).toHaveLength(1);
    const d = await again(['four'], { persistSession: false });
    await d.ask('secret');
    expect(filesIn(join(cwd, 'config'))).toHaveLength(1);
    await expect(again([], { sessionId: SESSION })).rejects.toMatchObject({ code: 'session_exists' });
  });

  it('F3: an unknown id is SessionNotFound', async () => {
    await expect(start([], { config: { resume: SESSION } })).rejects.toMatchObject({ code: 'session_not_found' });
  });

  it('F1: cut at every byte of its last lines, it resumes, appends and resumes again', async () => {
    const run = await start([]);
    const { cwd } = run;
    const configDir = join(cwd, 'config');
    const open = () => createFileStore({ configDir });
    const first = await start([...SCRIPT.slice(0, 1), 'done'], {
      store: open(),
      cwd,
      config: { ...bypass, sessionId: SESSION },
    });
    await first.ask('hello');
    await first.session.close();
    const path = join(configDir, 'projects', readdirSync(join(configDir, 'projects'))[0] ?? '', `${SESSION}.jsonl`);
    const bytes = readFileSync(path);
    for (let size = bytes.length; size > bytes.length - 900; size -= 7) {
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, bytes);
      truncateSync(path, size);
      const resumed = await start([{ id: 'fine', text: 'fine' }], {
        store: open(),
        cwd,
        config: { ...bypass, resume: SESSION },
      });
      expect(await resumed.ask('still there?')).toMatchObject({ result: 'fine' });
      await resumed.session.close();
      const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
      const broken = lines.filter((line) => !isJson(line));
      expect(broken.length).toBeLessThanOrEqual(1);
      const last = await start([{ id: 'good', text: 'good' }], {
        store: open(),
        cwd,
        config: { ...bypass, resume: SESSION },
      });
      expect(await last.ask('again')).toMatchObject({ result: 'good' });
      expect(JSON.stringify(last.model.requests[0]?.body.messages)).toMatch(/hello.*still there\?.*fine.*again/s);
      await last.session.close();
    }
  });

  it('a log that cannot be written is reported once, and the turn goes on', async () => {
    const store = createMemoryStore();
    store.append = () => {
      throw new Error('disk full');
    };
    const run = await start(['ok'], { store });
    expect(await run.ask('go')).toMatchObject({ result: 'ok' });
    expect(outline(run.messages).filter((line) => line === 'system/session_writes_lost')).toHaveLength(1);
  });
});

describe('append, then emit', () => {
  it('what a consumer has seen is in the store, also when the store is slow', async () => {
    const slow = createMemoryStore();
    const append = slow.append.bind(slow);
    slow.append = async (key, lines) => {
      await new Promise((resolve) => setImmediate(resolve));
      await append(key, lines);
    };
    const run = await start([...SCRIPT.slice(0, 1), 'done'], {
      store: slow,
      config: { ...bypass, sessionId: SESSION },
    });
    run.session.attach({
      deliver(message) {
        if (message.type !== 'assistant' && message.type !== 'user') return;
        void slow.load(SESSION).then((loaded) => {
          expect(loaded?.lines.some((line) => line.includes(`"uuid":"${message.uuid}"`))).toBe(true);
        });
      },
    });
    await run.ask('go');
    expect(outline(run.messages)).toEqual([
      'system/init',
      'assistant "Looking."',
      'assistant Bash({"command":"echo hi"})',
      'user ok t1',
      'assistant "done"',
      'result success turns=2',
    ]);
  });

  it('a watcher that comes back gets the durable messages behind its cursor', async () => {
    const run = await start(['one', 'two'], { config: { includePartialMessages: true } });
    await run.ask('1');
    const cursor = run.session.scope.recorder.outbox.seq;
    await run.ask('2');
    const late: string[] = [];
    run.session.attach({ deliver: (message) => late.push(...outline([message])) }, { after: cursor });
    expect(late).toEqual(['assistant "two"', 'result success turns=1']);
  });
});

describe('the chain of a log', () => {
  it('keeps to the branch of the last leaf and passes over what it does not know', () => {
    const line = (entry: object) => JSON.stringify(entry);
    const message = { role: 'user', content: 'x' };
    const chain = toChain(
      entriesOf([
        line({ type: 'summary', summary: 'foreign' }),
        line({ type: 'user', uuid: 'a', parentUuid: null, message }),
        line({ type: 'user', uuid: 'b', parentUuid: 'a', message }),
        line({ type: 'user', uuid: 'c', parentUuid: 'a', message }),
        'not json',
      ]),
    );
    expect(chain.map((entry) => ('uuid' in entry ? entry.uuid : ''))).toEqual(['a', 'c']);
    expect(nextAction(chain)).toEqual({ do: 'idle' });
  });
});

const entriesOf = (lines: readonly string[]): Entry[] => lines.map(parseEntry).filter((entry) => entry !== undefined);

/** A call that was started and not finished gets another result than in the whole run, by design. */
function endsInsideCall(lines: readonly string[]): boolean {
  const open = new Set<string>();
  for (const line of lines) {
    const entry = JSON.parse(line) as { kind?: string; state?: string; toolUseId?: string; type: string };
    if (entry.kind === 'call' && entry.state === 'started' && entry.toolUseId) open.add(entry.toolUseId);
    for (const id of line.matchAll(/"tool_use_id":"(\w+)"/g)) open.delete(id[1] ?? '');
  }
  return open.size > 0;
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
