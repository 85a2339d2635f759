/** Recorded exchanges of existing clients with their engine, one frame per line. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../fixtures/wire');

export interface Line {
  dir: 'to-cli' | 'from-cli';
  frame: { type: string; [field: string]: unknown };
}

export const recordings = ['0.1', '0.2', '0.3'].flatMap((version) =>
  readdirSync(join(root, version)).map((file) => ({
    name: `${version}/${file}`,
    lines: readFileSync(join(root, version, file), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line),
  })),
);
