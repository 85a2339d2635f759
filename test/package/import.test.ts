import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bytesOf, recordModules, withZod } from '../counts/loaded-modules.js';
import { NODES, root, run } from './project.js';

/** What the root may load. Raise these only for something that is needed before the first query. */
const MOST_FILES = 6;
const MOST_BYTES = 200 * 1024;

interface Loaded {
  files: number;
  bytes: number;
  /** The source files in what was loaded: the bundler leaves their names. */
  sources: string[];
  /** The packages among it. */
  packages: string[];
  zod: string[];
}

/** What a few lines of code load, in a process of their own that uses the package by its name. */
async function load(code: string): Promise<Loaded> {
  const { modules } = await recordModules(async (nodeArgs, env) => {
    const args = [...nodeArgs, '--input-type=module', '--eval', code];
    const outcome = await run(NODES['the current Node'], args, { cwd: root, env: { PATH: process.env.PATH, ...env } });
    expect(outcome).toEqual({ code: 0, stdout: '', stderr: '' });
  });
  const texts = modules.map(({ path }) => readFileSync(path, 'utf8'));
  return {
    files: modules.length,
    bytes: bytesOf(modules),
    sources: texts.flatMap((text) => [...text.matchAll(/^\/\/ (src\/\S+)$/gm)].map(([, source = '']) => source)),
    packages: modules.flatMap(({ path }) => /node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)/.exec(path)?.[1] ?? []),
    zod: withZod(modules),
  };
}

const IMPORT = "import { createSdkMcpServer, query, tool } from 'heddle';";
const DEFINE = `createSdkMcpServer({ name: 'a', tools: [tool('b', 'c', {}, async () => ({ content: [] }))] });`;
const ASK = `for await (const _ of query({ prompt: 'hi', options: { model: 'embedded', persistSession: false } }));`;
const ofLayer = (sources: readonly string[], layer: string) =>
  sources.filter((path) => path.startsWith(`src/${layer}/`));

describe('import of the package root, and definitions of tools', () => {
  it('loads few files: no package, no schema, no engine', async () => {
    const loaded = await load(`${IMPORT}\n${DEFINE}`);
    expect(loaded.sources).toContain('src/sdk/query.ts');
    expect(loaded).toMatchObject({ packages: [], zod: [] });
    expect(loaded.sources).not.toContain('src/protocol/lazy.ts');
    expect([...ofLayer(loaded.sources, 'engine'), ...ofLayer(loaded.sources, 'testing')]).toEqual([]);
    expect(loaded.files).toBeLessThanOrEqual(MOST_FILES);
    expect(loaded.bytes).toBeLessThanOrEqual(MOST_BYTES);
  });

  it('leaves the engine to the first query, and what the query does not need to later ones', async () => {
    const { sources, packages } = await load(`${IMPORT}\n${ASK}`);
    expect(sources).toContain('src/engine/turn.ts');
    expect(packages.filter((name) => name === 'ws' || name === 'undici' || name.startsWith('@vscode'))).toEqual([]);
  });
});

describe('a Node that is too old', () => {
  it.each(['20.19.5', '22.15.1'])('%s is told at the import, with the version that is needed', async (version) => {
    const older = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`;
    const args = [
      '--import',
      `data:text/javascript,${encodeURIComponent(older)}`,
      '--input-type=module',
      '--eval',
      IMPORT,
    ];
    const { code, stderr } = await run(NODES['the current Node'], args, { cwd: root, env: { PATH: process.env.PATH } });
    expect(code).toBe(1);
    expect(stderr).toContain(`HeddleError: Heddle needs Node 22.16 or newer; this is ${version}.`);
  });
});

describe('import of the protocol', () => {
  it('builds no schema', async () => {
    const built = "import { builtSchemas } from 'heddle/protocol'; process.exitCode = builtSchemas();";
    expect((await load(built)).packages).toContain('zod');
  });
});
