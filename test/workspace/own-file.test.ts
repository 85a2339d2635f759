import { execFileSync } from 'node:child_process';
import { closeSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openOwnFile, readOwnFile, replaceOwnFile } from '../../src/engine/workspace/own-file.js';
import { scratch } from '../engine/kit.js';

const USES = ['read', 'update', 'write', 'append'] as const;
const pipeAt = (path: string): void => void execFileSync('mkfifo', [path]);

describe('a file of ours', () => {
  it.each(USES)('is opened to %s', (use) => {
    const path = join(scratch(), 'own');
    writeFileSync(path, 'x');
    closeSync(openOwnFile(path, use));
    expect(readFileSync(path, 'utf8')).toBe('x');
  });

  it.each(USES)('that is a pipe is refused at once, to %s', (use) => {
    const path = join(scratch(), 'own');
    pipeAt(path);
    expect(() => openOwnFile(path, use)).toThrow(expect.objectContaining({ code: 'EINVAL' }));
    expect(() => openOwnFile(path, use, { mayBeLink: true })).toThrow(/not an ordinary file/);
  });

  it.each(USES)('that is a folder or a socket is refused, to %s', async (use) => {
    const folder = scratch();
    mkdirSync(join(folder, 'folder'));
    expect(() => openOwnFile(join(folder, 'folder'), use)).toThrow(expect.objectContaining({ code: 'EISDIR' }));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(folder, 'socket'), resolve));
    expect(() => openOwnFile(join(folder, 'socket'), use)).toThrow(/not an ordinary file/);
    await new Promise((resolve) => server.close(resolve));
  });

  it.each(USES)('that is a link is refused, to %s, and what it leads to is neither changed nor made', (use) => {
    const folder = scratch();
    const other = join(folder, 'other');
    writeFileSync(other, 'theirs');
    symlinkSync(other, join(folder, 'own'));
    symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'));
    for (const name of ['own', 'dangling']) {
      expect(() => openOwnFile(join(folder, name), use)).toThrow(/ELOOP: it is a link/);
    }
    expect(readFileSync(other, 'utf8')).toBe('theirs');
    expect(readdirSync(folder)).not.toContain('nowhere');
    closeSync(openOwnFile(join(folder, 'own'), use, { mayBeLink: true }));
  });

  it('is read whole, and not when it is too large', () => {
    const path = join(scratch(), 'own');
    writeFileSync(path, 'é'.repeat(50));
    expect(readOwnFile(path, { maxBytes: 100 }).toString()).toBe('é'.repeat(50));
    expect(() => readOwnFile(path, { maxBytes: 99 })).toThrow(expect.objectContaining({ code: 'EFBIG' }));
  });

  it.each([
    ['nothing', () => {}],
    ['a file', (path: string) => writeFileSync(path, 'old')],
    ['a pipe', pipeAt],
    ['a link', (path: string) => symlinkSync(join(path, '..', 'other'), path)],
  ])('takes the place of %s', (_, put) => {
    const folder = scratch();
    const path = join(folder, 'own');
    writeFileSync(join(folder, 'other'), 'theirs');
    put(path);
    replaceOwnFile(path, 'new');
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(lstatSync(path).mode & 0o170777).toBe(0o100600);
    expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('theirs');
    expect(readdirSync(folder).toSorted()).toEqual(['other', 'own']);
  });

  it('leaves nothing behind when it cannot', () => {
    const folder = scratch();
    mkdirSync(join(folder, 'own', 'full'), { recursive: true });
    expect(() => replaceOwnFile(join(folder, 'own'), 'new')).toThrow();
    expect(readdirSync(folder)).toEqual(['own']);
  });
});
