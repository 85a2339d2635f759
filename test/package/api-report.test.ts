import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseDeclarations, readApi, renderApi } from '../../scripts/api-report.js';
import { root } from './project.js';
import { removeFolder } from '../remove-folder.js';

describe('docs/api-report.md', () => {
  it('is current: otherwise run `npm run generate`, and look at its diff', () => {
    expect(readFileSync(join(root, 'docs/api-report.md'), 'utf8')).toBe(renderApi());
  });

  it('has every name that the entries give at run time', async () => {
    const api = readApi();
    expect(api.map(({ entry }) => entry)).toEqual([
      'heddle',
      'heddle/protocol',
      'heddle/wire',
      'heddle/engine',
      'heddle/server',
      'heddle/testing',
      'heddle/sdk-tools',
    ]);
    for (const { entry, names } of api) {
      const values = [...names].flatMap(([name, declared]) => (declared.values.length > 0 ? [name] : []));
      expect([entry, Object.keys((await import(entry)) as object).toSorted()]).toEqual([entry, values.toSorted()]);
    }
  });
});

describe('the report', () => {
  /** The report of a package with these declaration files. */
  function report(files: Record<string, string>): string {
    const folder = mkdtempSync(join(tmpdir(), 'heddle-api-'));
    try {
      const exports = { '.': { types: './dist/main/index.d.ts' }, './low': { types: './dist/low/index.d.ts' } };
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'loom', exports }));
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(join(folder, 'dist', path, '..'), { recursive: true });
        writeFileSync(join(folder, 'dist', path), text);
      }
      return renderApi(folder).replace(/^[\s\S]*?(?=\n## )/, '');
    } finally {
      removeFolder(folder);
    }
  }

  it('shows each declaration once, where it belongs, with what stands behind it', () => {
    const text = report({
      'main/index.d.ts': `/** The door. */
export { weave, type Cloth } from './weave.js';
export type * from './names.js';
export { Thread as Yarn, type LIMIT } from '../low/index.js';
`,
      'main/names.d.ts': `import type { Thread } from '../low/index.js';
export type Weft = Thread;
`,
      'main/weave.d.ts': `import { z } from 'zod';
import type { Thread } from '../low/index.js';
/** Hidden; not a } nor a ; in here counts. */
interface Loom {
    width: number;
}
export interface Cloth {
    /** In threads. */
    threads: Thread[];
    note: '; }';
}
export declare function weave(loom: Loom): Cloth;
export declare function weave(loom: Loom, schema: z.ZodObject<{
    a: z.ZodString;
}, (b: string) => void>): Promise<Cloth>;
`,
      'low/index.d.ts': `export declare class Thread {
    #private;
    readonly colour: string;
}
export declare const LIMIT: 3;
`,
    });
    expect(text).toBe(`
## loom

\`\`\`ts
export type { LIMIT } from 'loom/low';
export { Thread as Yarn } from 'loom/low';
\`\`\`

\`\`\`ts
interface Cloth {
  threads: Thread[];
  note: '; }';
}
type Weft = Thread;
function weave(loom: Loom): Cloth;
function weave(loom: Loom, schema: z.ZodObject<…>): Promise<Cloth>;
\`\`\`

Not exported, but part of the signatures above:

\`\`\`ts
interface Loom {
  width: number;
}
\`\`\`

## loom/low

\`\`\`ts
const LIMIT: 3;
class Thread {
  #private;
  readonly colour: string;
}
\`\`\`
`);
  });

  it('says so when it does not understand a file, or when there is none', () => {
    expect(() => parseDeclarations('declare global { var x: 1; }', 'a.d.ts')).toThrow(
      'does not understand: declare global',
    );
    expect(() => report({ 'main/index.d.ts': "export { A } from './a.js';" })).toThrow('run `npm run build` first');
    const files = { 'main/index.d.ts': "export { A } from './a.js';", 'main/a.d.ts': 'export {};' };
    expect(() => report(files)).toThrow('exports A, which is not declared');
  });
});
