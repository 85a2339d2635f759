import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createEngine, createMemoryStore, serveHost, systemClock } from '../../src/engine/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { createScriptedModel, type ScriptedModel } from '../../src/engine/model/scripted.js';
import type { Clock, Message, ModelProvider, SessionConfig, Tool } from '../../src/protocol/index.js';
import { createMemoryPair, Peer } from '../../src/wire/index.js';
import { PATH_ENV, scratch, user } from '../engine/kit.js';

export interface Host {
  peer: Peer<'host'>;
  model: ScriptedModel;
  cwd: string;
  configDir: string;
  seen: Message[];
  /** Waits for a message; those before it are in `seen`. */
  until(fits: (message: Message) => boolean): Promise<Message>;
  /** Sends a prompt and waits for its result. */
  ask(text: string): Promise<Message>;
  /** Writes below the working directory. */
  write(path: string, text: string | Uint8Array): string;
}

export interface HostOptions {
  config?: Partial<SessionConfig>;
  /** Settings of the user. */
  settings?: object;
  tools?: readonly Tool[];
  clock?: Clock;
  /** Stands between the engine and the script. */
  wrap?(model: ModelProvider): ModelProvider;
}

/** A host that speaks to an engine in this process. */
export function connect(script: readonly ScriptStep[] = [], options: HostOptions = {}): Host {
  const [near, far] = createMemoryPair();
  const model = createScriptedModel(script);
  const cwd = scratch();
  const configDir = scratch();
  if (options.settings) writeFileSync(join(configDir, 'settings.json'), JSON.stringify(options.settings));
  const { tools = [], wrap = (each) => each, clock = systemClock } = options;
  const engine = createEngine({ clock, store: createMemoryStore(), provider: wrap(model), tools });
  const sources = options.settings ? { settingSources: ['user' as const] } : {};
  const config = { cwd, env: PATH_ENV, configDir, ...sources, ...options.config };
  const code = serveHost({ engine, channel: far, config });
  const peer: Peer<'host'> = new Peer(near, { side: 'host', clock: systemClock });
  onTestFinished(async () => {
    peer.close();
    await code;
  });
  const seen: Message[] = [];
  const until = async (fits: (message: Message) => boolean): Promise<Message> => {
    for (;;) {
      const { value, done } = await peer.messages.next();
      if (done) throw new Error('the engine said nothing of the kind');
      seen.push(value);
      if (fits(value)) return value;
    }
  };
  return {
    peer,
    model,
    cwd,
    configDir,
    seen,
    until,
    ask(text) {
      peer.send(user(text));
      return until((message) => message.type === 'result');
    },
    write(path, text) {
      const file = join(cwd, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
  };
}

/** The hooks of settings: a command for the calls of one tool. */
export const on = <E extends string>(event: E, matcher: string, command: string) =>
  ({ [event]: [{ matcher, hooks: [{ type: 'command', command }] }] }) as Record<E, object[]>;

/** A command that answers as a PreToolUse hook does. */
export const decide = (said: object): string =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...said } })}'`;
