import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../src/protocol/index.js';
import { start, user } from '../engine/kit.js';
import { linesOf, storeWith } from './kit.js';

const lifeOf = (messages: readonly Message[], uuid: string): string[] =>
  messages.flatMap((message) =>
    message.type === 'command_lifecycle' && message.command_uuid === uuid ? [message.state] : [],
  );

describe('G2: the queue', () => {
  it('tells by uuid that a message waits, starts and is done', async () => {
    const run = await start(['one', 'two']);
    const [first, second] = [randomUUID(), randomUUID()];
    const both = run.nextResult().then(() => run.nextResult());
    run.session.submit(user('a', { uuid: first }));
    run.session.submit(user('b', { uuid: second }));
    await both;
    expect(lifeOf(run.messages, first)).toEqual(['queued', 'started', 'completed']);
    expect(lifeOf(run.messages, second).slice(0, 2)).toEqual(['queued', 'started']);
  });

  it('tells after a crash which messages were lost with it, once', async () => {
    const asked = Promise.withResolvers<void>();
    const run = await start([{ toolUse: { id: 't1', name: 'Bash', input: { command: 'touch x' } } }], {
      ask: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const lost = randomUUID();
    run.session.submit(user('a', { uuid: randomUUID() }));
    run.session.submit(user('b', { uuid: lost }));
    await asked.promise;
    const key = { sessionId: run.session.id, cwd: run.cwd };
    const store = await storeWith(key, await linesOf(run));
    const again = await start(['ok', 'ok'], { store, cwd: run.cwd, config: { resume: key.sessionId } });
    await again.ask('c');
    await again.ask('d');
    expect(lifeOf(again.messages, lost)).toEqual(['dropped']);
    await run.session.close();
  });
});
