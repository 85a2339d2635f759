/** Runs over WebSockets that are cut again and again give what an undisturbed run gives, and ask once. */
import { z } from 'zod';
import type { Message, MessagesBody } from '../../src/protocol/index.js';
import { createSdkMcpServer, type Options, tool } from '../../src/sdk/index.js';
import type { FakeAnswer, ScriptStep } from '../../src/testing/index.js';
import { type Recorded, record } from '../e2e/record.js';
import { createStage } from '../e2e/stage.js';
import { type ChaosProxy, startChaosProxy } from '../wire/chaos-proxy.js';
import { createRandom, type Random, runMany } from './random.js';

const WORDS = Array.from({ length: 400 }, (_, index) => `word${index} `).join('');

const SCRIPT: readonly ScriptStep<FakeAnswer>[] = [
  { thinking: WORDS, toolUse: { name: 'Bash', input: { command: 'touch made' } } },
  { toolUse: { name: 'mcp__loom__weave', input: { rows: 3 } } },
  { text: WORDS, deltas: 100, eventsPerWrite: 10 },
];

/** Resolves with what went wrong. */
export async function runDropped(count: number, seed: number): Promise<string[]> {
  const undisturbed = await playOnce(undefined);
  return runMany({ count, atOnce: 10 }, async (index) => {
    const disturbed = await playOnce(createRandom(seed + index));
    if (disturbed !== undisturbed) throw new Error(`a different record:\n${disturbed}`);
  });
}

/** What happened, as text. */
async function playOnce(random: Random | undefined): Promise<string> {
  let line: ChaosProxy | undefined;
  const stage = await createStage({
    carrier: 'websocket',
    script: SCRIPT,
    via: async (target) => {
      line = await startChaosProxy({
        target,
        // Each socket may carry more than the one before, so that every run comes to its end.
        ...(random && { cutAfter: (socket: number) => 400 + random.below(8_000) * socket }),
      });
      return line.url;
    },
  });
  const cutNow = (): void => {
    if (random && random.next() < 0.5) line?.cut();
  };
  const loom = createSdkMcpServer({
    name: 'loom',
    tools: [
      tool('weave', 'Weaves', { rows: z.number() }, async ({ rows }) => {
        stage.note(`wove ${rows}`);
        cutNow();
        return { content: [{ type: 'text', text: `${rows} rows` }] };
      }),
    ],
  });
  const options: Options = {
    includePartialMessages: true,
    mcpServers: { loom },
    canUseTool: async (name) => {
      stage.note(`asked about ${name}`);
      cutNow();
      return { behavior: 'allow' };
    },
  };
  try {
    const messages = await stage.run('Go', options, (message) => {
      if (message.type === 'assistant') cutNow();
    });
    stage.runs.splice(0, 1, messages.filter(isNoDelta));
    stage.note(`streamed ${streamedIn(messages)}`);
    return JSON.stringify(withoutArrivals(record(stage)));
  } finally {
    await line?.close();
    await stage.close();
  }
}

/**
 * A line that is cut while a server is greeted brings it later, maybe after the first request: its tools are then found, not
 * listed. What is said in the conversation is the same.
 */
function withoutArrivals({ outline, messages, requests }: Recorded): unknown {
  const [[init, ...rest] = []] = messages as { type: string }[][];
  return { outline, init: init?.type, rest, requests: (requests as MessagesBody[]).map(saidIn) };
}

/** The conversation without what the engine adds to it, such as news of servers, and without marks for the cache. */
const saidIn = ({ messages }: MessagesBody): unknown =>
  messages.map(({ role, content }) => [
    role,
    typeof content === 'string'
      ? content
      : content
          .filter((block) => block.type !== 'text' || !block.text.startsWith('<system-reminder>'))
          .map((block) => ({ ...block, cache_control: undefined })),
  ]);

/** Deltas that wait together may become one, so they are compared by what they say. */
const isNoDelta = (message: Message): boolean =>
  message.type !== 'stream_event' || message.event.type !== 'content_block_delta';

const streamedIn = (messages: readonly Message[]): string =>
  messages
    .map((message) => {
      if (message.type !== 'stream_event' || message.event.type !== 'content_block_delta') return '';
      const { delta } = message.event;
      if (delta.type === 'text_delta') return delta.text;
      return delta.type === 'thinking_delta' ? delta.thinking : '';
    })
    .join('');
