import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/engine/index.js';
import type { PublicSessionStore, SDKMessage } from '../../src/sdk/index.js';
import { InMemorySessionStore, type Options, query } from '../../src/sdk/index.js';
import { createScriptedModel } from '../../src/testing/index.js';
import { PATH_ENV, scratch } from '../engine/kit.js';

async function run(answers: string[], options: Options) {
  const provider = createScriptedModel(answers);
  const messages: SDKMessage[] = [];
  for await (const message of query({ prompt: 'hi', options: { ...options, heddle: { provider } } })) {
    messages.push(message);
  }
  return { messages, provider, id: messages.find((message) => message.type === 'result')?.session_id ?? '' };
}

const place = () => ({ cwd: scratch(), env: { ...PATH_ENV, HEDDLE_CONFIG_DIR: scratch() } });

describe('sessionStore', () => {
  it.each([[{}], [5], [null], ['file']])('%j is refused before anything is asked', async (given) => {
    const sessionStore = given as unknown as PublicSessionStore;
    await expect(run(['apples'], { ...place(), sessionStore })).rejects.toMatchObject({ code: 'invalid_config' });
  });

  it('of the public shape gets a copy, from which another machine resumes', async () => {
    const sessionStore = new InMemorySessionStore();
    const here = place();
    const first = await run(['apples'], { ...here, sessionStore });
    expect(sessionStore.size).toBe(1);
    const elsewhere = { ...here, env: { ...PATH_ENV, HEDDLE_CONFIG_DIR: scratch() } };
    const second = await run(['pears'], { ...elsewhere, sessionStore, resume: first.id });
    expect(second.id).toBe(first.id);
    expect(JSON.stringify(second.provider.requests[0]?.body.messages)).toContain('apples');
  });

  it('of ours is used as it is', async () => {
    const sessionStore = createMemoryStore();
    const { id } = await run(['apples'], { ...place(), sessionStore });
    expect((await sessionStore.load(id))?.lines.length).toBeGreaterThan(3);
  });

  it('that refuses is told of, and the run goes on', async () => {
    const sessionStore: PublicSessionStore = {
      append: () => Promise.reject(new Error('no room')),
      load: async () => null,
    };
    const { messages } = await run(['apples'], { ...place(), sessionStore });
    expect(messages.find((message) => message.type === 'result')).toMatchObject({ subtype: 'success' });
    expect(messages.filter((message) => message.type === 'system' && message.subtype === 'mirror_error')).not.toEqual(
      [],
    );
  });

  it('is refused where the engine is not in this process', async () => {
    const options = {
      ...place(),
      sessionStore: new InMemorySessionStore(),
      heddle: { carrier: 'subprocess' as const },
    };
    const consume = async () => {
      for await (const _ of query({ prompt: 'hi', options })) void _;
    };
    await expect(consume()).rejects.toThrow('sessionStore works only with an engine in this process');
  });
});
