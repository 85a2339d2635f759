// A program that uses every door of the package. It runs offline and prints what it saw.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AbortError,
  type CanUseTool,
  createSdkMcpServer,
  EXIT_REASONS,
  HeddleError,
  HOOK_EVENTS,
  type HookCallbackMatcher,
  type HookJSONOutput,
  type Options,
  type PermissionResult,
  type Query,
  query,
  type SDKMessage,
  type SDKSession,
  type SDKUserMessage,
  startup,
  tool,
  unstable_v2_createSession,
  unstable_v2_prompt,
  unstable_v2_resumeSession,
} from 'heddle';
import { createEngine, HEDDLE_VERSION, systemClock } from 'heddle/engine';
import manifest from 'heddle/package.json' with { type: 'json' };
import { builtSchemas, checkMessage, InitMessage, type Message } from 'heddle/protocol';
import { createServer } from 'heddle/server';
import {
  collect,
  createFakeClock,
  createMemoryStore,
  createScriptedModel,
  expectTranscript,
  lastResult,
  toolResults,
} from 'heddle/testing';
import { createLineDecoder, createMemoryPair, encodeLine, Peer } from 'heddle/wire';
import { z } from 'zod';

const schemasBefore = builtSchemas();
const folder = mkdtempSync(join(tmpdir(), 'heddle-consumer-'));
const env = { PATH: process.env['PATH'], HOME: folder, HEDDLE_CONFIG_DIR: folder };
const embedded = { model: 'embedded', cwd: folder, env } satisfies Options;
const say = (topic: string, facts: unknown): void => console.log(`${topic}: ${JSON.stringify(facts)}`);

/** Narrows by `type`, then by `subtype`, without a cast. */
function describe(message: SDKMessage): string {
  switch (message.type) {
    case 'system':
      return message.subtype === 'init' ? `init ${message.tools.includes('Read')}` : `system ${message.subtype}`;
    case 'assistant':
      return message.message.content
        .map((block) =>
          block.type === 'text' ? 'text' : block.type === 'tool_use' ? `call ${block.name}` : block.type,
        )
        .join();
    case 'user': {
      const { content } = message.message;
      return typeof content === 'string' ? content : content.map((block) => block.type).join();
    }
    case 'stream_event':
      return message.event.type === 'content_block_delta' ? message.event.delta.type : message.event.type;
    case 'result':
      return message.subtype === 'success' ? `success ${typeof message.result}` : message.errors.join();
    default:
      return message.type;
  }
}

/** Every way to steer a run. Not all of them mean something to the embedded model, so this is only compiled. */
export async function steer(run: Query, more: AsyncIterable<SDKUserMessage>): Promise<void> {
  await run.setPermissionMode('plan');
  await run.setModel();
  await run.setModel('sonnet');
  await run.setMaxThinkingTokens(null);
  await run.streamInput(more);
  const { canRewind, filesChanged = [] } = await run.rewindFiles('an-id', { dryRun: true });
  const { added, removed, errors } = await run.setMcpServers({ clock: { command: 'clock' }, shop });
  await run.reconnectMcpServer('clock');
  await run.toggleMcpServer('clock', false);
  await run.stopTask('a-task');
  await run.interrupt();
  say('steered', [canRewind, filesChanged, added, removed, errors]);
  run.close();
}

const shop = createSdkMcpServer({
  name: 'shop',
  version: '2.0.0',
  tools: [
    tool(
      'price',
      'What yarn costs',
      { colour: z.enum(['indigo', 'weld']), spools: z.number().int().default(1), gift: z.boolean().optional() },
      async ({ colour, spools, gift }) => ({
        content: [{ type: 'text', text: `${colour} x ${spools.toFixed(0)}${gift === true ? ' wrapped' : ''}` }],
      }),
      { annotations: { readOnlyHint: true } },
    ),
  ],
});

export const hooks: Partial<Record<(typeof HOOK_EVENTS)[number], HookCallbackMatcher[]>> = {
  PreToolUse: [
    {
      matcher: 'Bash|Write',
      timeout: 5,
      hooks: [
        async (input, toolUseID, { signal }): Promise<HookJSONOutput> => {
          if (signal.aborted || toolUseID === undefined || input.hook_event_name !== 'PreToolUse') return {};
          const permissionDecision = input.tool_name === 'Bash' ? 'deny' : 'ask';
          return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision } };
        },
      ],
    },
  ],
};

