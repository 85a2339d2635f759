import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeFolder } from '../remove-folder.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-large-'));
  await build({
    entryPoints: [join(import.meta.dirname, 'large-files-host.ts')],
    outfile: join(folder, 'host.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@vscode/ripgrep', 'sharp', 'unpdf'],
    logLevel: 'silent',
  });
});

afterAll(() => removeFolder(folder));

it('files of millions of lines are read and changed in little memory, and told of in short', async () => {
  // A string or a call for each line or character would take gigabytes.
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--max-old-space-size=300',
    join(folder, 'host.mjs'),
  ]);
  const updated = (name: string) => ({
    text: `The file /${name} has been updated. All occurrences were successfully replaced.`,
    isError: false,
    size: expect.toSatisfy((size: number) => size < 1_000),
  });
  const { readQuotes, replaced, ...others } = JSON.parse(stdout);
  expect(others).toEqual({
    bothEnds: updated('lines'),
    everywhere: {
      text: 'Found more than 1,000,000 matches, too many for this tool. Use a program such as sed with Bash.',
      isError: true,
      size: 4,
    },
    crlf: updated('crlf'),
    notThere: { text: 'String to replace not found in file.\nString: something', isError: true, size: 4 },
    quotes: updated('quotes'),
    ends: { lines: ['Y\nab', 'b\nY\n'], crlf: ['c\r\nd', 'c\nd\n'], long: ['hell', 'ello'] },
  });
  expect(readQuotes.text).toMatch(
    /^1\t“{2000}\.\.\. \[cut: this line has 30,000,000 characters\]\n\n\[The file is not UTF-8/,
  );
  expect(replaced).toMatchObject({ text: 'The file /long has been updated successfully.', isError: false });
  expect(replaced.size).toBeLessThan(100_000);
});
