/** Consumers that throw, leave or never read, over every carrier: no hang, no orphan, nothing left (B1). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Message } from '../../src/protocol/index.js';
import { collect } from '../../src/testing/index.js';
import { ensureBuilt } from '../cli/run-cli.js';
import { bash } from './scenarios/answers.js';
import {
  CARRIERS,
  type CarrierName,
  createStage,
  isAlive,
  say,
  type Stage,
  type StageOptions,
  until,
  watched,
} from './stage.js';

beforeAll(ensureBuilt, 120_000);

const NEVER = new Promise<never>(() => {});
const HANGING = [{ text: 'x y', deltas: 2, waitFor: NEVER, pauseAfterDeltas: 1 }];

async function onStage(options: Omit<StageOptions, 'carrier'>, carrier: CarrierName, test: (stage: Stage) => unknown) {
  const stage = await createStage({ ...options, carrier });
  try {
    await test(stage);
  } finally {
    await stage.close();
  }
}

describe.each(CARRIERS)('over %s', (carrier) => {
  it('an iterable that throws: its error is thrown, and the engine is gone', () =>
    onStage({ script: HANGING }, carrier, async (stage) => {
      const { options, gone } = watched();
      const prompt = (async function* () {
        yield say('1');
        await stage.api.received(1);
        throw new RangeError('no more thread');
      })();
      await expect(collect(stage.start(prompt, options))).rejects.toThrow(new RangeError('no more thread'));
      await gone();
      await stage.api.disconnected();
    }));

  it('an iterable that throws before its first message', () =>
    onStage({ script: [] }, carrier, async (stage) => {
      const { options, gone } = watched();
      const prompt = (async function* () {
        await Promise.resolve();
        if (stage.cwd !== '') throw new RangeError('nothing at all');
        yield say('never');
      })();
      await expect(collect(stage.start(prompt, options))).rejects.toThrow('nothing at all');
      await gone();
    }));

  it('a consumer that breaks out in the middle of an answer', () =>
    onStage({ script: HANGING }, carrier, async (stage) => {
      const { options, gone } = watched({ includePartialMessages: true });
      const started = stage.start('Hi', options);
      for await (const message of started) if (message.type === 'stream_event') break;
      expect(await started.next()).toEqual({ done: true, value: undefined });
      await gone();
      await stage.api.disconnected();
    }));

  it('a consumer that throws gets its own error back', () =>
    onStage({ script: HANGING }, carrier, async (stage) => {
      const { options, gone } = watched();
      const consuming = (async () => {
        for await (const _ of stage.start('Hi', options)) throw new Error('mine');
      })();
      await expect(consuming).rejects.toThrow('mine');
      await gone();
      await stage.api.disconnected();
    }));

  it('an abort in the middle of a tool ends its processes too', () =>
    onStage({ script: [bash('echo $$ > pid; sleep 60 & wait')] }, carrier, async (stage) => {
      const abortController = new AbortController();
      const { options, gone } = watched({ abortController, canUseTool: async () => ({ behavior: 'allow' }) });
      const file = join(stage.cwd, 'pid');
      const seen: Message[] = [];
      const consuming = (async () => {
        for await (const message of stage.start('Hi', options)) seen.push(message);
      })();
      await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
      const pid = Number(readFileSync(file, 'utf8'));
      abortController.abort(new Error('enough'));
      await expect(consuming).rejects.toMatchObject({ name: 'AbortError', code: 'aborted' });
      expect(seen.map(({ type }) => type)).toEqual(['system', 'assistant']);
      await gone();
      await until(() => !isAlive(pid));
    }));

  it('an abort before anything has started', () =>
    onStage({ script: [] }, carrier, async (stage) => {
      const { options, gone } = watched({ abortController: new AbortController() });
      options.abortController?.abort();
      await expect(collect(stage.start('Hi', options))).rejects.toMatchObject({ name: 'AbortError' });
      await gone();
    }));

  it.each(['never reads', 'breaks out', 'throws', 'closes at once'])('a program that %s ends by itself', (kind) =>
    onStage({ script: kind === 'never reads' ? ['Hello.'] : HANGING }, carrier, async (stage) => {
      const { heddle, ...options } = stage.optionsFor();
      const program = spawn(process.execPath, [fileURLToPath(new URL('consumer.mjs', import.meta.url))], {
        env: { PATH: process.env.PATH, CONSUMER: kind, OPTIONS: JSON.stringify({ ...options, heddle }) },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let printed = '';
      program.stdout.setEncoding('utf8').on('data', (text: string) => void (printed += text));
      const [code] = (await once(program, 'close')) as [number | null];
      expect([code, printed]).toEqual(kind === 'throws' ? [0, 'thrown'] : [0, '']);
      if (kind === 'never reads') stage.api.assertDone();
      else await stage.api.disconnected();
    }),
  );
});
