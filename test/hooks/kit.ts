/** A session's worth of hooks on a temp folder, with real shells behind them. */
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HookMessage } from '../../src/engine/hooks/show.js';
import type { HookCommand, InformationalMessage, Settings } from '../../src/protocol/index.js';
import { type HookEvent, systemClock } from '../../src/protocol/plain.js';
import type { CallbackSource, LoadedHookSource } from '../../src/engine/hooks/definition.js';
import { createHooks, type Hooks, type HooksOptions, type LateOutput } from '../../src/engine/hooks/registry.js';
import { createLocalWorkspace, type LocalWorkspace } from '../../src/engine/workspace/local.js';
import { removeFolder } from '../remove-folder.js';

export interface BenchOptions extends Partial<HooksOptions>, Partial<CallbackSource> {
  settings?: readonly LoadedHookSource[];
}

export interface HookBench {
  folder: string;
  workspace: LocalWorkspace;
  messages: HookMessage[];
  logged: string[];
  late: LateOutput[];
  /** Resolves with the next late output. */
  nextLate(): Promise<LateOutput>;
  create(options?: BenchOptions): Hooks;
  /** Notices, warnings and errors so far, as `level: content`. */
  said(): string[];
  close(): Promise<void>;
}

export const quiet = new AbortController().signal;

const isNotice = (message: HookMessage): message is InformationalMessage => message.subtype === 'informational';

export function createHookBench(): HookBench {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-hooks-')));
  const workspace = createLocalWorkspace({ clock: systemClock });
  const created: Hooks[] = [];
  let onLate: (late: LateOutput) => void = () => {};
  const bench: HookBench = {
    folder,
    workspace,
    messages: [],
    logged: [],
    late: [],
    nextLate: () =>
      new Promise((resolve) => {
        onLate = resolve;
      }),
    create({ settings = [], callbacks, askCallback, ...options } = {}) {
      const hooks = createHooks({
        runProcess: (spec) => workspace.run(spec),
        callModel: () => Promise.reject(new Error('no model here')),
        askTool: () => Promise.reject(new Error('no servers here')),
        post: () => Promise.reject(new Error('no network here')),
        matchesRule: () => true,
        env: { PATH: process.env.PATH ?? '', HOME: folder },
        projectDir: folder,
        cwd: () => folder,
        base: () => ({ session_id: 's1', transcript_path: '/t.jsonl', cwd: folder, permission_mode: 'default' }),
        clock: systemClock,
        logger: (level, text) => bench.logged.push(`${level}: ${text}`),
        emit: (message) => bench.messages.push(message),
        onLate: (late) => {
          bench.late.push(late);
          onLate(late);
        },
        ...options,
      });
      created.push(hooks);
      hooks.replaceSettings(settings);
      if (callbacks !== undefined && askCallback !== undefined) hooks.attach({ callbacks, askCallback });
      return hooks;
    },
    said: () => bench.messages.filter(isNotice).map(({ level, content }) => `${level}: ${content}`),
    async close() {
      for (const hooks of created) hooks.close();
      await workspace.close();
      removeFolder(folder);
    },
  };
  return bench;
}

/** A source with hooks for one event. */
export const settingsOf = (
  event: HookEvent,
  hooks: (HookCommand & Record<string, unknown>)[],
  rest: Partial<LoadedHookSource> & { matcher?: string } = {},
): LoadedHookSource[] => {
  const { matcher, ...source } = rest;
  const declared: Settings['hooks'] = { [event]: [{ ...(matcher !== undefined && { matcher }), hooks }] };
  return [{ layer: 'user', hooks: declared, ...source }];
};

export const command = (line: string, rest: Record<string, unknown> = {}): HookCommand & Record<string, unknown> => ({
  type: 'command',
  command: line,
  ...rest,
});

/** Callbacks for one event, each with its own answer; `hook_0`, `hook_1` ... */
export function callbacksOf(
  event: HookEvent,
  answers: ((input: Record<string, unknown>, signal: AbortSignal) => unknown)[],
  rest: { matcher?: string; timeout?: number; onFailure?: string } = {},
): CallbackSource {
  return {
    callbacks: { [event]: [{ hookCallbackIds: answers.map((_, i) => `hook_${i}`), ...rest }] },
    askCallback: async (id, input, _toolUseId, { signal }) => answers[Number(id.slice(5))]?.(input, signal),
  };
}

export const bashCall = (line: string) => ({
  tool_name: 'Bash',
  tool_input: { command: line },
  tool_use_id: 'toolu_1',
});

/** Answers that come when the test says so. */
export function createDoor(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}
