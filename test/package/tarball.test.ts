import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NODES, pack, type Packed, root, run } from './project.js';

/** Raise these when the package has something to show for it. */
const MOST_BYTES = 1.75 * 1024 * 1024;
const MOST_UNPACKED_BYTES = 6.5 * 1024 * 1024;

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  bin: Record<string, string>;
  exports: Record<string, string | { types: string; default: string }>;
  scripts: Record<string, string>;
  sideEffects: boolean;
};

let packed: Packed;
beforeAll(async () => {
  packed = await pack();
});
afterAll(() => packed.remove());

const program = (path: string, args: string[]) =>
  run(NODES['the current Node'], [join(root, 'node_modules', path), ...args], { cwd: root });

describe('the tarball', () => {
  it('holds what is needed to run and to compile, and nothing else', () => {
    const folders = new Set(packed.paths.map((path) => path.split('/').slice(0, -1).slice(0, 2).join('/')));
    expect([...folders].toSorted()).toEqual([
      '',
      'bin',
      'dist',
      'dist/chunks',
      'dist/cli-bundle',
      'dist/engine',
      'dist/protocol',
      'dist/sdk',
      'dist/server',
      'dist/testing',
      'dist/wire',
      'schema',
    ]);
    const kinds =
      /(?:^bin\/heddle\.js|^dist\/.+(?:\.js|\.d\.ts)|^schema\/[\w-]+\.json|^(?:package\.json|README\.md|LICENSE|dist\/THIRD-PARTY\.txt))$/;
    expect(packed.paths.filter((path) => !kinds.test(path))).toEqual([]);
    expect(packed.paths.filter((path) => /\.(?:test|map)\b|(?:^|\/)test\//.test(path))).toEqual([]);
  });

  it('is small', () => {
    expect(packed.bytes).toBeLessThan(MOST_BYTES);
    expect(packed.unpackedBytes).toBeLessThan(MOST_UNPACKED_BYTES);
  });

  it('has every file that package.json points to', () => {
    const targets = Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [target] : Object.values(target),
    );
    const wanted = [...targets, ...Object.values(manifest.bin)].filter((target) => !target.includes('*'));
    expect(wanted.filter((target) => !packed.paths.includes(target.replace('./', '')))).toEqual([]);
    expect(packed.paths).toContain('schema/messages.json');
  });

  it('runs nothing when it is installed (H3), and importing it has no side effects', () => {
    const onInstall = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'];
    expect(onInstall.filter((name) => Object.hasOwn(manifest.scripts, name))).toEqual([]);
    expect(existsSync(join(root, 'binding.gyp'))).toBe(false);
    expect(manifest.sideEffects).toBe(false);
  });

  it('pleases publint', async () => {
    const { code, stdout, stderr } = await program('publint/src/cli.js', ['run', packed.file, '--strict']);
    expect([code, stdout, stderr]).toEqual([0, expect.stringContaining('All good!'), '']);
  });

  it('pleases attw: types and code agree for whoever imports it as ESM', async () => {
    const { code, stdout } = await program('@arethetypeswrong/cli/dist/index.js', [
      packed.file,
      '--profile',
      'esm-only',
      '--format',
      'json',
    ]);
    expect(code, stdout).toBe(0);
  });
});
