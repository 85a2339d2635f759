import { randomUUID } from 'node:crypto';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Attachment, Session } from '../../src/engine/index.js';
import { createEngine, createMemoryStore } from '../../src/engine/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { createScriptedModel, type ScriptedModel } from '../../src/engine/model/scripted.js';
import type {
  Message,
  ResultMessage,
  SessionConfig,
  SessionStore,
  Tool,
  UserMessage,
  Workspace,
} from '../../src/protocol/index.js';
import { createFakeClock, type FakeClock, toolResult, transcript } from '../../src/testing/index.js';
import { removeFolder } from '../remove-folder.js';

/** A clock that stands still; its ids do not repeat, because logs of several runs meet in one file. */
export const stillClock = (): FakeClock => Object.assign(createFakeClock(), { uuid: () => randomUUID() });

/** A folder that is gone after the test. */
export function scratch(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-test-')));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

export const user = (text: string, extra: Partial<UserMessage> = {}): UserMessage => ({
  type: 'user',
  message: { role: 'user', content: text },
  parent_tool_use_id: null,
  ...extra,
});

/** A machine on which nothing is kept unless a test says where. */
export const PATH_ENV = {
  PATH: process.env.PATH ?? '',
  HOME: '/nowhere',
  HEDDLE_CONFIG_DIR: '/dev/null/config',
  IS_SANDBOX: '1',
};

export interface Run {
  session: Session;
  model: ScriptedModel;
  clock: FakeClock;
  store: SessionStore;
  cwd: string;
  messages: Message[];
  /** Sends a prompt and waits for its result. */
  ask(text: string, extra?: Partial<UserMessage>): Promise<ResultMessage>;
  /** Resolves with the next result from now on. */
  nextResult(): Promise<ResultMessage>;
  /** Resolves when a message that fits has been seen. */
  seen(fits: (message: Message) => boolean): Promise<Message>;
}

export interface RunOptions {
  config?: Partial<SessionConfig>;
  ask?: Attachment['ask'];
  store?: SessionStore;
  clock?: FakeClock;
  cwd?: string;
  tools?: readonly Tool[];
  workspace?: Workspace;
}

/** A test that names the mode means it. */
const meant = (mode: SessionConfig['permissionMode']): Partial<SessionConfig> =>
  mode === 'bypassPermissions' ? { allowDangerouslySkipPermissions: true } : {};

/** The sessions of each store: one is written by one at a time. */
const opened = new WeakMap<SessionStore, Map<string, Session>>();

/** A session on a scripted model, a memory store and a clock that stands still. One that it resumes is closed first. */
export async function start(script: readonly ScriptStep[], options: RunOptions = {}): Promise<Run> {
  const clock = options.clock ?? stillClock();
  const store = options.store ?? createMemoryStore({ now: () => clock.now() });
  const model = createScriptedModel(script);
  const cwd = options.cwd ?? scratch();
  const { tools = [], workspace } = options;
  const engine = createEngine({ clock, store, provider: model, tools, ...(workspace && { workspace }) });
  const others = opened.get(store) ?? new Map<string, Session>();
  opened.set(store, others);
  if (!options.config?.forkSession) await others.get(options.config?.resume ?? '')?.close();
  const session = await engine.open({
    cwd,
    env: PATH_ENV,
    configDir: join(cwd, '.config'),
    ...meant(options.config?.permissionMode),
    ...options.config,
  });
  others.set(session.id, session);
  const messages: Message[] = [];
  const waiting: { fits: (message: Message) => boolean; resolve: (message: Message) => void }[] = [];
  session.attach({
    deliver(message) {
      messages.push(message);
      const met = waiting.filter((wait) => wait.fits(message));
      for (const wait of met) {
        waiting.splice(waiting.indexOf(wait), 1);
        wait.resolve(message);
      }
    },
    ...(options.ask && { ask: options.ask }),
  });
  const later = (fits: (message: Message) => boolean) =>
    new Promise<Message>((resolve) => waiting.push({ fits, resolve }));
  const nextResult = () => later((message) => message.type === 'result') as Promise<ResultMessage>;
  return {
    session,
    model,
    clock,
    store,
    cwd,
    messages,
    nextResult,
    seen: (fits) => {
      const found = messages.find(fits);
      return found ? Promise.resolve(found) : later(fits);
    },
    ask(text, extra) {
      const result = nextResult();
      session.submit(user(text, extra));
      return result;
    },
  };
}

/** One line per message: what a reader of the stream would tell another. */
export const outline = (messages: readonly Message[]): string[] =>
  messages.length === 0 ? [] : transcript(messages, { resultTexts: false }).split('\n');

/** What the model was told about a call. */
export const resultText = (messages: readonly Message[], toolUseId: string): string =>
  toolResult(messages, toolUseId).text;
