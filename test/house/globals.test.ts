import { describe, expect, it } from 'vitest';
import { checkGlobals } from './globals.js';
import { readTree } from './tree.js';

const globals = (text: string, path = 'src/engine/turn.ts'): string[] => checkGlobals([{ path, text }]);

describe('checkGlobals', () => {
  it.each([
    'process.env.HOME',
    'process?.env',
    `process['env']`,
    'const { env } = process;',
    'globalThis.process.env',
    'process.cwd()',
    'process.chdir(path)',
    'process.exit(1)',
    'process.exitCode = 1',
    `process.on('SIGTERM', stop)`,
    `process.once('exit', stop)`,
    'process\n  .env',
    '`${process.env.HOME}`',
    `import { env } from 'node:process';`,
    `import { homedir } from 'node:os';`,
    'os.homedir()',
    'system.homedir()',
    `console.log('x')`,
    'console?.error(x)',
    'process.stdout.write(x)',
    'process.stderr.write(x)',
  ])('rejects %s in library code', (text) => {
    expect(globals(text)).toHaveLength(1);
  });

  it.each([
    'process.pid',
    'process.kill(-pid, 0)',
    'process.platform',
    'process.execPath',
    'context.process.env',
    'config.env.HOME',
    '// process.env',
    `'process.env'`,
    'const console = 1;',
    'const place: { homedir: string } = given;',
    `import { tmpdir } from 'node:os';`,
    `import type { Process } from 'node:process';`,
  ])('accepts %s', (text) => {
    expect(globals(text)).toEqual([]);
  });

  it('lets the composition root and the ambient file look at the process', () => {
    expect(globals('process.env; process.cwd();', 'src/cli/main.ts')).toEqual([]);
    expect(globals('process.env; process.cwd();', 'src/sdk/ambient.ts')).toEqual([]);
    expect(globals('process.env', 'src/sdk/query.ts')).toHaveLength(1);
  });

  it('lets only the CLI print', () => {
    expect(globals('console.log(x); process.stderr.write(x);', 'src/cli/main.ts')).toEqual([]);
    expect(globals('console.log(x)', 'src/sdk/ambient.ts')).toHaveLength(1);
  });

  it('lets only stdio and the CLI write to standard output', () => {
    expect(globals('process.stdout.write(x)', 'src/cli/main.ts')).toEqual([]);
    expect(globals('process.stdout.write(x)', 'src/wire/stdio.ts')).toEqual([]);
    expect(globals('process.stdout.write(x)', 'src/wire/process.ts')).toHaveLength(1);
  });

  it.each(['Buffer.from(x)', 'process.pid', `require('x')`, 'setImmediate(f)'])(
    'rejects %s in protocol, which runs in a browser',
    (text) => {
      expect(globals(text, 'src/protocol/frame.ts')).toEqual([expect.stringContaining('does not exist in a browser')]);
      expect(globals(text)).toEqual([]);
    },
  );

  it('names file and line', () => {
    expect(globals('\n\nprocess.env')).toEqual(['src/engine/turn.ts:3: process.env outside the composition roots']);
  });

  it('holds for this repository', () => {
    expect(checkGlobals(readTree())).toEqual([]);
  });
});
