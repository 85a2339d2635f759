import { describe, expect, it } from 'vitest';
import { checkSchemas } from './schemas.js';
import { readTree } from './tree.js';

const schemas = (path: string, text: string): string[] => checkSchemas([{ path, text }]);

describe('checkSchemas', () => {
  it.each([
    ['src/wire/codec.ts', `import type { Frame } from '../protocol/index.js';`],
    ['src/sdk/index.ts', `export type { Message } from '../protocol/index.js';`],
    ['src/engine/turn.ts', `import { HeddleError } from '../protocol/plain.js';`],
    ['src/wire/codec.ts', `const { parseFrame } = await import('../protocol/index.js');`],
    ['src/sdk/tool.ts', `import type { z } from 'zod';`],
    ['src/engine/tools/read.ts', `const { z } = await import('zod');`],
    ['src/protocol/frame.ts', `import { z } from 'zod';`],
    ['src/testing/index.ts', `import { parseFrame } from '../protocol/index.js';`],
  ])('%s may say %s', (path, text) => {
    expect(schemas(path, text)).toEqual([]);
  });

  it.each([
    ['src/wire/codec.ts', `import { parseFrame } from '../protocol/index.js';`, 'loads protocol/index.js'],
    ['src/engine/tools/read.ts', `import { type Frame } from '../../protocol/index.js';`, 'loads protocol/index.js'],
    ['src/sdk/index.ts', `export { parseFrame } from '../protocol/index.js';`, 'loads protocol/index.js'],
    ['src/cli/main.ts', `import '../protocol/index.js';`, 'loads protocol/index.js'],
    ['src/sdk/tool.ts', `import { z } from 'zod';`, 'loads zod'],
    ['src/testing/model.ts', `import * as z from 'zod/mini';`, 'loads zod'],
  ])('%s must not say %s', (path, text, expected) => {
    expect(schemas(path, text)).toEqual([expect.stringContaining(expected)]);
  });

  it('follows what plain.ts loads', () => {
    const tree = [
      { path: 'src/protocol/plain.ts', text: `export { a } from './a.js';\nexport type { C } from './c.js';` },
      { path: 'src/protocol/a.ts', text: `import { b } from './b.js';` },
      { path: 'src/protocol/b.ts', text: `import { z } from 'zod';` },
      { path: 'src/protocol/c.ts', text: `import { z } from 'zod';` },
    ];
    expect(checkSchemas(tree)).toEqual([
      'src/protocol/plain.ts: reaches zod by src/protocol/plain.ts > src/protocol/a.ts > src/protocol/b.ts',
    ]);
  });

  it('lets plain.ts take types from schemas', () => {
    const tree = [
      { path: 'src/protocol/plain.ts', text: `import type { C } from './c.js';` },
      { path: 'src/protocol/c.ts', text: `import { z } from 'zod';` },
    ];
    expect(checkSchemas(tree)).toEqual([]);
  });

  it('holds for this repository', () => {
    expect(checkSchemas(readTree())).toEqual([]);
  });
});
