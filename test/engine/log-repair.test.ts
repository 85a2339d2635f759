import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileStore, createMemoryStore } from '../../src/engine/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { scratch, start } from './kit.js';

const SESSION = '99999999-2222-4333-8444-555555555559';
const bypass = { permissionMode: 'bypassPermissions' as const };

/** A session whose log holds these lines. */
async function resume(lines: readonly string[], script: readonly ScriptStep[], cwd = scratch()) {
  const store = createMemoryStore();
  await store.append({ sessionId: SESSION, cwd }, lines);
  return start(script, { store, cwd, config: { ...bypass, resume: SESSION } });
}

const line = (entry: object): string => JSON.stringify(entry);
const chain = (uuid: string, parentUuid: string | null, rest: object): string =>
  line({
    uuid,
    parentUuid,
    sessionId: SESSION,
    timestamp: '2025-01-01T00:00:00Z',
    cwd: '/',
    isSidechain: false,
    ...rest,
  });
const says = (content: unknown) => ({ type: 'user', message: { role: 'user', content } });
const answers = (id: string, content: unknown, extra: object = {}) => ({
  type: 'assistant',
  message: {
    id,
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  ...extra,
});

describe('what comes back after a resume', () => {
  it('F1: files that were read, the folder of the shell, and the model the turn fell back to', async () => {
    const overloaded = () => new HeddleError('model_overloaded', 'x', { retryable: true, data: { status: 529 } });
    const first = await start(
      [
        { toolUse: { name: 'Read', input: { file_path: 'a.txt' } } },
        { toolUse: { name: 'Bash', input: { command: 'cd sub' } } },
        { error: overloaded() },
        { error: overloaded() },
        { error: overloaded() },
        { id: 'fell', toolUse: { name: 'Bash', input: { command: 'pwd' } } },
        'never seen',
      ],
      { config: { ...bypass, sessionId: SESSION, fallbackModel: 'haiku' } },
    );
    writeFileSync(join(first.cwd, 'a.txt'), 'alpha');
    mkdirSync(join(first.cwd, 'sub'));
    let isOver = false;
    void first.ask('go').then(() => {
      isOver = true;
    });
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      // The waits of retries are short; the timers of a running command are not to be touched.
      const [soonest = Number.POSITIVE_INFINITY] = first.clock.pending;
      if (soonest < 2_000) first.clock.advance(soonest);
    }
    const { lines } = (await first.store.load(SESSION)) ?? { lines: [] };
    const cut = lines.findIndex((text) => text.includes('"messageId":"fell"'));
    const edit = { file_path: join(first.cwd, 'a.txt'), old_string: 'alpha', new_string: 'beta' };
    const again = await resume(
      lines.slice(0, cut + 1),
      [{ toolUse: { name: 'Edit', input: edit, id: 'edit' } }, 'done'],
      first.cwd,
    );
    const over = again.nextResult();
    again.session.resumeTurn();
    await over;
    expect(again.model.requests[0]?.body.model).toMatch(/haiku/);
    expect(JSON.stringify(again.model.requests[0]?.body.messages)).toContain(join(first.cwd, 'sub'));
    expect(JSON.stringify(again.model.requests[1]?.body.messages)).toContain('updated successfully');
  });

  it('a call that was not started when the turn was interrupted never runs, wherever the log is cut', async () => {
    const started = Promise.withResolvers<void>();
    const slow = {
      name: 'Slow',
      description: 'waits',
      inputSchema: { type: 'object' },
      parse: () => ({}),
      isReadOnly: () => false,
      run: (_: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
          started.resolve();
        }),
    };
    const calls = ['t1', 't2'].map((id) => ({ name: 'Slow', input: {}, id }));
    const first = await start([{ toolUse: calls }], { tools: [slow], config: { ...bypass, sessionId: SESSION } });
    const result = first.ask('go');
    await started.promise;
    first.session.interrupt();
    await result;
    const { lines } = (await first.store.load(SESSION)) ?? { lines: [] };
    const from = lines.findIndex((text) => text.includes('"state":"interrupted"'));
    expect(from).toBeGreaterThan(0);
    for (let cut = from + 1; cut <= lines.length; cut += 1) {
      const again = await resume(lines.slice(0, cut), ['next'], first.cwd);
      again.session.resumeTurn();
      expect(again.session.busy).toBe(false);
      await again.ask('hi');
      const sent = JSON.stringify(again.model.requests[0]?.body.messages);
      for (const id of ['t1', 't2']) expect(sent.split(`"tool_use_id":"${id}"`)).toHaveLength(2);
    }
  });
});

describe('logs that others wrote, or that are damaged', () => {
  it('answers that another program appended after ours stay in the conversation', async () => {
    const ours = await start(['from us'], { config: { sessionId: SESSION } });
    await ours.ask('one');
    const { lines } = (await ours.store.load(SESSION)) ?? { lines: [] };
    const leaf = JSON.parse(lines.findLast((text) => text.includes('from us')) ?? '{}') as { uuid: string };
    const foreign = [
      chain('f1', leaf.uuid, says('two')),
      chain('f2', 'f1', answers('theirs', [{ type: 'tool_use', id: 'x', name: 'Bash', input: {} }])),
      chain('f3', 'f2', says([{ type: 'tool_result', tool_use_id: 'x', content: 'done' }])),
      chain('f4', 'f3', answers('theirs2', 'as a string')),
    ];
    const again = await resume([...lines, ...foreign], ['ok'], ours.cwd);
    await again.ask('three');
    const sent = JSON.stringify(again.model.requests[0]?.body.messages);
    expect(sent).toMatch(/one.*from us.*two.*"id":"x".*done.*as a string.*three/s);
  });

  it('a damaged line loses itself alone', async () => {
    const lines = [
      chain('a', null, says('first')),
      'not json at all',
      chain('c', 'b', says('third')),
      chain('d', 'c', { type: 'user', message: null }),
      line({ type: 'heddle', kind: 'step', messageId: 'x' }),
      line({ type: 'heddle' }),
      line({ type: 'summary', whatever: 1 }),
    ];
    const again = await resume(lines, ['ok']);
    await again.ask('last');
    expect(JSON.stringify(again.model.requests[0]?.body.messages)).toMatch(/first.*third.*last/s);
  });

  it.each([
    ['empty', []],
    ['garbage', ['\u0000\u0001', '{"type":']],
    ['a newer format', [line({ type: 'heddle', kind: 'session', format: 99 }), chain('a', null, says('x'))]],
  ])('H1: %s is a typed error', async (_, lines) => {
    await expect(resume(lines, [])).rejects.toMatchObject({ code: 'session_unreadable' });
  });

  it('continue goes on with a session of this very folder', async () => {
    const root = scratch();
    const store = createFileStore({ configDir: join(root, 'config') });
    for (const name of ['x.y', 'x-y']) mkdirSync(join(root, name));
    const there = await start(['theirs'], { store, cwd: join(root, 'x.y') });
    await there.ask('secret of x.y');
    const here = await start(['mine'], { store, cwd: join(root, 'x-y'), config: { continue: true } });
    expect(here.session.id).not.toBe(there.session.id);
  });
});
