import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

const bundle = async (contents: string) => {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: join(root, 'src/protocol'), loader: 'ts' },
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
  });
  return { code: outputFiles[0]?.text ?? '', inputs: Object.keys(metafile.inputs) };
};

/** Runs in a process of its own: others in this one have built schemas already. */
const runFresh = (code: string): unknown => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module'], { input: code, encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
};

describe('schemas', () => {
  it('are not built at import, and then one by one (A1, A4)', async () => {
    const { code } = await bundle(`
      import { builtSchemas, checkFrame } from './index.js';
      const counts = [builtSchemas()];
      checkFrame({ type: 'keep_alive' });
      counts.push(builtSchemas());
      checkFrame({ type: 'keep_alive' });
      counts.push(builtSchemas());
      console.log(JSON.stringify(counts));
    `);
    expect(runFresh(code)).toEqual([0, 1, 1]);
  });

  it('are not needed by plain.ts, nor is the library they are made with', async () => {
    const { code, inputs } = await bundle(`
      import * as plain from './plain.js';
      console.log(JSON.stringify([plain.isControlRequest({ type: 'control_request' }), plain.HOOK_EVENTS.length > 13]));
    `);
    expect(inputs.filter((path) => path.includes('zod'))).toEqual([]);
    expect(runFresh(code)).toEqual([true, true]);
  });
});
