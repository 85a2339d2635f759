/** Things that leave a trace when somebody touches them. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

export interface Canaries {
  /** A shell command that leaves a trace of this name. */
  touch(name: string): string;
  /** The traces that were left, sorted. */
  dead(): string[];
}

export function createCanaries(folder: string): Canaries {
  mkdirSync(folder, { recursive: true });
  return {
    touch: (name) => `: > '${join(folder, name)}'`,
    dead: () => readdirSync(folder).toSorted(),
  };
}

export interface Shims {
  /** A PATH on which every program of this machine is found, and noted when it starts. */
  path: string;
  /** What was started since it was last cleared: name and arguments. */
  started(): string[];
  clear(): void;
}

/** Every program by its own name, through a script that notes it first. The script itself needs no PATH. */
export function createShims(folder: string): Shims {
  const bin = join(folder, 'bin');
  const log = join(folder, 'started');
  const script = join(folder, 'shim');
  mkdirSync(bin, { recursive: true });
  const folders = (process.env.PATH ?? '').split(':').filter((each) => each.startsWith('/') && existsSync(each));
  const real = [
    'name="${0##*/}"',
    `printf '%s %s\\n' "$name" "$*" >> '${log}'`,
    `for folder in ${folders.map((each) => `'${each}'`).join(' ')}; do`,
    '  [ -x "$folder/$name" ] && exec "$folder/$name" "$@"',
    'done',
    'exit 127',
  ];
  writeFileSync(script, `#!/bin/sh\n${real.join('\n')}\n`);
  chmodSync(script, 0o755);
  for (const name of new Set(folders.flatMap((each) => readdirSync(each)))) symlinkSync(script, join(bin, name));
  return {
    path: bin,
    started: () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []),
    clear: () => rmSync(log, { force: true }),
  };
}
