import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { retell } from '../../src/engine/workspace/system-error.js';
import { removeFolder } from '../remove-folder.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-full-'));
  await build({
    entryPoints: [join(import.meta.dirname, 'full-disk-host.ts')],
    outfile: join(folder, 'host.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@vscode/ripgrep'],
    logLevel: 'silent',
  });
});

afterAll(() => removeFolder(folder));

describe('a disk that takes no more', () => {
  it('leaves the old file whole, no draft behind, and an error that says so', async () => {
    // The system stops a write in the midst, as a full disk does. Filling a disk would take one of our own.
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      'ulimit -f 64; exec "$0" "$1"',
      process.execPath,
      join(folder, 'host.mjs'),
    ]);
    const refusal = (path: string) => ({
      text: `EFBIG: the file is larger than the system allows, write '${path}'; nothing was written`,
      isError: true,
    });
    expect(JSON.parse(stdout)).toEqual({
      results: [refusal('/kept.txt'), refusal('/kept.txt'), refusal('/kept.txt'), refusal('/new.txt')],
      atFailure: { names: ['kept.txt'], kept: 'old' },
      after: false,
      end: 'little',
    });
  });

  it('is named when it is full, and without the paths that only the process knows', () => {
    const code = 'ENOSPC';
    const error = Object.assign(new Error(`${code}: no space left on device, write`), { code, syscall: 'write' });
    expect(retell(error, { action: 'write', path: '/a/b' })).toMatchObject({
      message: "ENOSPC: the disk is full, write '/a/b'",
      code,
    });
  });
});
