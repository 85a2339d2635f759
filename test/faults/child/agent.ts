/** A process that runs one agent on a store of files. `argv`: an order as JSON. It tells what happens, line by line. */
import { appendFileSync, cpSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptAnswer } from '../../../src/engine/model/script-step.js';
import { createScriptedModel } from '../../../src/engine/model/scripted.js';
import { createFileStore } from '../../../src/engine/stores/file-store.js';
import type { ModelRequest, SessionStore, Tool, UserMessage } from '../../../src/protocol/index.js';
import { HeddleError } from '../../../src/protocol/plain.js';
import { type Options, query } from '../../../src/sdk/index.js';
import { callsOf } from '../pairs.js';
import type { AgentOrder, Said } from './order.js';

const order = JSON.parse(process.argv[2] ?? '{}') as AgentOrder;
const { cwd, configDir, sessionId, plan } = order;

/** Synchronous, so that what was said is said even if the next thing is a kill. */
const tell = (said: Said): void => void writeSync(1, `${JSON.stringify(said)}\n`);

function pass(point: string): void {
  if (point !== order.stopAt) return;
  tell({ at: point });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Stops before and after lines of the log. */
function traced(store: SessionStore): SessionStore {
  return {
    ...store,
    append(key, lines, options) {
      const names = lines.map(nameOf);
      for (const name of names) pass(`before ${name}`);
      const written = store.append(key, lines, options);
      for (const name of names) pass(`after ${name}`);
      return written;
    },
  };
}

function nameOf(line: string): string {
  const { kind, state, type } = JSON.parse(line) as Record<string, string | undefined>;
  if (line.includes('"type":"tool_result"')) return 'result';
  return kind === 'call' ? (state ?? '') : [kind ?? type, state].filter(Boolean).join(' ');
}

/** Its effect can be counted: one letter for each run. */
const count: Tool = {
  name: 'Count',
  description: 'Counts',
  inputSchema: { type: 'object' },
  isReadOnly: () => false,
  async run(input) {
    pass('before effect');
    appendFileSync(join(cwd, `count-${String(input.name)}`), 'x');
    pass('after effect');
    return { content: 'counted' };
  },
};

const FILES = 36;

/** What the model says follows from what it is told, so that any process may go on with it. */
function decide({ body: { messages } }: ModelRequest): ScriptAnswer {
  tell({ request: [...messages] });
  const id = crypto.randomUUID();
  const called = messages.flatMap(callsOf).length;
  if (plan === 'files') {
    if (called >= FILES) return { id, text: 'All written.' };
    return { id, text: `Number ${called}.`, toolUse: [called, called + 1, called + 2].map(fileCall) };
  }
  if (called > 0) return { id, text: 'So it is.' };
  if (plan === 'count') return { id, toolUse: { id: 'c1', name: 'Count', input: { name: 'c1' } } };
  return { id, toolUse: { id: 'c1', name: 'Bash', input: plan } };
}

function fileCall(number: number) {
  const id = `c${number}`;
  if (number % 3 === 0) return { id, name: 'Write', input: { file_path: `written-${id}`, content: `${id}\n` } };
  if (number % 3 === 1) return { id, name: 'Count', input: { name: id } };
  return { id, name: 'Bash', input: { command: `printf x >> count-${id} && sleep 0.02` } };
}

async function* saySoon(over: Promise<void>): AsyncGenerator<UserMessage> {
  if (order.prompt !== undefined) yield say(order.prompt);
  await over;
}

const say = (text: string): UserMessage => ({
  type: 'user',
  message: { role: 'user', content: text },
  parent_tool_use_id: null,
});

async function main(): Promise<void> {
  const options: Options = {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, HEDDLE_CONFIG_DIR: configDir, ...order.env },
    ...(order.open === 'resume' || order.open === 'fork' ? { resume: sessionId } : { sessionId }),
    ...(order.open === 'fork' && { forkSession: true }),
    heddle: {
      provider: createScriptedModel(Array.from({ length: 100 }, () => decide)),
      store: traced(createFileStore({ configDir })),
      tools: [count],
    },
    ...(order.answer && {
      canUseTool: async (_name, _input, { toolUseID }) => {
        tell({ asked: toolUseID });
        if (order.answer === 'never') {
          tell({ at: 'asked' });
          // A promise alone keeps no process alive.
          setInterval(() => {}, 60_000);
          return new Promise(() => {});
        }
        return order.answer === 'allow' ? { behavior: 'allow' } : { behavior: 'deny', message: 'Not this one.' };
      },
    }),
  };
  const over = Promise.withResolvers<void>();
  const run = query({ prompt: saySoon(over.promise), options });
  if (order.prompt === undefined) {
    const continued = await run.continueTurn();
    tell({ continued });
    const { orPrompt } = order;
    if (!continued && orPrompt === undefined) run.close();
    else if (!continued && orPrompt !== undefined) await run.streamInput(once(say(orPrompt)));
  }
  let rounds = order.ballast === undefined ? 1 : 2;
  for await (const message of run) {
    if (message.type === 'system' && message.subtype === 'init') {
      tell({ at: 'ready' });
      if (order.ballast && rounds === 2) fillDisk(order.ballast);
    }
    if (message.type === 'stream_event') continue;
    tell({ message });
    if (message.type !== 'result') continue;
    rounds -= 1;
    if (rounds === 0) over.resolve();
    else {
      rmSync(order.ballast ?? '');
      await run.streamInput(once(say('Is there room?')));
    }
  }
  if (order.ballast) cpSync(join(configDir, 'projects'), join(cwd, 'kept'), { recursive: true });
  tell({ end: true });
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

/** Writes until nothing fits any more. */
function fillDisk(path: string): void {
  writeFileSync(path, '');
  for (let size = 65_536; size >= 1; size = Math.floor(size / 2)) {
    try {
      for (;;) appendFileSync(path, Buffer.alloc(size));
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOSPC') throw thrown;
    }
  }
}

main().catch((thrown: unknown) => {
  if (!(thrown instanceof HeddleError)) throw thrown;
  const { code, message, hint } = thrown;
  tell({ error: { code, message, hint } });
});
