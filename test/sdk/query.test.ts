import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/engine/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import type { Message } from '../../src/protocol/index.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { type Options, query } from '../../src/sdk/index.js';
import { collect, lastResult, startFakeApi } from '../../src/testing/index.js';
import { outline, PATH_ENV, scratch, stillClock, user } from '../engine/kit.js';

function scripted(script: readonly ScriptStep[], options: Options = {}): Options & { model: string } {
  const heddle = { provider: createScriptedModel(script), store: createMemoryStore(), ...options.heddle };
  return { cwd: scratch(), env: PATH_ENV, model: 'sonnet', ...options, heddle };
}

describe('query() in-process', () => {
  it('answers a string prompt and ends', async () => {
    const messages = await collect(query({ prompt: 'Hi', options: scripted(['Hello.']) }));
    expect(outline(messages)).toEqual(['system/init', 'assistant "Hello."', 'result success turns=1']);
  });

  it('takes an iterable prompt, one result per message', async () => {
    const prompts = (async function* () {
      yield user('1');
      yield user('2');
    })();
    const messages = await collect(query({ prompt: prompts, options: scripted(['one', 'two']) }));
    expect(outline(messages).filter((line) => line.startsWith('result'))).toHaveLength(2);
  });

  it.each(['string', 'iterable', 'finished iterable'])(
    'C1: calls canUseTool and uses its answer (%s prompt)',
    async (kind) => {
      const done = Promise.withResolvers<void>();
      const iterable = (async function* () {
        yield user('go');
        if (kind === 'iterable') await done.promise;
      })();
      const options = scripted([{ toolUse: { name: 'Bash', input: { command: 'touch made' } } }, 'ok'], {
        canUseTool: async (name, input, { toolUseID }) => {
          expect([name, input, toolUseID]).toEqual(['Bash', { command: 'touch made' }, 'toolu_1']);
          return { behavior: 'allow' };
        },
      });
      const run = query({ prompt: kind === 'string' ? 'go' : iterable, options });
      const messages: Message[] = [];
      for await (const message of run) {
        messages.push(message);
        if (message.type === 'result') done.resolve();
      }
      expect(existsSync(join(options.cwd ?? '', 'made'))).toBe(true);
      expect(lastResult(messages).permission_denials).toEqual([]);
    },
  );

  it('C3: a callback that changes its input changes nothing that runs', async () => {
    const options = scripted([{ toolUse: { name: 'Bash', input: { command: 'touch judged' } } }, 'ok'], {
      canUseTool: async (_, input) => {
        input.command = 'touch smuggled';
        return { behavior: 'allow' };
      },
    });
    await collect(query({ prompt: 'go', options }));
    expect(existsSync(join(options.cwd ?? '', 'judged'))).toBe(true);
    expect(existsSync(join(options.cwd ?? '', 'smuggled'))).toBe(false);
  });

  it('C2: an answer of the wrong shape denies, and is thrown in the host with the path of the field', async () => {
    const options = scripted([{ toolUse: { name: 'Bash', input: { command: 'touch x' } } }, 'ok'], {
      canUseTool: async () => ({ behavior: 'perhaps' }) as never,
    });
    await expect(collect(query({ prompt: 'go', options }))).rejects.toMatchObject({
      code: 'invalid_answer',
      data: { path: 'behavior' },
    });
    expect(existsSync(join(options.cwd ?? '', 'x'))).toBe(false);
  });

  it.each([5, { foo: 1 }, { type: 'user', message: { role: 'user', content: 7 } }])(
    'H1: an item of an iterable prompt that is no user message is a typed error: %j',
    async (item) => {
      const prompts = (async function* () {
        yield item as never;
        yield user('fine');
      })();
      await expect(collect(query({ prompt: prompts, options: scripted(['ok']) }))).rejects.toMatchObject({
        code: 'invalid_frame',
      });
    },
  );

  it.each([undefined, null, 5, {}])('H1: a prompt that is %j is a typed error', (prompt) => {
    expect(() => query({ prompt: prompt as never })).toThrow(expect.objectContaining({ code: 'invalid_config' }));
  });

  it('a consumer that changes a message changes nothing of the conversation', async () => {
    const model = createScriptedModel([{ toolUse: { name: 'Bash', input: { command: 'echo hi' } } }, 'ok']);
    const options = scripted([], { permissionMode: 'acceptEdits', heddle: { provider: model } });
    for await (const message of query({ prompt: 'go', options })) {
      if (message.type === 'assistant') message.message.content.length = 0;
    }
    expect(JSON.stringify(model.requests[1]?.body.messages)).toContain('echo hi');
  });

  it('steers: interrupt, model, mode and thinking at runtime', async () => {
    const never = new Promise<never>(() => {});
    const model = createScriptedModel([{ text: 'a b', deltas: 2, waitFor: never, pauseAfterDeltas: 1 }, 'second']);
    const more = Promise.withResolvers<void>();
    const prompts = (async function* () {
      yield user('1');
      await more.promise;
      yield user('2');
    })();
    const options = scripted([], { includePartialMessages: true, heddle: { provider: model } });
    const run = query({ prompt: prompts, options });
    let interrupted = false;
    for await (const message of run) {
      if (message.type === 'stream_event' && message.event.type === 'content_block_delta' && !interrupted) {
        interrupted = true;
        await run.interrupt();
      }
      if (message.type === 'result' && message.subtype === 'error_during_execution') {
        await run.setModel('haiku');
        await run.setPermissionMode('acceptEdits');
        await run.setMaxThinkingTokens(100_000);
        more.resolve();
      }
    }
    const { body } = model.requests[1] ?? {};
    expect(body?.model).toMatch(/haiku/);
    expect(body?.thinking).toEqual({ type: 'enabled', budget_tokens: 31_999 });
    expect(await run.supportedModels()).toContainEqual(expect.objectContaining({ value: 'sonnet' }));
  });

  it('throws typed errors for what cannot be: no provider, unknown session, unknown option, missing folder', async () => {
    const bare = { cwd: scratch(), env: PATH_ENV };
    await expect(collect(query({ prompt: 'x', options: bare }))).rejects.toMatchObject({
      code: 'no_provider',
      hint: expect.stringContaining('ANTHROPIC_API_KEY'),
    });
    const resume = '00000000-0000-4000-8000-000000000000';
    await expect(collect(query({ prompt: 'x', options: scripted([], { resume }) }))).rejects.toMatchObject({
      code: 'session_not_found',
    });
    expect(() => query({ prompt: 'x', options: { bogus: 1 } as Options })).toThrow(HeddleError);
    await expect(
      collect(query({ prompt: 'x', options: scripted([], { cwd: '/no/such/folder' }) })),
    ).rejects.toMatchObject({
      code: 'invalid_config',
    });
  });

  it('B1: abort, break and a throwing consumer leave nothing behind', async () => {
    const never = new Promise<never>(() => {});
    const abortController = new AbortController();
    const clock = stillClock();
    const hanging = () => scripted([{ text: 'x', waitFor: never }], { abortController, heddle: { clock } });
    const aborted = query({ prompt: 'x', options: hanging() });
    await aborted.next();
    abortController.abort();
    await expect(aborted.next()).rejects.toMatchObject({ name: 'AbortError' });
    expect(await aborted.next()).toEqual({ value: undefined, done: true });

    const broken = query({ prompt: 'x', options: { ...hanging(), abortController: new AbortController() } });
    for await (const message of broken) if (message.type === 'system') break;
    expect(await broken.next()).toMatchObject({ done: true });

    const failing = (async () => {
      for await (const _ of query({ prompt: 'x', options: { ...hanging(), abortController: new AbortController() } })) {
        throw new Error('mine');
      }
    })();
    await expect(failing).rejects.toThrow('mine');
    await new Promise((resolve) => setImmediate(resolve));
    expect(clock.pending).toEqual([]);
  });

  it('an iterable prompt that throws ends the query with its error', async () => {
    const prompts = (async function* () {
      yield user('1');
      throw new Error('broken input');
    })();
    await expect(collect(query({ prompt: prompts, options: scripted(['one']) }))).rejects.toThrow('broken input');
  });

  it('B4: a consumer that sleeps 90 s in mid-stream sees no stall and loses nothing', async () => {
    const text = Array.from({ length: 400 }, (_, index) => `word${index} `).join('');
    const api = await startFakeApi([{ text, deltas: 400 }]);
    const clock = stillClock();
    try {
      const options: Options = {
        cwd: scratch(),
        env: { ...PATH_ENV, ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: api.url },
        includePartialMessages: true,
        heddle: { clock, store: createMemoryStore() },
      };
      let streamed = '';
      let slept = false;
      const messages: Message[] = [];
      for await (const message of query({ prompt: 'long', options })) {
        messages.push(message);
        if (message.type !== 'stream_event' || message.event.type !== 'content_block_delta') continue;
        if (message.event.delta.type === 'text_delta') streamed += message.event.delta.text;
        if (slept) continue;
        slept = true;
        clock.advance(90_000);
      }
      expect(streamed).toBe(text);
      expect(outline(messages).filter((line) => line.startsWith('system'))).toEqual(['system/init']);
      expect(lastResult(messages)).toMatchObject({ subtype: 'success', result: text });
    } finally {
      await api.close();
    }
  });

  it('E7: fifty sessions at once with their own cwd, env and key see nothing of each other', async () => {
    const count = 50;
    const call = { toolUse: { name: 'Bash', input: { command: 'pwd; echo $WHO; env' } } };
    const api = await startFakeApi([(request) => (request.body.messages.length === 1 ? call : 'done')], {
      repeatLast: true,
    });
    try {
      const runs = Array.from({ length: count }, async (_, index) => {
        const cwd = join(scratch(), `folder-${index}`);
        mkdirSync(cwd);
        const env = {
          IS_SANDBOX: '1',
          PATH: PATH_ENV.PATH,
          WHO: `who-${index}-`,
          ANTHROPIC_API_KEY: `key-${index}-`,
          ANTHROPIC_BASE_URL: api.url,
        };
        const options: Options = {
          cwd,
          env,
          permissionMode: 'bypassPermissions',
          allowDangerouslySkipPermissions: true,
          heddle: { store: createMemoryStore() },
        };
        const messages = await collect(query({ prompt: `I am prompt-${index}-`, options }));
        expect(lastResult(messages)).toMatchObject({ subtype: 'success', result: 'done' });
        return JSON.stringify(messages);
      });
      const outputs = await Promise.all(runs);
      outputs.forEach((output, index) => {
        expect(output).toContain(`folder-${index}`);
        for (const kind of ['who', 'prompt']) {
          const names = new Set([...output.matchAll(new RegExp(`${kind}-(\\d+)-`, 'g'))].map((found) => found[1]));
          expect([...names].filter((name) => name !== String(index))).toEqual([]);
        }
        expect(output).toContain(`who-${index}-`);
        expect(output).not.toMatch(/key-\d+-/);
      });
      expect(api.requests).toHaveLength(2 * count);
      for (const request of api.requests) {
        const who = /prompt-(\d+)-/.exec(JSON.stringify(request.body.messages))?.[1];
        expect(request.headers['x-api-key']).toBe(`key-${who}-`);
        const mentioned = new Set([...JSON.stringify(request.body).matchAll(/folder-(\d+)/g)].map((found) => found[1]));
        expect([...mentioned]).toEqual([who]);
      }
    } finally {
      await api.close();
    }
  });
});
