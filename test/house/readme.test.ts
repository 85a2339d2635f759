import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { root } from './tree.js';
import { removeFolder } from '../remove-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'heddle-readme-'));
afterAll(() => removeFolder(folder));

describe('the program in the README', () => {
  it('runs as it stands, against the built package, with no key', async () => {
    const [, program = ''] = /```js\n(import [\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? [];
    expect(program).toContain("from 'heddle'");
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(root, join(folder, 'node_modules/heddle'), 'dir');
    writeFileSync(join(folder, 'program.mjs'), program);

    const env = { PATH: process.env['PATH'], HOME: folder, HEDDLE_CONFIG_DIR: join(folder, 'config') };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['program.mjs'], { cwd: folder, env });

    expect(stderr).toBe('');
    expect(stdout).toMatch(/name: 'Glob'/);
    expect(stdout).toMatch(/^success \S/m);
  });
});
