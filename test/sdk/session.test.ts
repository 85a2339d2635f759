import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/engine/index.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import {
  type SDKSessionOptions,
  startup,
  unstable_v2_createSession,
  unstable_v2_prompt,
  unstable_v2_resumeSession,
} from '../../src/sdk/index.js';
import { outline, PATH_ENV, scratch, stillClock } from '../engine/kit.js';

function options(script: string[], extra: Partial<SDKSessionOptions> = {}): SDKSessionOptions {
  const heddle = { provider: createScriptedModel(script), store: createMemoryStore(), ...extra.heddle };
  return { model: 'sonnet', cwd: scratch(), env: PATH_ENV, ...extra, heddle };
}

describe('the V2 session', () => {
  it('sends and streams turn by turn, and knows its id', async () => {
    await using session = unstable_v2_createSession(options(['one', 'two']));
    expect(() => session.sessionId).toThrow(/no id before/);
    const lines: string[] = [];
    for (const prompt of ['1', '2']) {
      await session.send(prompt);
      for await (const message of session.stream()) lines.push(...outline([message]));
    }
    expect(lines.filter((line) => line.startsWith('assistant'))).toEqual(['assistant "one"', 'assistant "two"']);
    expect(session.sessionId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('resumes', async () => {
    const store = createMemoryStore();
    const cwd = scratch();
    const first = unstable_v2_createSession(options(['one'], { cwd, heddle: { store } }));
    await first.send('remember');
    for await (const _ of first.stream());
    first.close();
    const provider = createScriptedModel(['two']);
    const second = unstable_v2_resumeSession(first.sessionId, options([], { cwd, heddle: { store, provider } }));
    expect(second.sessionId).toBe(first.sessionId);
    await second.send('again');
    for await (const _ of second.stream());
    second.close();
    expect(JSON.stringify(provider.requests[0]?.body.messages)).toContain('remember');
  });

  it('prompt gives one result; a closed session takes nothing more', async () => {
    expect(await unstable_v2_prompt('hi', options(['hello']))).toMatchObject({ subtype: 'success', result: 'hello' });
    const session = unstable_v2_createSession(options(['x']));
    session.close();
    await expect(session.send('late')).rejects.toMatchObject({ code: 'channel_closed' });
  });
});

describe('startup()', () => {
  it('starts an engine that waits for one prompt', async () => {
    await using warm = await startup({ options: options(['hello']) });
    const lines: string[] = [];
    for await (const message of warm.query('hi')) lines.push(...outline([message]));
    expect(lines).toEqual(['system/init', 'assistant "hello"', 'result success turns=1']);
    expect(() => warm.query('again')).toThrow(/already/);
  });

  it('can be thrown away unused, and leaves no timer', async () => {
    const clock = stillClock();
    const warm = await startup({ options: options([], { heddle: { clock } }) });
    warm.close();
    expect(clock.pending).toEqual([]);
  });
});
