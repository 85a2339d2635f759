import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/protocol/plain.js';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';
import { findRipgrep } from '../../src/engine/workspace/ripgrep.js';

const notPackaged = async () => undefined;

describe('findRipgrep', () => {
  it('finds the program of the package, which runs', async () => {
    const workspace = createLocalWorkspace({ clock: systemClock });
    let text = '';
    const exit = await workspace.run({
      argv: [await workspace.ripgrep(), '--version'],
      cwd: '/',
      env: {},
      signal: new AbortController().signal,
      onOutput: (chunk) => {
        text += Buffer.from(chunk).toString();
      },
    });
    expect(exit.code).toBe(0);
    expect(text).toMatch(/^ripgrep \d+/);
  });

  it('falls back to PATH', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-rg-'));
    try {
      await writeFile(join(folder, 'rg'), '', { mode: 0o755 });
      const found = await findRipgrep({
        env: { PATH: ['', '/nowhere', folder].join(delimiter) },
        packaged: notPackaged,
      });
      expect(found).toBe(join(folder, 'rg'));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('says what is missing', async () => {
    await expect(findRipgrep({ env: { PATH: '/nowhere' }, packaged: notPackaged })).rejects.toMatchObject({
      code: 'ripgrep_missing',
    });
  });
});
