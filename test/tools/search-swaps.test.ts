/** Glob and Grep while links to the outside come and go: they tell nothing of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { globTool } from '../../src/engine/tools/glob.js';
import { grepTool } from '../../src/engine/tools/grep.js';
import { type Bench, createBench } from './bench.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
  bench.cwd = bench.path('work');
  bench.write('work/folder/file', 'one inside\ntwo\n');
  bench.write('work/file', 'one inside\ntwo\n');
  bench.write('outside/file', 'one SECRET\ntwo SECRET\n');
  bench.write('outside/secret-name', 'SECRET\n');
});
afterEach(() => bench.close());

const MODES = ['content', 'count', 'files_with_matches'] as const;

describe('a link that is there for the moment in which ripgrep opens it', () => {
  /** Prints what ripgrep would print of the outside; single files are searched by ripgrep itself. */
  async function playSwap(printed: Record<(typeof MODES)[number], string>) {
    const rg = await bench.workspace.ripgrep();
    const lines = [
      'for last; do :; done',
      `[ "$last" = - ] && exec '${rg}' "$@"`,
      'mv folder aside && ln -s ../outside folder',
      'case "$*" in',
      `*--line-number*) printf '${printed.content}' ;;`,
      `*--count-matches*) printf '${printed.count}' ;;`,
      `*) printf '${printed.files_with_matches}' ;;`,
      'esac',
      'rm folder && mv aside folder',
    ];
    const program = bench.write('rg', `#!/bin/sh\n${lines.join('\n')}\n`);
    chmodSync(program, 0o755);
    bench.workspace = { ...bench.workspace, ripgrep: async () => program };
  }

  const grep = async (pattern: string) => {
    const texts = [];
    for (const mode of MODES) texts.push((await bench.call(grepTool, { pattern, output_mode: mode })).text);
    return texts;
  };

  beforeEach(() =>
    playSwap({
      content: './folder/file\\0001:one SECRET\\n./folder/secret-name\\0001:SECRET\\n',
      count: './folder/file\\0002\\n./folder/secret-name\\0001\\n',
      files_with_matches: './folder/file\\0./folder/secret-name\\0',
    }),
  );

  it('tells nothing of what is outside', async () => {
    expect(await grep('SECRET')).toEqual(['No matches found', 'No matches found', 'No files found']);
  });

  it('tells what is inside', async () => {
    expect(await grep('one')).toEqual([
      'folder/file:1:one inside',
      'folder/file:1\n\nFound 1 total occurrence across 1 file.',
      'Found 1 file\nfolder/file',
    ]);
  });
});

describe('folders and files that another process swaps for links all the time', () => {
  const ATTACKS: [victim: string, link: string][] = [
    ['folder', 'outside'],
    ['file', 'outside/file'],
  ];
  it.each(ATTACKS)('200 swaps of a %s', async (victim, link) => {
    const program = fileURLToPath(new URL('../soak/swapper.mjs', import.meta.url));
    const swapper = spawn(process.execPath, [program, bench.path('work', victim), bench.path(link)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(swapper, 'exit');
    let swaps = 0;
    swapper.stdout.on('data', (chunk: Buffer) => {
      swaps += chunk.toString().split('\n').length - 1;
    });
    // As the pipeline does: these places were judged before the swaps began.
    for (const name of ['', 'folder', 'file']) bench.judged.set(bench.path('work', name), bench.path('work', name));
    const told = new Set<string>();
    while (swaps < 200) {
      for (const path of [undefined, victim]) {
        const outputs = [
          await bench.call(grepTool, { pattern: 'SECRET', path, output_mode: 'content' }),
          await bench.call(grepTool, { pattern: 'SECRET', path }),
        ];
        for (const { text } of outputs) if (/:.*SECRET|^Found/.test(text)) told.add(text);
      }
      const { text } = await bench.call(globTool, { pattern: '**/secret*' });
      if (text.includes('secret')) told.add(text);
    }
    swapper.stdin.end();
    await ended;
    expect([...told]).toEqual([]);
  });
});
