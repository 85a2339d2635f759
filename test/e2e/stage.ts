/** Where a scenario is played: a folder, a model API and one carrier between the SDK and the engine. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createEngine, createFileStore } from '../../src/engine/index.js';
import type { Message, SessionConfig, UserMessage } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { type Options, type Query, query } from '../../src/sdk/index.js';
import { createServer } from '../../src/server/index.js';
import { type FakeAnswer, type FakeApi, type ScriptStep, startFakeApi } from '../../src/testing/index.js';
import { describeThrown } from './record.js';
import { removeFolder } from '../remove-folder.js';

export const CARRIERS = ['memory', 'subprocess', 'websocket'] as const;
export type CarrierName = (typeof CARRIERS)[number];

export type Prompt = string | AsyncIterable<UserMessage>;

/** Called with each message as the consumer gets it; the next one is not asked for before it resolves. */
export type OnMessage = (message: Message, run: Query) => void | Promise<void>;

export interface Stage {
  /** The project folder of every session on this stage. */
  readonly cwd: string;
  /** What differs from stage to stage and is no part of what happened. */
  readonly root: string;
  readonly api: FakeApi;
  /** What each query gave, in the order in which they were started. */
  readonly runs: Message[][];
  /** What a scenario saw beside the messages. */
  readonly notes: string[];
  note(text: string): void;
  /** The options that make a query run here. */
  optionsFor(options?: Options): Options;
  start(prompt: Prompt, options?: Options): Query;
  /** A whole query. What it throws is noted, not thrown. */
  run(prompt: Prompt, options?: Options, onMessage?: OnMessage): Promise<Message[]>;
  closeServer(): Promise<void>;
  close(): Promise<void>;
}

export interface StageOptions {
  carrier: CarrierName;
  script: readonly ScriptStep<FakeAnswer>[];
  /** Files of the project, by name. */
  files?: Readonly<Record<string, string>>;
  repeatLast?: boolean;
  /** Where clients find the server, when something stands between. */
  via?: (url: string) => Promise<string>;
  /** How long the server waits for a client that is away. */
  graceMs?: number;
}

const TOKEN = 'token-of-the-tests';

/** What a server decides for itself. Here it decides as the caller wishes. */
const SERVER_DECIDES = ['allowedTools', 'disallowedTools', 'tools', 'continue', 'thinking'] as const;

export async function createStage(options: StageOptions): Promise<Stage> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-e2e-')));
  const cwd = join(root, 'project');
  mkdirSync(cwd);
  for (const [name, text] of Object.entries(options.files ?? {})) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const api = await startFakeApi(options.script, { repeatLast: options.repeatLast ?? false });
  const configDir = join(root, 'config');
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: root,
    HEDDLE_CONFIG_DIR: configDir,
    ANTHROPIC_API_KEY: 'a key of the tests',
    ANTHROPIC_BASE_URL: api.url,
  };
  let decided: Partial<SessionConfig> = {};
  const server =
    options.carrier === 'websocket'
      ? await createServer({
          engine: createEngine({ clock: systemClock, store: createFileStore({ configDir }) }),
          configFor: (_, asked) => ({ ...asked, ...decided, cwd, env, configDir }),
          clock: systemClock,
          token: TOKEN,
          ...(options.graceMs !== undefined && { graceMs: options.graceMs }),
        })
      : undefined;
  const url = server && options.via ? await options.via(server.url) : server?.url;

  const started: Query[] = [];
  const runs: Message[][] = [];
  const notes: string[] = [];
  const stage: Stage = {
    cwd,
    root,
    api,
    runs,
    notes,
    note: (text) => void notes.push(text),
    optionsFor(own = {}) {
      decided = Object.fromEntries(SERVER_DECIDES.flatMap((name) => (name in own ? [[name, own[name]]] : [])));
      return { cwd, env, ...own, heddle: { ...carrierOf(options.carrier, url), ...own.heddle } };
    },
    start(prompt, own) {
      const opened = query({ prompt, options: stage.optionsFor(own) });
      started.push(opened);
      return opened;
    },
    async run(prompt, own, onMessage = () => {}) {
      const messages: Message[] = [];
      runs.push(messages);
      try {
        const opened = stage.start(prompt, own);
        for await (const message of opened) {
          messages.push(message);
          await onMessage(message, opened);
        }
      } catch (thrown) {
        stage.note(`the query threw ${describeThrown(thrown)}`);
      }
      return messages;
    },
    async closeServer() {
      await server?.close();
    },
    async close() {
      for (const opened of started) opened.close();
      await server?.close();
      await api.close();
      removeFolder(root);
    },
  };
  return stage;
}

function carrierOf(carrier: CarrierName, url = ''): NonNullable<Options['heddle']> {
  if (carrier === 'memory') return { carrier: 'in-process' };
  return { carrier: carrier === 'subprocess' ? 'subprocess' : { url, token: TOKEN } };
}

export const say = (text: string, extra: Partial<UserMessage> = {}): UserMessage => ({
  type: 'user',
  message: { role: 'user', content: text },
  parent_tool_use_id: null,
  session_id: '',
  ...extra,
});

/** Options that let a test know the processes that the SDK starts. */
export function watched(options: Options = {}) {
  const pids: number[] = [];
  const spawnClaudeCodeProcess: Options['spawnClaudeCodeProcess'] = ({ command, args, cwd, env }) => {
    const child = spawn(command, args, { cwd, env, stdio: 'pipe' });
    pids.push(child.pid ?? 0);
    return child;
  };
  return {
    options: { ...options, spawnClaudeCodeProcess },
    /** Resolves when all of them have ended. */
    gone: () => until(() => pids.every((pid) => !isAlive(pid))),
  };
}

/** Resolves once the condition holds; looks whenever the event loop comes round. */
export async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise((resolve) => setTimeout(resolve, 1));
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
