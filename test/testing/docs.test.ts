import { execFile } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { scratch } from './scratch.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const source = (name: string) => join(root, 'src', name, 'index.ts');

/** The names of the package lead to its source, so that the test needs no build. */
const CONFIG = `export default {
  cacheDir: '.cache',
  resolve: {
    alias: [
      { find: /^heddle\\/testing$/, replacement: ${JSON.stringify(source('testing'))} },
      { find: /^heddle$/, replacement: ${JSON.stringify(source('sdk'))} },
    ],
  },
  test: { include: ['*.test.ts'] },
};
`;

describe('docs/testing.md', () => {
  it('H4: the example test passes as it stands', async () => {
    const page = readFileSync(join(root, 'docs/testing.md'), 'utf8');
    const [, example = ''] = /## A whole test\n\n```ts\n([\s\S]*?)```/.exec(page) ?? [];
    expect(example).toContain("from 'heddle/testing'");

    const folder = scratch();
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
    writeFileSync(join(folder, 'vitest.config.mjs'), CONFIG);
    writeFileSync(join(folder, 'example.test.ts'), example);
    const report = join(folder, 'report.json');
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    // A loaded machine may take longer than a reader's.
    const args = ['run', '--root', folder, '--testTimeout=60000', '--reporter=json', `--outputFile=${report}`];
    const env = { PATH: process.env['PATH'], HOME: folder };
    // A failed test is in the report, with its words; only a run without a report is thrown as it is.
    await promisify(execFile)(process.execPath, [vitest, ...args], { cwd: folder, env }).catch((error: unknown) => {
      if (!existsSync(report)) throw error;
    });
    const { testResults, ...counts } = JSON.parse(readFileSync(report, 'utf8')) as Record<string, unknown>;
    expect(counts, JSON.stringify(testResults)).toMatchObject({ success: true, numTotalTests: 1, numPassedTests: 1 });
  });
});
