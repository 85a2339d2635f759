// Builds dist/: tsc emits the declarations, esbuild the doors of the library and the CLI as few files that start fast.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const quiet = process.argv.includes('--quiet');
const started = performance.now();
const { dependencies, optionalDependencies, peerDependencies, exports } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);

rmSync(join(root, 'dist'), { recursive: true, force: true });
const tsc = spawnSync(
  process.execPath,
  [join(root, 'node_modules/typescript/bin/tsc'), '-p', root, '--emitDeclarationOnly'],
  { cwd: root, stdio: 'inherit' },
);
if (tsc.status !== 0) process.exit(tsc.status ?? 1);

/** What is small and needed at once goes into the bundles; the rest is found where npm put it. */
const externalBut = (...bundled) =>
  Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).filter(
    (name) => !bundled.includes(name),
  );

const ENGINE = join(root, 'src/engine/');

/**
 * What the engine loads late finds its core loaded. esbuild cannot know that: it would cut the core into a file for every
 * set of late parts that share something of it, and an app would wait for thirty small files. So each late part is made
 * to reach the whole core, which then stays in one.
 */
const wholeCore = {
  name: 'whole core',
  setup({ onLoad, onResolve, resolve }) {
    onResolve({ filter: /^\./ }, async ({ kind, path, importer, resolveDir }) => {
      if (kind !== 'dynamic-import' || !importer.startsWith(ENGINE)) return;
      const found = await resolve(path, { kind: 'import-statement', importer, resolveDir });
      if (found.path.startsWith(ENGINE)) return { path: found.path, namespace: 'late' };
    });
    onLoad({ filter: /./, namespace: 'late' }, ({ path }) => ({
      contents: `import ${JSON.stringify(join(ENGINE, 'core.ts'))}; export * from ${JSON.stringify(path)};`,
      resolveDir: ENGINE,
    }));
  },
};

const shared = {
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  legalComments: 'none',
  logLevel: 'warning',
  logOverride: { 'ignored-bare-import': 'silent' },
  plugins: [wholeCore],
};

// An app that loads a hundred modules waits twice as long for its first message. zod stays outside: apps have it too.
const doors = Object.values(exports).flatMap((door) => door.default?.match(/^\.\/dist\/(.*)\.js$/)?.[1] ?? []);
await build({
  ...shared,
  entryPoints: Object.fromEntries(doors.map((door) => [door, join(root, `src/${door}.ts`)])),
  outdir: join(root, 'dist'),
  chunkNames: 'chunks/[name]-[hash]',
  external: externalBut('unbash'),
});

if (!process.argv.includes('--lib-only')) {
  await build({
    ...shared,
    entryPoints: { main: join(root, 'src/cli/main.ts') },
    outdir: join(root, 'dist/cli-bundle'),
    minifySyntax: true,
    minifyWhitespace: true,
    external: externalBut('zod', 'unbash'),
  });
}

const licences = ['unbash', 'zod'].map(
  (name) => `${name}\n\n${readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8')}`,
);
writeFileSync(
  join(root, 'dist/THIRD-PARTY.txt'),
  `Parts of these packages are in the files here.\n\n${licences.join('\n\n')}`,
);
if (!quiet) console.log(`built dist/ in ${Math.round(performance.now() - started)} ms`);
