/** Runs programs under a real bash whose commands note how they were called. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NAMES } from './shell-programs.js';
import { removeFolder } from '../remove-folder.js';

export interface Ran {
  line: string;
  /** The name and arguments of each command that really ran, in no certain order. */
  commands: string[][];
}

// One write for each note, because parts of a pipeline run at the same time.
const SHIM = '#!/bin/sh\nprintf \'%s\\001\' "${0##*/}" "$@" "$(printf \'\\002\')" >> "$NOTES"\n';

// A program may end its shell, and run what ends others: each has a shell of its own, in a group of its own.
const RUNNER = `
while IFS= read -r -d '' NOTES && IFS= read -r -d '' PLACE && IFS= read -r -d '' LINE; do
  export NOTES
  cd "$PLACE" && { timeout -k 1 5 bash --norc --noprofile -c "$LINE" < /dev/null > /dev/null 2>&1 & }
  wait $!
  # What a program leaves in the background is in the group of its timeout, and may run for ever.
  kill -KILL -- -$! 2> /dev/null
done`;

export interface Shims {
  run(lines: readonly string[]): Promise<Ran[]>;
  close(): void;
}

export function createShims(): Shims {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-shims-'));
  const shims = join(folder, 'bin');
  mkdirSync(shims);
  for (const name of NAMES) {
    writeFileSync(join(shims, name), SHIM);
    chmodSync(join(shims, name), 0o755);
  }
  let count = 0;
  return {
    async run(lines) {
      const jobs = lines.map((line) => {
        count += 1;
        const place = join(folder, String(count));
        mkdirSync(place);
        return { line, place, notes: `${place}.notes` };
      });
      const env = { PATH: `${shims}:/usr/bin:/bin`, SHIMS: shims, HOME: folder, LC_ALL: 'C.UTF-8', FUNCNEST: '20' };
      await feed(jobs.map(({ line, place, notes }) => `${notes}\0${place}\0${line}\0`).join(''), env);
      return jobs.map(({ line, place, notes }) => {
        const commands = readNotes(notes);
        removeFolder(place);
        return { line, commands };
      });
    },
    // What a program left in the background may still be writing.
    close: () => removeFolder(folder),
  };
}

const feed = (input: string, env: Record<string, string>): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn('bash', ['--norc', '-c', RUNNER], { env, stdio: ['pipe', 'ignore', 'ignore'] });
    child.once('error', reject);
    child.once('close', () => resolve());
    child.stdin.end(input);
  });

function readNotes(path: string): string[][] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return [];
  }
  return text
    .split('\x02\x01')
    .slice(0, -1)
    .map((note) => note.split('\x01').slice(0, -1));
}
