/** WebSockets that drop: in the middle of a call, a question, a frame; for a moment, or for good. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Message } from '../../src/protocol/index.js';
import { createSdkMcpServer, type Options, tool } from '../../src/sdk/index.js';
import { collect, type FakeAnswer, lastResult, type ScriptStep, transcript } from '../../src/testing/index.js';
import { type ChaosOptions, type ChaosProxy, startChaosProxy } from '../wire/chaos-proxy.js';
import { createHastyClock } from './hasty-clock.js';
import { bash, call } from './scenarios/answers.js';
import { createStage, isAlive, type Stage, type StageOptions, until } from './stage.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean();
});

const NEVER = new Promise<never>(() => {});

interface Lossy extends Partial<Pick<StageOptions, 'graceMs'>> {
  cutAfter?: ChaosOptions['cutAfter'];
}

/** A stage with a line to its server that can be cut. */
async function start(script: readonly ScriptStep<FakeAnswer>[], { cutAfter, ...options }: Lossy = {}) {
  let proxy: ChaosProxy | undefined;
  const stage = await createStage({
    carrier: 'websocket',
    script,
    ...options,
    via: async (target) => {
      proxy = await startChaosProxy({ target, ...(cutAfter && { cutAfter }) });
      return proxy.url;
    },
  });
  if (proxy === undefined) throw new Error('nobody asked for a proxy');
  const line = proxy;
  cleanups.push(
    () => line.close(),
    () => stage.close(),
  );
  return { stage, line };
}

/** Cuts the line, and resolves when the client is back. */
async function cut(line: ChaosProxy): Promise<void> {
  const back = line.nextSocket();
  line.cut();
  await back;
}

