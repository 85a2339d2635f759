import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { checkLayers, checkPackages } from './layers.js';
import { readTree } from './tree.js';

const layers = (path: string, text: string): string[] => checkLayers([{ path, text }]);

const packages = (path: string, text: string): string[] => checkPackages([{ path, text }], ['zod', '@scope/name']);

describe('checkLayers', () => {
  it.each([
    ['src/wire/peer.ts', `import type { Frame } from '../protocol/index.js';`],
    ['src/wire/peer.ts', `import { HeddleError } from '../protocol/plain.js';`],
    ['src/engine/turn.ts', `import { step } from './step.js';`],
    ['src/engine/tools/read.ts', `import { bound } from '../bound.js';`],
    ['src/engine/host.ts', `import type { Peer } from '../wire/index.js';`],
    ['src/sdk/query.ts', `import { createPeer } from '../wire/index.js';`],
    ['src/sdk/in-process.ts', `import { createEngine } from '../engine/index.js';`],
    ['src/cli/main.ts', `const { query } = await import('../sdk/index.js');`],
    ['src/testing/index.ts', `export { createScriptedModel } from '../engine/index.js';`],
  ])('%s may say %s', (path, text) => {
    expect(layers(path, text)).toEqual([]);
  });

  it.each([
    ['src/protocol/frame.ts', `import { x } from '../wire/index.js';`, 'protocol must not import wire'],
    ['src/protocol/frame.ts', `import type { X } from '../engine/index.js';`, 'protocol must not import engine'],
    ['src/wire/peer.ts', `import { x } from '../engine/index.js';`, 'wire must not import engine'],
    ['src/engine/turn.ts', `import type { Peer } from '../wire/index.js';`, 'engine must not import wire'],
    ['src/engine/host.ts', `import { x } from '../sdk/index.js';`, 'engine must not import sdk'],
    ['src/sdk/query.ts', `const x = await import('../engine/index.js');`, 'sdk must not import engine'],
    ['src/sdk/query.ts', `export * from '../cli/index.js';`, 'sdk must not import cli'],
    ['src/server/index.ts', `import { x } from '../cli/index.js';`, 'server must not import cli'],
    ['src/engine/turn.ts', `import { x } from '../testing/index.js';`, 'engine must not import testing'],
    ['src/cli/main.ts', `import { x } from '../testing/index.js';`, 'cli must not import testing'],
    ['src/wire/peer.ts', `import type { X } from '../protocol/frame.js';`, 'past the door of protocol'],
    ['src/cli/main.ts', `import { x } from '../engine/tools/index.js';`, 'past the door of engine'],
    ['src/cli/main.ts', `import { x } from '../sdk/plain.js';`, 'past the door of sdk'],
    ['src/cli/main.ts', `import { x } from '../../scripts/build.js';`, 'in no layer'],
    ['src/main.ts', ``, 'belongs to no layer'],
    ['src/utils/text.ts', ``, 'belongs to no layer'],
  ])('%s must not say %s', (path, text, expected) => {
    expect(layers(path, text)).toEqual([expect.stringContaining(expected)]);
  });

  it('names file and line', () => {
    expect(layers('src/wire/a.ts', `\nimport '../sdk/index.js';`)[0]).toMatch(/^src\/wire\/a\.ts:2: /);
  });

  it('holds for this repository', () => {
    expect(checkLayers(readTree())).toEqual([]);
  });
});

describe('checkPackages', () => {
  it.each([
    ['src/protocol/frame.ts', `import { z } from 'zod';`],
    ['src/engine/turn.ts', `import { join } from 'node:path';`],
    ['src/engine/turn.ts', `const { rgPath } = await import('@scope/name/sub');`],
  ])('%s may say %s', (path, text) => {
    expect(packages(path, text)).toEqual([]);
  });

  it.each([
    ['src/protocol/frame.ts', `import { join } from 'node:path';`, 'only zod is allowed'],
    ['src/protocol/frame.ts', `import type { Readable } from 'node:stream';`, 'only zod is allowed'],
    ['src/protocol/frame.ts', `import { x } from '@scope/name';`, 'only zod is allowed'],
    ['src/engine/turn.ts', `import { join } from 'path';`, 'not a dependency'],
    ['src/engine/turn.ts', `import { x } from '@scope/other';`, 'not a dependency'],
    ['src/engine/turn.ts', `import { query } from 'heddle';`, 'not a dependency'],
    ['src/engine/turn.ts', `await import(name);`, 'must name its module literally'],
  ])('%s must not say %s', (path, text, expected) => {
    expect(packages(path, text)).toEqual([expect.stringContaining(expected)]);
  });

  it('holds for this repository', () => {
    expect(
      checkPackages(
        readTree(),
        Object.keys({ ...manifest.peerDependencies, ...manifest.dependencies, ...manifest.optionalDependencies }),
      ),
    ).toEqual([]);
  });
});
