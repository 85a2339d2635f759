/** Write and Edit while another process swaps what they write to for links that lead outside. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { editTool } from '../../src/engine/tools/edit.js';
import { writeTool } from '../../src/engine/tools/write.js';
import { createBench, type Bench } from '../tools/bench.js';
import { removeFolder } from '../remove-folder.js';

interface Attack {
  /** What is swapped for a link to the same place of the outside folder. */
  victim: string;
  /** The file that the tools are told to write, in the n-th round. */
  target: (round: number) => string;
}

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'the file': { victim: 'file', target: () => 'file' },
  'its folder': { victim: 'folder', target: () => 'folder/file' },
  'a folder above': { victim: 'folder', target: () => 'folder/deep/er/file' },
  'the folder of new files': { victim: 'folder', target: (round) => `folder/new-${round}` },
  'the folder of missing folders': { victim: 'folder', target: (round) => `folder/new-${round}/deep/file` },
};

const SECRET = 'not for the eyes of the agent';

/** Resolves with what went wrong: nothing, in so many swaps. */
export async function runSwaps(swaps: number, attack: Attack): Promise<string[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-swaps-')));
  const [inside, outside] = [join(root, 'inside'), join(root, 'outside')];
  const bench = createBench();
  // A ledger that knows everything: only the workspace stands between the tools and the outside.
  bench.ledger = { note() {}, compare: () => 'current' };
  try {
    for (const name of ['file', 'folder/file', 'folder/deep/er/file']) {
      put(join(inside, name), 'one');
      put(join(outside, name), `one ${SECRET}`);
    }
    const before = snapshot(outside);
    const swapper = startSwapper(join(inside, attack.victim), join(outside, attack.victim));
    const seen = { written: 0, refused: 0 };
    const problems = new Set<string>();
    for (let round = 0; swapper.swaps() < swaps || seen.written === 0 || seen.refused === 0; round += 1) {
      const path = join(inside, attack.target(round));
      // As the pipeline does: the place is the one that was judged first, whatever has happened since.
      bench.judged.set(path, path);
      for (const output of await writeAndEdit(bench, path)) {
        if (JSON.stringify(output).includes(SECRET)) problems.add(`the result tells what is outside: ${output.text}`);
        if (output.isError !== true) seen.written += 1;
        else if (output.text.includes('is reached through a link')) seen.refused += 1;
      }
      bench.judged.delete(path);
      await turn();
    }
    await swapper.stop();
    if (snapshot(outside) !== before) problems.add('something outside was changed');
    const drafts = namesIn(root).filter((name) => name.includes('.heddle-'));
    return [...problems, ...drafts.map((name) => `a draft was left: ${name}`)];
  } finally {
    await bench.close();
    removeFolder(root);
  }
}

const writeAndEdit = async (bench: Bench, path: string) => [
  await bench.call(writeTool, { file_path: path, content: 'one' }),
  await bench.call(editTool, { file_path: path, old_string: 'one', new_string: 'two' }),
];

function startSwapper(victim: string, elsewhere: string): { swaps(): number; stop(): Promise<void> } {
  const program = fileURLToPath(new URL('swapper.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, victim, elsewhere], { stdio: ['pipe', 'pipe', 'inherit'] });
  let swaps = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    swaps += chunk.toString().split('\n').length - 1;
  });
  const ended = once(child, 'exit');
  return {
    swaps: () => {
      if (child.exitCode !== null) throw new Error(`The swapper ended by itself with ${child.exitCode}.`);
      return swaps;
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const namesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .toSorted();

/** All that a write would change: names, contents and times. */
const snapshot = (folder: string): string =>
  JSON.stringify(
    [folder, ...namesIn(folder)].map((path) => {
      const stats = statSync(path);
      return [path, stats.ino, stats.mtimeMs, stats.isFile() ? readFileSync(path, 'utf8') : ''];
    }),
  );
