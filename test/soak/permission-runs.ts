/** C1: the callback is called and its answer used, however the prompt is given and whatever else is there. */
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { PermissionResult, UserMessage } from '../../src/protocol/index.js';
import { createSdkMcpServer, type Options, query, tool } from '../../src/sdk/index.js';
import { createMemoryStore, createScriptedModel, lastResult, toolResult } from '../../src/testing/index.js';
import { say } from '../e2e/stage.js';
import { createRandom, type Random, runMany } from './random.js';
import { removeFolder } from '../remove-folder.js';

const PROMPTS = ['string', 'iterable', 'finished iterable'] as const;
const VERDICTS = ['allow', 'deny', 'another input'] as const;
type Verdict = (typeof VERDICTS)[number];

/** Resolves with what went wrong: nothing, in so many runs. */
export async function runPermissions(count: number, seed: number): Promise<string[]> {
  const root = mkdtempSync(join(tmpdir(), 'heddle-soak-'));
  try {
    return await runMany({ count, atOnce: 8 }, (index) =>
      runOne(join(root, String(index)), { kind: PROMPTS[index % 3] ?? 'string', random: createRandom(seed + index) }),
    );
  } finally {
    removeFolder(root);
  }
}

async function runOne(cwd: string, { kind, random }: { kind: (typeof PROMPTS)[number]; random: Random }) {
  mkdirSync(cwd);
  const verdict = random.pick(VERDICTS);
  const pause = random.pick([0, 1, 2, 3]);
  const asked: string[] = [];
  const options: Options = {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd },
    includePartialMessages: random.next() < 0.5,
    ...(random.next() < 0.5 && { mcpServers: { idle: idleServer() } }),
    heddle: {
      store: createMemoryStore(),
      provider: createScriptedModel([
        { text: 'First.', toolUse: { name: 'Bash', input: { command: 'touch original' }, id: 'call' } },
        'Done.',
      ]),
    },
    canUseTool: async (name, input, { toolUseID }) => {
      asked.push(`${name} ${String(input.command)} ${toolUseID}`);
      await wait(pause);
      return answerOf(verdict);
    },
  };
  const over = Promise.withResolvers<void>();
  const messages = [];
  for await (const message of query({ prompt: promptOf(kind, over.promise), options })) {
    messages.push(message);
    if (message.type === 'result') over.resolve();
  }
  const made = ['original', 'other'].filter((name) => existsSync(join(cwd, name))).join();
  const facts = {
    asked: asked.join(),
    made,
    failed: toolResult(messages, 'call').isError,
    denials: lastResult(messages).permission_denials.length,
    end: lastResult(messages).subtype,
  };
  const expected = {
    asked: 'Bash touch original call',
    made: verdict === 'allow' ? 'original' : verdict === 'deny' ? '' : 'other',
    failed: verdict === 'deny',
    denials: verdict === 'deny' ? 1 : 0,
    end: 'success',
  };
  const [got, wanted] = [JSON.stringify(facts), JSON.stringify(expected)];
  if (got !== wanted) throw new Error(`${kind}, ${verdict}: ${got} instead of ${wanted}`);
}

function promptOf(kind: (typeof PROMPTS)[number], over: Promise<void>): string | AsyncIterable<UserMessage> {
  if (kind === 'string') return 'Go';
  return (async function* () {
    yield say('Go');
    if (kind === 'iterable') await over;
  })();
}

function answerOf(verdict: Verdict): PermissionResult {
  if (verdict === 'deny') return { behavior: 'deny', message: 'No.' };
  return { behavior: 'allow', ...(verdict === 'another input' && { updatedInput: { command: 'touch other' } }) };
}

/** At once, in a later microtask, in a later turn of the event loop, or after a while. */
async function wait(pause: number): Promise<void> {
  if (pause === 1) await Promise.resolve();
  if (pause === 2) await new Promise((resolve) => setImmediate(resolve));
  if (pause === 3) await new Promise((resolve) => setTimeout(resolve, 5));
}

const idleServer = () =>
  createSdkMcpServer({
    name: 'idle',
    tools: [tool('nothing', 'Does nothing', { what: z.string() }, async () => ({ content: [] }))],
  });
