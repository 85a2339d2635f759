import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHome, ensureBuilt, framesOf, runCli } from '../cli/run-cli.js';
import { bytesOf, recordModules, withZod } from './loaded-modules.js';

/** What the program may load before it says something. Raise these only for something a first answer needs. */
const MOST_MODULES = 24;
const MOST_BYTES = 560 * 1024;

const home = createHome();
beforeAll(() => ensureBuilt());
afterAll(() => home.remove());

const STREAM = ['--output-format', 'stream-json', '--verbose', '--model', 'embedded'];

/** The built program, with a record of what it loaded. */
const load = (args: string[], input?: string) =>
  recordModules(async (nodeArgs, env) => {
    const { code, stdout, stderr } = await runCli(home.folder, args, { nodeArgs, env, ...(input && { input }) });
    expect([code, stderr]).toEqual([0, '']);
    expect(framesOf(stdout)[0]).toMatchObject({ type: 'system', subtype: 'init' });
  });

describe('heddle -p before its first frame (A4)', () => {
  it('loads few modules, and no schema library', async () => {
    const { beforeFirstOutput } = await load(['-p', 'hi', ...STREAM]);
    expect(beforeFirstOutput.length).toBeGreaterThan(5);
    expect(beforeFirstOutput.length).toBeLessThanOrEqual(MOST_MODULES);
    expect(withZod(beforeFirstOutput)).toEqual([]);
    expect(bytesOf(beforeFirstOutput)).toBeLessThanOrEqual(MOST_BYTES);
  });

  it('does not load the schema library for an answer without tools at all', async () => {
    const { modules } = await load(['-p', 'hi', ...STREAM]);
    expect(withZod(modules)).toEqual([]);
  });

  it('loads it for a frame from outside, which must be parsed', async () => {
    const prompt = { type: 'user', message: { role: 'user', content: 'hi' }, parent_tool_use_id: null };
    const { modules } = await load(['-p', '--input-format', 'stream-json', ...STREAM], `${JSON.stringify(prompt)}\n`);
    expect(withZod(modules)).toHaveLength(1);
  });
});