async function hello(): Promise<void> {
  const run = query({ prompt: 'hi', options: { ...embedded, includePartialMessages: true } });
  const { heddle_version } = await run.initializationResult();
  const [commands, models, agents, account, servers] = await Promise.all([
    run.supportedCommands(),
    run.supportedModels(),
    run.supportedAgents(),
    run.accountInfo(),
    run.mcpServerStatus(),
  ]);
  say('told', [Array.isArray(commands), models.length > 0, Array.isArray(agents), typeof account, servers]);
  const seen = new Set<string>();
  for await (const message of run) seen.add(describe(message));
  say('hello', [...seen].toSorted());
  say('versions agree', heddle_version === manifest.version && HEDDLE_VERSION === manifest.version);
}

/** Tools of this program, a callback that decides, and a transcript of what happened. */
async function decide(): Promise<void> {
  const canUseTool: CanUseTool = async (name, input, { signal, toolUseID }): Promise<PermissionResult> => {
    if (signal.aborted) throw new AbortError();
    if (name === 'mcp__shop__price') return { behavior: 'allow', updatedInput: { ...input, spools: 3 } };
    return { behavior: 'deny', message: `not ${name}`, toolUseID };
  };
  const model = createScriptedModel([
    { toolUse: { name: 'mcp__shop__price', input: { colour: 'weld' } } },
    { toolUse: { name: 'Bash', input: { command: 'touch never' } } },
    'Done.',
  ]);
  const messages: Message[] = await collect(
    query({
      prompt: asked('What does weld cost?'),
      options: {
        cwd: folder,
        env,
        canUseTool,
        mcpServers: { shop },
        heddle: { provider: model, store: createMemoryStore(), clock: createFakeClock() },
      },
    }),
  );
  model.assertDone();
  say(
    'results',
    toolResults(messages).map(({ name, isError, text }) => [name, isError, text]),
  );
  say(
    'denied',
    lastResult(messages).permission_denials.map(({ tool_name }) => tool_name),
  );
  expectTranscript([messages[0] ?? fail('no message')], 'system/init');
}

async function* asked(text: string): AsyncGenerator<SDKUserMessage> {
  yield { type: 'user', session_id: '', parent_tool_use_id: null, message: { role: 'user', content: text } };
}

async function converse(): Promise<void> {
  await using session: SDKSession = unstable_v2_createSession(embedded);
  const ends: string[] = [];
  for (const prompt of ['first', 'second']) {
    await session.send(prompt);
    for await (const message of session.stream()) if (message.type === 'result') ends.push(message.subtype);
  }
  const { sessionId } = session;
  session.close();
  const resumed = unstable_v2_resumeSession(sessionId, embedded);
  say('resumed', resumed.sessionId === sessionId);
  resumed.close();
  const { subtype } = await unstable_v2_prompt('once', embedded);
  await using warm = await startup({ options: embedded });
  const warmed = lastResult(await collect(warm.query('warm')));
  say('ends', [...ends, subtype, warmed.subtype]);
}

/** The same over a socket, with the engine behind a server of one's own. */
async function reach(): Promise<void> {
  const server = await createServer({
    engine: createEngine({ clock: systemClock, store: createMemoryStore() }),
    config: { cwd: folder, configDir: folder, env: {}, model: 'embedded' },
    clock: systemClock,
  });
  const { url, token } = server;
  const messages = await collect(query({ prompt: 'hi', options: { heddle: { carrier: { url, token } } } }));
  await server.close();
  say('socket', lastResult(messages).subtype);
}

/** The protocol by itself: schemas, a codec, two sides of a Channel. */
async function speak(): Promise<void> {
  const parsed = InitMessage().safeParse({ type: 'system', subtype: 'init' });
  say('checked', [parsed.success, schemasBefore, codeOf(() => checkMessage({ type: 'user' }))]);
  const lines: unknown[] = [];
  const decoder = createLineDecoder({
    onLine: (line) => void lines.push(line),
    onError: (error) => fail(error.message),
  });
  decoder.write(new TextEncoder().encode(encodeLine({ type: 'keep_alive' })));
  const [near, far] = createMemoryPair();
  const host = new Peer(near, { side: 'host', clock: systemClock });
  const engine = new Peer(far, { side: 'engine', clock: systemClock });
  engine.handle('set_model', ({ model }) => void lines.push(model));
  await host.request('set_model', { model: 'sonnet' });
  host.close();
  say('spoken', lines);
}

function codeOf(run: () => unknown): string {
  try {
    run();
    return 'none';
  } catch (thrown) {
    return thrown instanceof HeddleError ? thrown.code : String(thrown);
  }
}

const fail = (text: string): never => {
  throw new Error(text);
};

try {
  await hello();
  await decide();
  await converse();
  await reach();
  await speak();
  say('constants', [HOOK_EVENTS.slice(0, 13).length, EXIT_REASONS.includes('other')]);
  say(
    'bad option',
    codeOf(() => query({ prompt: 'hi', options: { colour: 'blue' } as Options })),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
