import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/protocol/plain.js';
import { createBashTool } from '../../src/engine/tools/bash.js';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';
import type { Clock } from '../../src/protocol/index.js';
import { isRunning, pidFrom, untilGone } from '../workspace/running.js';
import { type Bench, createBench } from './bench.js';
import { createTasksKit } from './tasks-kit.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.close());

const bash = (command: string, input: object = {}, signal?: AbortSignal) =>
  bench.call(createBashTool(createTasksKit()), { command, ...input }, signal);

describe('Bash output', () => {
  it('gives stdout, and the shape consumers know', async () => {
    const { content, isError, structured } = await bash('echo hello; echo');
    expect(content).toBe('hello');
    expect(isError).toBeUndefined();
    expect(structured).toEqual({
      stdout: 'hello',
      stderr: '',
      interrupted: false,
      isImage: false,
      noOutputExpected: false,
    });
  });

  it('says when there is none', async () => {
    const { content, structured } = await bash('true');
    expect(content).toBe('(Bash completed with no output)');
    expect(structured).toMatchObject({ stdout: '' });
  });

  it('keeps the order of both streams', async () => {
    const lines = Array.from({ length: 200 }, (_, i) => i);
    const command = lines.map((i) => (i % 2 === 0 ? `echo ${i}` : `echo ${i} >&2`)).join('; ');
    expect((await bash(command)).content).toBe(lines.join('\n'));
  });

  it('keeps characters whole that arrive in pieces, and marks bytes that are not UTF-8', async () => {
    expect((await bash("printf '\\xf0\\x9f'; sleep 0.05; printf '\\x98\\x80'")).content).toBe('😀');
    expect((await bash("printf 'a\\xffb'")).content).toBe('a\ufffdb');
  });

  it('cuts what is too long and keeps the whole', async () => {
    const { text } = await bash('seq 1 20000');
    expect(text.length).toBeLessThanOrEqual(30_000);
    expect(text).toMatch(/^1\n2\n3\n/);
    const found = /\n\n\[Cut: [\d,]+ of 108,893 characters are left out\. The whole is kept in (.+)\]\n\n/.exec(text);
    expect(text).toMatch(/\n20000$/);
    expect(readFileSync(found?.[1] ?? '', 'utf8')).toMatch(/^1\n2\n[^]*\n20000$/);
  });

  it('bounds a flood (B5)', async () => {
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 5);
    const { text } = await bash("yes | head -c 300000000; printf 'the end'");
    clearInterval(timer);
    expect(text.length).toBeLessThanOrEqual(30_000);
    expect(ticks).toBeGreaterThan(0);
    const [, path = ''] = /The whole is kept in (.+)\]\n/.exec(text) ?? [];
    const kept = readFileSync(path, 'utf8');
    expect(kept.length).toBeLessThan(11_000_000);
    expect(kept).toMatch(/\[289,\d{3},\d{3} bytes were dropped here\]/);
    expect(kept.endsWith('the end')).toBe(true);
  });
});

describe('Bash exit codes', () => {
  const cases: [string, number, string][] = [
    ['echo out; echo err >&2; exit 3', 3, 'out\nerr'],
    ['false', 1, ''],
    ['no-such-command-here', 127, 'bash: line 1: no-such-command-here: command not found'],
    ['kill -9 $$', 137, 'Ended by SIGKILL'],
    ['echo a; kill -TERM $$; sleep 5', 143, 'Ended by SIGTERM\na'],
    ['set -e; false; echo no', 1, ''],
    ['echo "open', 2, 'bash: eval: line 1: unexpected EOF while looking for matching `"\''],
    ['(exit 7)', 7, ''],
    ['exit 129', 129, ''],
    ['trap "echo bye" EXIT; exit 4', 4, 'bye'],
  ];
  it.each(cases)('%s', async (command, code, output) => {
    const { content, isError, structured } = await bash(command);
    const text = output === '' ? `Exit code ${code}` : `Exit code ${code}\n${output}`;
    expect({ content, isError, structured }).toEqual({ content: text, isError: true, structured: `Error: ${text}` });
  });
});

describe('Bash commands', () => {
  it('are ordinary bash: here-documents, pipes, positional parameters, several lines', async () => {
    expect((await bash('cat <<EOF\na $((1+1))\nEOF')).content).toBe('a 2');
    expect((await bash('cat <<EOF\nunfinished')).text).toContain('unfinished');
    expect((await bash('echo a | tr a b | cat')).content).toBe('b');
    expect((await bash('echo "$0 $# $*"')).content).toBe('bash 0');
    expect((await bash('x=1\nif true; then\n  echo $x\nfi # done')).content).toBe('1');
    expect((await bash("echo 'it'\"'\"'s' \\$HOME \"\\`\"")).content).toBe("it's $HOME `");
  });

  it('have an empty standard input and the environment of the session', async () => {
    bench.env.GREETING = 'hi';
    expect((await bash('cat; echo $GREETING')).content).toBe('hi');
  });

  it('do not keep variables', async () => {
    await bash('export KEPT=1; other=2');
    expect((await bash('echo "[$KEPT$other]"')).content).toBe('[]');
  });

  it('are refused when they ask for what this version does not have', async () => {
    expect((await bash('true', { dangerouslyDisableSandbox: true })).isError).toBe(true);
    expect((await bash('true', { run_in_background: false })).isError).toBeUndefined();
    expect((await bash(`: ${'x'.repeat(140_000)}`)).text).toContain('longer than 128 KB');
    expect((await bash('a\0b')).text).toContain('NUL');
    expect((await bash('true', { timeout: 700_000 })).text).toContain('`timeout`');
  });

  it('are read-only only when they plainly are', async () => {
    const tool = createBashTool(createTasksKit());
    await tool.parse({ command: 'ls' });
    expect(tool.isReadOnly({ command: 'ls' }, { cwd: '/' })).toBe(true);
    expect(tool.isReadOnly({ command: 'rm x' }, { cwd: '/' })).toBe(false);
  });
});

