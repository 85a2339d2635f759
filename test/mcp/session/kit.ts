/** Queries that use real servers, for the tests of this folder. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ScriptStep } from '../../../src/engine/model/script-step.js';
import { createScriptedModel, type ScriptedModel } from '../../../src/engine/model/scripted.js';
import type { McpServerStatus, Message, ResultMessage, UserMessage } from '../../../src/protocol/index.js';
import { type Options, type Query, query } from '../../../src/sdk/index.js';
import { createMemoryStore } from '../../../src/testing/index.js';
import { PATH_ENV, resultText, scratch, user } from '../../engine/kit.js';
import { isRunning } from '../../workspace/running.js';

/** A server made with version 1 of the public packages, on stdio. What it does stands in the file. */
export const V1 = join(import.meta.dirname, 'servers/v1.mjs');
/** The same with version 2. */
export const V2 = join(import.meta.dirname, 'servers/v2.mjs');

export const program = (file: string, ...args: string[]) => ({ command: process.execPath, args: [file, ...args] });

export interface Talk {
  query: Query;
  model: ScriptedModel;
  cwd: string;
  messages: Message[];
  /** Sends a prompt and waits for its result. */
  say(text: string): Promise<ResultMessage>;
  send(text: string): void;
  nextResult(): Promise<ResultMessage>;
  /** Resolves when a message that fits has come, or with the one that has. */
  seen(fits: (message: Message) => boolean): Promise<Message>;
  status(name: string): Promise<McpServerStatus | undefined>;
  /** What the model was told about a call. */
  told(toolUseId: string): string;
  /** Ends input and waits until the query is over. */
  end(): Promise<void>;
}

/** A query that goes on until it is told to end. */
export function talk(script: readonly ScriptStep[], options: Options = {}): Talk {
  const model = createScriptedModel(script);
  const cwd = options.cwd ?? scratch();
  const inbox = createInbox();
  const heddle = { provider: model, store: createMemoryStore(), ...options.heddle };
  const running = query({ prompt: inbox.prompts, options: { env: PATH_ENV, ...options, cwd, heddle } });
  const messages: Message[] = [];
  const waiting: { fits: (message: Message) => boolean; resolve: (message: Message) => void }[] = [];
  const over = (async () => {
    for await (const message of running as AsyncIterable<Message>) {
      messages.push(message);
      for (const wait of waiting.filter((each) => each.fits(message))) {
        waiting.splice(waiting.indexOf(wait), 1);
        wait.resolve(message);
      }
    }
  })();
  over.catch(() => {});
  const later = (fits: (message: Message) => boolean) =>
    new Promise<Message>((resolve, reject) => {
      waiting.push({ fits, resolve });
      over.then(() => reject(new Error('The query is over.')), reject);
    });
  const nextResult = () => later(({ type }) => type === 'result') as Promise<ResultMessage>;
  const end = async (): Promise<void> => {
    inbox.close();
    await over;
  };
  onTestFinished(async () => {
    running.close();
    await over.catch(() => {});
  });
  return {
    query: running,
    model,
    cwd,
    messages,
    nextResult,
    send: (text) => inbox.put(user(text)),
    say(text) {
      const result = nextResult();
      inbox.put(user(text));
      return result;
    },
    seen(fits) {
      const found = messages.find(fits);
      return found === undefined ? later(fits) : Promise.resolve(found);
    },
    status: async (name) => (await running.mcpServerStatus()).find((each) => each.name === name),
    told: (toolUseId) => resultText(messages, toolUseId),
    end,
  };
}

function createInbox() {
  const queue: UserMessage[] = [];
  let wake = Promise.withResolvers<void>();
  let isOpen = true;
  const prompts = (async function* () {
    while (isOpen || queue.length > 0) {
      const next = queue.shift();
      if (next !== undefined) yield next;
      else await wake.promise;
      if (isOpen) wake = Promise.withResolvers<void>();
    }
  })();
  return {
    prompts,
    put(message: UserMessage): void {
      queue.push(message);
      wake.resolve();
    },
    close(): void {
      isOpen = false;
      wake.resolve();
    },
  };
}

export const call = (name: string, input: Record<string, unknown> = {}, id = 't1') => ({
  toolUse: { name, input, id },
});

/** Waits until the server of a tool is there, as a model does. */
export const find = (name: string, id = 'find') => call('ToolSearch', { query: `select:${name}` }, id);

/** Requests as the model has got them. */
export const request = ({ model }: Pick<Talk, 'model'>, at: number): string => JSON.stringify(model.requests[at]?.body);

/** The text of the last message that the model has got with a request. */
export const lastSaid = ({ model }: Pick<Talk, 'model'>, at: number): string =>
  JSON.stringify(model.requests[at]?.body.messages.at(-1));

/** Processes below this one whose command line has the word in it. */
export function processesWith(word: string): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.map(Number).filter((pid) => isRunning(pid) && commandOf(pid).includes(word));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
