// Builds dist/: tsc emits the library (ESM and declarations), esbuild bundles the CLI so that it starts fast.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const quiet = process.argv.includes('--quiet');
const started = performance.now();

rmSync(join(root, 'dist'), { recursive: true, force: true });
const tsc = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', root], {
  cwd: root,
  stdio: 'inherit',
});
if (tsc.status !== 0) process.exit(tsc.status ?? 1);

if (!process.argv.includes('--lib-only')) {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  await build({
    entryPoints: { main: join(root, 'src/cli/main.ts') },
    outdir: join(root, 'dist/cli-bundle'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    // Packages with binaries of their own must stay outside the bundle; zod is worth bundling (start-up).
    external: Object.keys(dependencies).filter((name) => name !== 'zod' && name !== 'unbash'),
    logLevel: 'warning',
  });
}
if (!quiet) console.log(`built dist/ in ${Math.round(performance.now() - started)} ms`);
