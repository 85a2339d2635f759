import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeAnswer, type FakeApi, type ScriptStep, startFakeApi } from '../../src/testing/index.js';
import { createProject, NODES, type Outcome, pack, type Packed, type Project, root } from './project.js';

const NAME = '@anthropic-ai/claude-agent-sdk';
const PATIENCE = 180_000;
const names = JSON.parse(readFileSync(join(root, 'test/fixtures/sdk-0.2-names.json'), 'utf8')) as {
  types: string[];
  values: string[];
};

let packed: Packed;
let project: Project;
let compiled: Promise<Outcome>;

beforeAll(async () => {
  packed = await pack();
  project = await createProject(packed, { programs: 'drop-in', installAs: NAME });
  writeFileSync(join(project.folder, 'names.ts'), `export type { ${names.types.join(', ')} } from '${NAME}';\n`);
  writeFileSync(join(project.folder, 'values.ts'), `export { ${names.values.join(', ')} } from '${NAME}';\n`);
  compiled = project.compile('TypeScript 7', 'emit');
});
afterAll(async () => {
  await compiled;
  project.remove();
  packed.remove();
});

/** Runs a program against a model API that plays a script. */
async function play(node: keyof typeof NODES, file: string, steps: ScriptStep<FakeAnswer>[]): Promise<string[]> {
  await compiled;
  const api: FakeApi = await startFakeApi(steps);
  try {
    const env = { ANTHROPIC_API_KEY: 'test', ANTHROPIC_BASE_URL: api.url };
    const { code, stdout, stderr } = await project.start(node, file, env);
    expect([code, stderr]).toEqual([0, '']);
    api.assertDone();
    return stdout.trim().split('\n');
  } finally {
    await api.close();
  }
}

describe('programs written for SDK 0.2, with the package under the name of the other', () => {
  it(
    'compile unchanged: its names exist, with the shapes that programs rely on',
    async () => {
      const { code, stdout } = await compiled;
      expect([stdout, code]).toEqual(['', 0]);
      expect(names.types.length).toBeGreaterThan(100);
    },
    PATIENCE,
  );

  describe.each(Object.keys(NODES) as (keyof typeof NODES)[])('run unchanged on %s', (node) => {
    it(
      'streaming input, canUseTool, partial messages, results by subtype',
      async () => {
        const lines = await play(node, 'edit-files.js', [
          { text: 'Writing.', toolUse: { name: 'Write', input: { file_path: 'hello.txt', content: 'hello' } } },
          'Written.',
          { toolUse: { name: 'Bash', input: { command: 'rm hello.txt' } } },
          'I may not.',
        ]);
        expect(lines).toEqual([
          'init: true true 0 default',
          'text: Writing.',
          'tool: Write',
          'text: Written.',
          'success: Written. 2 true',
          'tokens: true',
          'cache: 0',
          'init: true true 0 default',
          'tool: Bash',
          'text: I may not.',
          'success: I may not. 2 true',
          'denied: Bash',
          'tokens: true',
          'cache: 0',
          'streamed: Writing.Written.I may not.',
          'asked: Write with suggestions, Bash with suggestions',
          'session: string',
        ]);
      },
      PATIENCE,
    );

    it(
      'tools of zod 4 shapes',
      async () => {
        const lines = await play(node, 'custom-tools.js', [
          { toolUse: { name: 'mcp__weather__get_weather', input: { city: 'Tartu' } } },
          { toolUse: { name: 'mcp__weather__always_fails', input: {} } },
          'It is 18 degrees.',
        ]);
        expect(lines).toEqual([
          'result: [{"type":"text","text":"Tartu: 18 celsius, 1 day"}]',
          'error: "out of order"',
          'success It is 18 degrees.',
        ]);
      },
      PATIENCE,
    );

    it(
      'tools of zod 3 shapes, in a project that has zod 3',
      async () => {
        const lines = await play(node, 'zod3/custom-tools.js', [
          { toolUse: { name: 'mcp__math__add', input: { a: 2, mode: null, note: ' apples ' } } },
          { toolUse: { name: 'mcp__math__add', input: { a: 'two', mode: null } } },
          'Three.',
        ]);
        expect(lines).toEqual([
          'result: [{"type":"text","text":"3 apples"}]',
          expect.stringContaining('Invalid arguments for tool add: a: Expected number, received string'),
          'success',
        ]);
      },
      PATIENCE,
    );

    it(
      'sessions of the V2 interface',
      async () => {
        const lines = await play(node, 'sessions.js', ['Hello Ann.', 'You are Ann.', 'Still Ann.', '4']);
        expect(lines).toEqual(['Hello Ann.', 'You are Ann.', 'Still Ann.', 'same session: true', '4']);
      },
      PATIENCE,
    );
  });
});
