/** C6, F1, B3: agents that write files, killed at random moments again and again, and what they leave behind. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toContext } from '../../src/engine/context.js';
import { openCalls } from '../../src/engine/next-action.js';
import { readEntries, toChain } from '../../src/engine/sessions/chain.js';
import { isLifeEntry } from '../../src/engine/sessions/entry.js';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import { cutAnswers } from '../../src/engine/sessions/resume.js';
import type { MessageParam, ToolResultBlock } from '../../src/protocol/index.js';
import { type Agents, createAgents, messagesOf, requestsOf } from '../faults/agents.js';
import type { AgentOrder, Said } from '../faults/child/order.js';
import { faultsIn, unansweredIn } from '../faults/pairs.js';
import { bearersOf, isRunning } from './processes.js';
import { createRandom, type Random, runMany } from './random.js';
import { removeFolder } from '../remove-folder.js';

/** How often one session is killed before it may come to its end. */
const KILLS_EACH = 5;
/** B3 gives orphans 5 s; a busy machine may take longer to see it. */
const GONE_WITHIN_MS = 20_000;

/** Kills so many agents. Resolves with what went wrong. */
export async function runKilledAgents(kills: number, seed: number): Promise<string[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-kills-')));
  const agents = await createAgents();
  try {
    return await runMany({ count: Math.ceil(kills / KILLS_EACH), atOnce: 2 }, async (index) => {
      const cwd = join(root, String(index));
      mkdirSync(cwd);
      await runSession(cwd, { agents, random: createRandom(seed + index) });
    });
  } finally {
    await agents.stop();
    removeFolder(root);
  }
}

async function runSession(cwd: string, { agents, random }: { agents: Agents; random: Random }): Promise<void> {
  const order: AgentOrder = {
    cwd,
    configDir: join(cwd, 'config'),
    sessionId: crypto.randomUUID(),
    plan: 'files',
    answer: 'allow',
    env: { HEDDLE_KILLS: cwd },
  };
  for (let kill = 0; kill < KILLS_EACH; kill += 1) {
    const agent = agents.start(await nextOrder(order));
    const sinceStart = random.next() < 0.2;
    if (!sinceStart) await agent.reaches('ready');
    await new Promise((resolve) => setTimeout(resolve, random.below(sinceStart ? 150 : 200)));
    await agent.kill();
    checkSaid(agent.said);
    await checkLeft(order, `kill ${kill + 1}`);
  }
  const said = await agents.start(await nextOrder(order)).ended;
  checkSaid(said);
  const last = messagesOf(said).at(-1);
  if (last?.result !== 'All written.') throw new Error(`it ended with ${JSON.stringify(last)}`);
  await checkLeft(order, 'the end');
}

/** Goes on with what is there; a process that died before its first line has left nothing. */
async function nextOrder(order: AgentOrder): Promise<AgentOrder> {
  const { lines = [] } = (await createFileStore(order).load(order.sessionId)) ?? {};
  if (lines.length > 0) return { ...order, open: 'resume', orPrompt: 'Go on' };
  // A log that was made and never written cannot be resumed, and its id is taken.
  order.sessionId = crypto.randomUUID();
  return { ...order, prompt: 'Go' };
}

function checkSaid(said: readonly Said[]): void {
  const faults = requestsOf(said).flatMap(faultsIn);
  if (faults.length > 0) throw new Error(`a request that the API refuses: ${faults.join('; ')}`);
}

/** What must be so whenever no process runs. */
async function checkLeft({ cwd, configDir, sessionId }: AgentOrder, when: string): Promise<void> {
  const fail = (text: string): never => {
    throw new Error(`after ${when}: ${text}`);
  };
  const store = createFileStore({ configDir });
  const lease = store.lease({ sessionId, cwd });
  if (lease instanceof Promise) fail('the lease of a dead process is not free at once');
  else await lease.release();

  const { lines = [] } = (await store.load(sessionId)) ?? {};
  const entries = toChain(await readEntries(lines));
  if (entries.length !== lines.length) fail(`${lines.length - entries.length} lines are not part of the session`);
  const cut = new Set(cutAnswers(entries).map(({ messageId }) => messageId));
  const isAborted = (messageId: string) =>
    entries.some((entry) => isLifeEntry(entry) && entry.kind === 'aborted' && entry.messageId === messageId);
  const whole = entries.filter((entry) => entry.type !== 'assistant' || !cut.has(entry.message.id));
  const open = openCalls(whole)
    .map(({ block }) => block.id)
    .join();
  const unanswered = unansweredIn(whole.filter((entry) => entry.type !== 'assistant' || !isAborted(entry.message.id)));
  if (open !== unanswered.join()) fail(`${unanswered.join()} have no result, ${open} are open`);

  const started = new Set(
    entries.flatMap((entry) =>
      isLifeEntry(entry) && entry.kind === 'call' && entry.state === 'started' ? [entry.toolUseId] : [],
    ),
  );
  for (const name of readdirSync(cwd)) {
    const id = /^(?:count|written)-(c\d+)$/.exec(name)?.[1];
    if (id === undefined) continue;
    const text = readFileSync(join(cwd, name), 'utf8');
    if (name.startsWith('count') && text.length > 1) fail(`the effect of ${id} came ${text.length} times`);
    if (!started.has(id)) fail(`${name} is there, and the log does not know of its start`);
  }
  for (const id of succeededIn(toContext(whole))) {
    const number = Number(id.slice(1));
    const [name, text] = number % 3 === 0 ? [`written-${id}`, `${id}\n`] : [`count-${id}`, 'x'];
    const path = join(cwd, name);
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) fail(`the log says that ${name} is written`);
  }
  const left = await whoStays(cwd);
  if (left > 0) fail(`${left} processes are left`);
}

const succeededIn = (context: readonly MessageParam[]): string[] =>
  context
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter((block): block is ToolResultBlock => block.type === 'tool_result' && block.is_error !== true)
    .map((block) => block.tool_use_id);

async function whoStays(marker: string): Promise<number> {
  const deadline = performance.now() + GONE_WITHIN_MS;
  for (;;) {
    const left = bearersOf(`HEDDLE_KILLS=${marker}`).filter(isRunning).length;
    if (left === 0 || performance.now() > deadline) return left;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