describe('Bash working directory', () => {
  it('is carried to later calls inside the roots', async () => {
    mkdirSync(bench.path('sub dir'));
    await bash("cd 'sub dir' && true");
    expect(bench.cwd).toBe(bench.path('sub dir'));
    expect((await bash('pwd')).content).toBe(bench.path('sub dir'));
    await bash('cd ..; exit 3');
    expect(bench.cwd).toBe(bench.folder);
    await bash('trap true EXIT; cd "sub dir"');
    expect(bench.cwd).toBe(bench.path('sub dir'));
  });

  it('is not touched by a subshell or a command that prints a path', async () => {
    mkdirSync(bench.path('sub'));
    await bash('(cd sub); echo /tmp >&2; printf "\\0/tmp\\n\\0"');
    expect(bench.cwd).toBe(bench.folder);
  });

  it('is reset outside the roots', async () => {
    const { content, structured } = await bash('cd /; echo there');
    expect(content).toBe(`Shell cwd was reset to ${bench.folder}\nthere`);
    expect(structured).toMatchObject({ stdout: 'there', stderr: `Shell cwd was reset to ${bench.folder}` });
    expect(bench.cwd).toBe(bench.folder);
    expect((await bash('cd /; false')).content).toBe(`Exit code 1\nShell cwd was reset to ${bench.folder}`);
  });

  it('counts by real paths', async () => {
    symlinkSync('/', bench.path('out'));
    expect((await bash('cd out')).text).toContain('Shell cwd was reset');
    mkdirSync(bench.path('real'));
    symlinkSync(bench.path('real'), bench.path('link'));
    bench.roots = [bench.path('link')];
    await bash('cd real');
    expect(bench.cwd).toBe(bench.path('real'));
  });

  it('starts again from the first root when it is gone', async () => {
    mkdirSync(bench.path('gone'));
    bench.cwd = bench.path('gone');
    rmSync(bench.cwd, { recursive: true });
    expect((await bash('pwd')).content).toBe(`Shell cwd was reset to ${bench.folder}\n${bench.folder}`);
    expect(bench.cwd).toBe(bench.folder);
  });

  it('survives a directory with a line break in its name', async () => {
    await bash("mkdir $'a\\nb'; cd $'a\\nb'");
    expect(bench.cwd).toBe(bench.path('a\nb'));
  });
});

describe('Bash that lasts', () => {
  /** Real time, but the named wait ends when the test says so. */
  function useManual(wait: number): { fire: () => void } {
    let callback: () => void = () => undefined;
    const clock: Clock = {
      ...systemClock,
      after(ms, given) {
        if (ms !== wait) return systemClock.after(ms, given);
        callback = given;
        return () => undefined;
      },
    };
    bench.clock = clock;
    bench.workspace = createLocalWorkspace({ clock });
    return { fire: () => callback() };
  }

  it('is ended with all its children at the timeout (B2)', async () => {
    const clock = useManual(90_000);
    const running = bash('echo partial; setsid sleep 300 & echo $! > child; wait', { timeout: 90_000 });
    const child = await pidFrom(bench.path('child'));
    clock.fire();
    const { content, isError } = await running;
    expect({ content, isError }).toEqual({
      content: 'Exit code 143\nCommand timed out after 1m 30s\npartial',
      isError: true,
    });
    expect(isRunning(child)).toBe(false);
  });

  it('is ended when it is interrupted, and says so', async () => {
    const abort = new AbortController();
    const running = bash('echo partial; echo $$ > child; setsid sleep 300 & echo $! > escaped; wait', {}, abort.signal);
    const pids = [await pidFrom(bench.path('child')), await pidFrom(bench.path('escaped'))];
    abort.abort();
    const { content, isError } = await running;
    expect({ content, isError }).toEqual({
      content: 'The command was interrupted before it finished.\npartial',
      isError: true,
    });
    await Promise.all(pids.map(untilGone));
  });

  it('does not wait for what it leaves in the background', async () => {
    const { content } = await bash('sleep 300 >/dev/null 2>&1 & echo $! > child; echo started');
    expect(content).toBe('started');
    expect(isRunning(await pidFrom(bench.path('child')))).toBe(true);
  });

  it('explains a shell that cannot be started', async () => {
    bench.env = { PATH: tmpdir() };
    expect((await bash('true')).text).toBe('Could not start bash: it was not found on PATH.');
  });
});