/** The logs of all sessions. */
const logOf = (stage: Stage): string =>
  readdirSync(join(stage.root, 'config'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => readFileSync(join(stage.root, 'config', name), 'utf8'))
    .join('');

const allow = async () => ({ behavior: 'allow' as const });
const pidFrom = async (stage: Stage): Promise<number> => {
  const file = join(stage.cwd, 'pid');
  await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
  return Number(readFileSync(file, 'utf8'));
};

describe('a socket that drops for a moment: nothing is lost, nothing comes twice', () => {
  it('in the middle of a call to a tool of the client', async () => {
    const { stage, line } = await start([call('mcp__loom__weave', { rows: 3 }), 'Woven.']);
    let calls = 0;
    const loom = createSdkMcpServer({
      name: 'loom',
      tools: [
        tool('weave', 'Weaves', { rows: z.number() }, async ({ rows }) => {
          calls += 1;
          await cut(line);
          return { content: [{ type: 'text', text: `${rows} rows` }] };
        }),
      ],
    });
    const messages = await stage.run('Go', { mcpServers: { loom }, canUseTool: allow });
    expect(transcript(messages).split('\n')).toEqual([
      'system/init',
      'assistant mcp__loom__weave({"rows":3})',
      'user ok toolu_1 "3 rows"',
      'assistant "Woven."',
      'result success turns=2',
    ]);
    expect([calls, line.accepted, stage.notes]).toEqual([1, 2, []]);
  });

  it('in the middle of a question: it is put once, and its answer is used (C1)', async () => {
    const { stage, line } = await start([bash('touch made'), 'Done.']);
    let asked = 0;
    const messages = await stage.run('Go', {
      canUseTool: async () => {
        asked += 1;
        await cut(line);
        return { behavior: 'allow' };
      },
    });
    expect(lastResult(messages)).toMatchObject({ subtype: 'success', permission_denials: [] });
    expect([asked, existsSync(join(stage.cwd, 'made'))]).toEqual([1, true]);
  });

  it('while a question is open and nobody is connected: the answer waits for the line', async () => {
    const { stage, line } = await start([bash('touch made'), 'Done.']);
    const messages = await stage.run('Go', {
      canUseTool: async () => {
        line.refuse(true);
        const tried = line.nextSocket();
        line.cut();
        await tried;
        setImmediate(() => line.refuse(false));
        return { behavior: 'allow' };
      },
    });
    expect(lastResult(messages)).toMatchObject({ subtype: 'success', permission_denials: [] });
    expect(existsSync(join(stage.cwd, 'made'))).toBe(true);
  });

  it('in the middle of control requests: each is answered', async () => {
    const { stage, line } = await start([{ text: 'x y', deltas: 2, waitFor: NEVER, pauseAfterDeltas: 1 }]);
    const messages = await stage.run('Go', { includePartialMessages: true }, async (message, run) => {
      if (message.type !== 'stream_event' || message.event.type !== 'content_block_delta') return;
      const answers = [run.setModel('haiku'), run.mcpServerStatus(), run.supportedModels(), run.interrupt()];
      await cut(line);
      expect(await Promise.all(answers)).toEqual([undefined, [], expect.any(Array), undefined]);
    });
    expect(lastResult(messages)).toMatchObject({ subtype: 'error_during_execution', is_error: false });
  });

  it('in the middle of frames, again and again: every delta arrives once and in order', async () => {
    const text = Array.from({ length: 3_000 }, (_, index) => `word${index} `).join('');
    // Each socket carries some more than the one before, so that the run comes to its end.
    const { stage, line } = await start([{ text, deltas: 600, eventsPerWrite: 20 }], {
      cutAfter: (socket) => 3_000 * socket ** 2 + 17,
    });
    let streamed = '';
    const messages = await stage.run('Go', { includePartialMessages: true }, (message) => {
      if (message.type !== 'stream_event' || message.event.type !== 'content_block_delta') return;
      if (message.event.delta.type === 'text_delta') streamed += message.event.delta.text;
    });
    expect(streamed).toBe(text);
    expect(lastResult(messages)).toMatchObject({ subtype: 'success', result: text });
    expect(line.accepted).toBeGreaterThan(2);
  });
});

describe('a socket that drops for good', () => {
  const lost = {
    code: 'channel_closed',
    retryable: true,
    message: expect.stringMatching(/^The WebSocket to ws:.* was lost and could not be opened again within 30 s/),
  };

  it('B4: the client gives up after 30 s, here a hundred times as fast; whoever waits is told; no timer is left', async () => {
    const clock = createHastyClock();
    const { stage, line } = await start([bash('echo $$ > pid; sleep 60 & wait')], { graceMs: 10 });
    const started = stage.start('Go', { canUseTool: allow, heddle: { clock } });
    const seen: Message[] = [];
    const consuming = (async () => {
      for await (const message of started) seen.push(message);
    })();
    const pid = await pidFrom(stage);
    clock.hurry(100);
    line.refuse(true);
    line.cut();
    const waiting = started.setModel('haiku');
    await expect(waiting).rejects.toMatchObject(lost);
    await expect(consuming).rejects.toMatchObject(lost);
    expect(seen.map(({ type }) => type)).toEqual(['system', 'assistant']);
    await until(() => clock.timers === 0);
    // The session of a client that stays away is closed, and what it ran is ended.
    await until(() => !isAlive(pid));
  });

  it('C3: with an open question: the callback is told that nobody waits any more, and the call does not run', async () => {
    const clock = createHastyClock();
    const { stage, line } = await start([bash('touch made')], { graceMs: 10 });
    const aborted = Promise.withResolvers<void>();
    const options: Options = {
      heddle: { clock },
      canUseTool: (_, __, { signal }) => {
        signal.addEventListener('abort', () => aborted.resolve());
        clock.hurry(100);
        line.refuse(true);
        line.cut();
        return NEVER;
      },
    };
    await expect(collect(stage.start('Go', options))).rejects.toMatchObject(lost);
    await aborted.promise;
    await until(() => logOf(stage).includes('"is_error":true'));
    expect(existsSync(join(stage.cwd, 'made'))).toBe(false);
  });

  it('a server that closes says so, also in the middle of a question', async () => {
    const { stage } = await start([bash('touch made')]);
    const asked = Promise.withResolvers<void>();
    const consuming = collect(
      stage.start('Go', {
        canUseTool: () => {
          asked.resolve();
          return NEVER;
        },
      }),
    );
    consuming.catch(() => {});
    await asked.promise;
    await stage.closeServer();
    await expect(consuming).rejects.toMatchObject({ code: 'channel_closed', message: 'The server was closed.' });
  });

  it('the session that was lost can be resumed over a new socket', async () => {
    const clock = createHastyClock();
    const { stage, line } = await start(['One.', { text: 'x', waitFor: NEVER }, 'Three.'], { graceMs: 10 });
    const [first] = await stage.run('1');
    const resume = first && 'session_id' in first ? String(first.session_id) : '';
    await stage.run('2', { resume, heddle: { clock } }, async (message) => {
      if (message.type !== 'system') return;
      await stage.api.received(2);
      clock.hurry(100);
      line.refuse(true);
      line.cut();
    });
    line.refuse(false);
    await stage.api.disconnected();
    const messages = await stage.run('3', { resume });
    expect(transcript(messages).split('\n')).toEqual(['system/init', 'assistant "Three."', 'result success turns=1']);
    expect(JSON.stringify(stage.api.requests[2]?.body.messages)).toContain('One.');
    expect(stage.notes).toEqual([expect.stringMatching(/^the query threw channel_closed: .*was lost/)]);
  });
});

describe('a server that cannot be had', () => {
  it('is not there', async () => {
    const { stage, line } = await start([]);
    await line.close();
    await stage.run('Go');
    expect(stage.notes).toEqual([
      expect.stringMatching(/^the query threw channel_closed: No WebSocket to ws:.*REFUSED/),
    ]);
  });

  it('does not know the token', async () => {
    const { stage, line } = await start([]);
    await stage.run('Go', { heddle: { carrier: { url: line.url, token: 'wrong' } } });
    expect(stage.notes).toEqual([
      expect.stringMatching(/^the query threw invalid_config: .* refused the WebSocket with status 401: The token/),
    ]);
  });

  it('has an address that is none', async () => {
    const { stage } = await start([]);
    await stage.run('Go', { heddle: { carrier: { url: 'ftp://127.0.0.1' } } });
    expect(stage.notes).toEqual([
      'the query threw invalid_config: The URL of a WebSocket must begin with ws:// or wss://.',
    ]);
  });
});
