/** Writes a large file, says so when the first part of it is on the disk, and never ends it. */
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeWhole } from '../../src/engine/workspace/files.js';

const [, , path = ''] = process.argv;
const folder = dirname(path);

const tell = (): void => {
  const draft = readdirSync(folder).find((name) => name.startsWith('.heddle-'));
  if (draft === undefined || statSync(join(folder, draft)).size === 0) return void setImmediate(tell);
  process.stdout.write('begun');
  // Nothing else of this process runs any more: it can only be killed.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};

setImmediate(tell);
await writeWhole(path, Buffer.alloc(50_000_000));
