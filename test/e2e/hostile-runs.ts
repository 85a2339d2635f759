/** B2, B5: Bash calls that try to stay, to flood or to get away leave nothing once their session is closed. */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine, createMemoryStore, createScriptedModel, systemClock } from '../../src/engine/index.js';
import type { Message, ResultMessage } from '../../src/protocol/index.js';
import { toolResults } from '../../src/testing/index.js';
import { bearersOf } from '../soak/processes.js';
import { createRandom, type Random, runMany } from '../soak/random.js';
import { removeFolder } from '../remove-folder.js';

const CALLS_OF_A_SESSION = 10;
const GONE_WITHIN_MS = 20_000;

/** Each leaves or keeps something running, in its own way. */
const HOSTILE: readonly string[] = [
  'sleep 300 &',
  'nohup sleep 300 > /dev/null 2>&1 &',
  'setsid sleep 300 > /dev/null 2>&1 &',
  '( ( sleep 300 & ) & )',
  'setsid bash -c "setsid sleep 300 & sleep 300" & disown -a',
  "trap '' TERM HUP INT; sleep 300",
  'bash -c \'trap "" TERM; while :; do sleep 0.05; done\' &',
  'yes',
  'yes > /dev/null &',
  'yes | head -c 30000000',
  'cat /dev/zero | head -c 50000000',
  'kill -STOP $$',
  'exec setsid sleep 300',
  'for n in 1 2 3 4 5 6 7 8; do setsid sleep 300 & done; wait',
  'coproc sleep 300; echo started',
  'mkfifo f 2>/dev/null; cat f',
  'read line; echo "$line"',
  'exec 3<>/dev/null; sleep 300 <&3 >&3 2>&3 &',
  'kill -9 $$',
  'ulimit -c 0; kill -SEGV $$',
];

/** Resolves with what went wrong. */
export async function runHostile(count: number, seed: number): Promise<string[]> {
  const root = mkdtempSync(join(tmpdir(), 'heddle-hostile-'));
  try {
    return await runMany({ count: Math.ceil(count / CALLS_OF_A_SESSION), atOnce: 4 }, (index) =>
      runSession(join(root, String(index)), createRandom(seed + index)),
    );
  } finally {
    removeFolder(root);
  }
}

async function runSession(cwd: string, random: Random): Promise<void> {
  mkdirSync(cwd);
  const marker = `${cwd}/of-this-run`;
  const calls = Array.from({ length: CALLS_OF_A_SESSION }, () => ({
    name: 'Bash',
    input: { command: random.pick(HOSTILE), timeout: 200, run_in_background: random.below(4) === 0 },
  }));
  const provider = createScriptedModel([{ toolUse: calls }, ...Array.from({ length: 20 }, () => 'ok')]);
  const engine = createEngine({ clock: systemClock, store: createMemoryStore(), provider });
  const session = await engine.open({
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, IS_SANDBOX: '1', HEDDLE_SOAK: marker },
    configDir: join(cwd, 'config'),
    permissionMode: 'bypassPermissions',
    allowDangerouslySkipPermissions: true,
  });
  const messages: Message[] = [];
  const over = Promise.withResolvers<ResultMessage>();
  session.attach({
    deliver(message) {
      messages.push(message);
      if (message.type === 'result') over.resolve(message);
    },
  });
  session.submit({ type: 'user', message: { role: 'user', content: 'go' }, parent_tool_use_id: null });
  if (random.below(3) === 0) setTimeout(() => session.interrupt(), random.below(1_000));
  await over.promise;
  const { length } = toolResults(messages);
  if (length !== calls.length) throw new Error(`${length} of ${calls.length} calls have a result`);
  await session.close();
  const deadline = Date.now() + GONE_WITHIN_MS;
  for (;;) {
    const left = bearersOf(marker);
    if (left.length === 0) return;
    if (Date.now() > deadline) throw new Error(`${left.length} processes were left behind`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
