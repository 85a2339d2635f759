import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readApi } from '../../scripts/api-report.js';
import { COMPILERS, createProject, NODES, type Outcome, pack, type Packed, type Project } from './project.js';

let packed: Packed;
let project: Project;
/** Both compilers at once, because the older one is slow. The newer one also writes the JavaScript that is run. */
let compiled: Record<keyof typeof COMPILERS, Promise<Outcome>>;

beforeAll(async () => {
  packed = await pack();
  project = await createProject(packed, { programs: 'consumer', installAs: 'heddle' });
  writeFileSync(join(project.folder, 'names.ts'), noNameIsAny());
  compiled = {
    'TypeScript 7': project.compile('TypeScript 7', 'emit'),
    'TypeScript 5.9': project.compile('TypeScript 5.9', 'check'),
  };
});
afterAll(async () => {
  await Promise.all(Object.values(compiled));
  project.remove();
  packed.remove();
});

/** A file that compiles only if no public name, be it a type or a value, is `any`. */
function noNameIsAny(): string {
  const lines = readApi().flatMap(({ entry, names }, index) => {
    const checks = [...names].flatMap(([name, { values, types }]) => [
      ...values.map(() => `IsAny<typeof E${index}.${name}>`),
      ...types.flatMap((text) => (/^(?:type|interface|class) [\w$]+</.test(text) ? [] : [`IsAny<E${index}.${name}>`])),
    ]);
    return [`import type * as E${index} from '${entry}';`, ...checks.map((check) => `answers.push(no as ${check});`)];
  });
  return [
    "import type { IsAny } from './types.js';",
    'const no = false as const;',
    'const answers: false[] = [];',
    ...lines,
  ].join('\n');
}

/** Compilers are slow where there is little of a machine. */
const PATIENCE = 180_000;

describe('the package in an empty project, without skipLibCheck (H2)', () => {
  it.each(Object.keys(COMPILERS) as (keyof typeof COMPILERS)[])(
    'compiles with %s, and nothing is any',
    async (name) => {
      const { code, stdout } = await compiled[name];
      expect([stdout, code]).toEqual(['', 0]);
    },
    PATIENCE,
  );
});

describe('a program that uses every door, offline (H3)', () => {
  it.each(Object.keys(NODES) as (keyof typeof NODES)[])(
    'runs on %s',
    async (node) => {
      await compiled['TypeScript 7'];
      const { code, stdout, stderr } = await project.start(node, 'consumer.js');
      expect({ code, stderr, lines: stdout.trim().split('\n') }).toEqual({
        code: 0,
        stderr: '',
        lines: [
          'told: [true,true,true,"object",[]]',
          'hello: ["content_block_start","content_block_stop","init true","message_delta","message_start",' +
            '"message_stop","success string","text","text_delta"]',
          'versions agree: true',
          'results: [["mcp__shop__price",false,"weld x 3"],["Bash",true,"not Bash"]]',
          'denied: ["Bash"]',
          'resumed: true',
          'ends: ["success","success","success","success"]',
          'socket: "success"',
          'checked: [false,0,"invalid_frame"]',
          String.raw`spoken: ["{\"type\":\"keep_alive\"}","sonnet"]`,
          'constants: [13,true]',
          'bad option: "invalid_config"',
        ],
      });
    },
    PATIENCE,
  );
});
