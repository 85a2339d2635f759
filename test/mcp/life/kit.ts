/** Servers in memory, at the seam of McpLink. */
import type { McpCallResult, McpTool } from '../../../src/engine/mcp/connection.js';
import type { LinkParts, McpLink, McpList, McpPrompt, McpResource } from '../../../src/engine/mcp/link.js';
import { McpServers, type McpServersParts, type ServerChange } from '../../../src/engine/mcp/servers.js';
import type { RemoteServer } from '../../../src/engine/mcp/server-definition.js';
import type { Tool, ToolContext } from '../../../src/protocol/index.js';
import { HeddleError } from '../../../src/protocol/plain.js';
import { createFakeClock, type FakeClock } from '../../../src/testing/index.js';

export const tool = (name: string, extra: Partial<McpTool> = {}): McpTool => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  ...extra,
});

export interface FakeLink extends McpLink {
  tools: McpTool[];
  prompts: McpPrompt[];
  resources: McpResource[];
  /** Calls as they came. */
  calls: { tool: string; input: Record<string, unknown> }[];
  closed: boolean;
  change(list: McpList, next: Partial<Pick<FakeLink, McpList>>): void;
  lose(reason: string, data?: Record<string, unknown>): void;
}

export interface LinkWish {
  tools?: McpTool[];
  prompts?: McpPrompt[];
  resources?: McpResource[];
  instructions?: string;
  call?: McpLink['call'];
  readResource?: McpLink['readResource'];
  getPrompt?: McpLink['getPrompt'];
  close?: () => Promise<void>;
}

export function fakeLink(wish: LinkWish = {}): FakeLink {
  const changes: ((list: McpList) => void)[] = [];
  const losses: ((reason: Error) => void)[] = [];
  const link: FakeLink = {
    serverInfo: { name: 'fake', version: '1' },
    protocolVersion: '2025-11-25',
    instructions: wish.instructions,
    tools: wish.tools ?? [tool('look')],
    prompts: wish.prompts ?? [],
    resources: wish.resources ?? [],
    calls: [],
    closed: false,
    async call(name, input, options): Promise<McpCallResult> {
      link.calls.push({ tool: name, input });
      return wish.call ? wish.call(name, input, options) : { content: [{ type: 'text', text: `did ${name}` }] };
    },
    readResource: wish.readResource ?? (async (uri) => [{ uri, text: 'body' }]),
    getPrompt: wish.getPrompt ?? (async () => []),
    onChange: (listener) => void changes.push(listener),
    onLost: (listener) => void losses.push(listener),
    async close() {
      link.closed = true;
      await wish.close?.();
    },
    change(list, next) {
      Object.assign(link, next);
      for (const listener of changes) listener(list);
    },
    lose(reason, data = {}) {
      for (const listener of losses) listener(new HeddleError('channel_closed', reason, { data }));
    },
  };
  return link;
}

/** What becomes of connecting: a link, or an error; for ever nothing when it hangs. */
export type Connecting = (signal: AbortSignal, attempt: number) => Promise<McpLink>;

export const hangs: Connecting = () => new Promise(() => {});

export interface Bench {
  servers: McpServers;
  clock: FakeClock;
  changes: ServerChange[];
  /** Every attempt to connect, by name. */
  attempts: string[];
  signals: AbortSignal[];
  links: FakeLink[];
  /** Resolves when this is so. Looks again at every change. */
  until(isSo: () => boolean): Promise<void>;
}

export const remote = (extra: Partial<RemoteServer> = {}): RemoteServer => ({ config: { command: 'x' }, ...extra });

/** Servers by name, each with what becomes of connecting to it. */
export function createBench(
  behaviours: Record<string, Connecting | LinkWish>,
  parts: Partial<McpServersParts> = {},
  clock: FakeClock = createFakeClock(),
): Bench {
  const waiting: { isSo: () => boolean; resolve: () => void }[] = [];
  const counts = new Map<string, number>();
  const bench: Bench = {
    clock,
    changes: [],
    attempts: [],
    signals: [],
    links: [],
    servers: new McpServers(clock, {
      linkParts: async () => ({}) as Omit<LinkParts, 'signal'>,
      async connect(name, _, { signal }) {
        bench.attempts.push(name);
        bench.signals.push(signal);
        const attempt = (counts.get(name) ?? 0) + 1;
        counts.set(name, attempt);
        const behaviour = behaviours[name] ?? {};
        if (typeof behaviour === 'function') return behaviour(signal, attempt);
        const link = fakeLink(behaviour);
        bench.links.push(link);
        return link;
      },
      onChange(change) {
        bench.changes.push(change);
        for (const wait of waiting.splice(0)) {
          if (wait.isSo()) wait.resolve();
          else waiting.push(wait);
        }
      },
      ...parts,
    }),
    until: (isSo) =>
      isSo() ? Promise.resolve() : new Promise<void>((resolve) => void waiting.push({ isSo, resolve })),
  };
  return bench;
}

/** A bench whose servers are set; those that do not hang are connected. */
export async function connected(
  behaviours: Record<string, Connecting | LinkWish>,
  parts: Partial<McpServersParts> = {},
): Promise<Bench> {
  const bench = createBench(behaviours, parts);
  await bench.servers.set(new Map(Object.keys(behaviours).map((name) => [name, remote()])));
  return bench;
}

export const statusOf = ({ servers }: Bench, name = 's') => servers.status.find((each) => each.name === name);

export interface Call {
  context: ToolContext;
  progressed: () => number;
  kept: Map<string, string | Uint8Array>;
}

export function toCall(clock: FakeClock = createFakeClock(), signal = new AbortController().signal): Call {
  let count = 0;
  const kept = new Map<string, string | Uint8Array>();
  const context = {
    toolUseId: 't1',
    signal,
    clock,
    progress: () => {
      count += 1;
    },
    async keep(name: string, data: string | Uint8Array) {
      kept.set(name, data);
      return `/kept/${name}`;
    },
  } as unknown as ToolContext;
  return { context, progressed: () => count, kept };
}

export const named = (tools: readonly Tool[], name: string): Tool => {
  const found = tools.find((each) => each.name === name);
  if (found === undefined)
    throw new Error(`There is no tool ${name} among ${tools.map((each) => each.name).join(', ')}.`);
  return found;
};
