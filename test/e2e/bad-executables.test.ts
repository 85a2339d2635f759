/** Executables that are no good: each a typed error with what is known about it, no hang, no orphan (B1, H1). */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HeddleError } from '../../src/protocol/plain.js';
import { type Options, query, startup } from '../../src/sdk/index.js';
import { collect } from '../../src/testing/index.js';
import { ensureBuilt } from '../cli/run-cli.js';
import { PATH_ENV, scratch } from '../engine/kit.js';
import { createHastyClock } from './hasty-clock.js';
import { describeThrown } from './record.js';
import { isAlive, until, watched } from './stage.js';

interface Program {
  options: Options;
  /** Resolves with the id of its process, once it has started. */
  pid(): Promise<number>;
  /** Resolves when its process has ended. */
  gone(): Promise<void>;
}

const PRINT = `const print = (frame) => process.stdout.write(JSON.stringify(frame) + '\\n');`;
/** Stays for ever, whatever happens to its input. */
const STAY = `setInterval(() => {}, 1000);`;

/** An executable made of these lines. */
function program(source: string, options: Options = {}): Program {
  const cwd = scratch();
  const path = join(cwd, 'engine.cjs');
  const pidFile = join(cwd, 'pid');
  const pid = async (): Promise<number> => {
    await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'));
    return Number(readFileSync(pidFile, 'utf8'));
  };
  writeFileSync(
    path,
    `require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, process.pid + '\\n');\n${PRINT}\n${source}\n`,
  );
  return {
    options: { cwd, env: PATH_ENV, pathToClaudeCodeExecutable: path, ...options },
    pid,
    gone: async () => {
      const id = await pid();
      await until(() => !isAlive(id));
    },
  };
}

async function failureOf(options: Options): Promise<HeddleError> {
  try {
    await collect(query({ prompt: 'Hi', options }));
  } catch (thrown) {
    return thrown as HeddleError;
  }
  throw new Error('nothing was thrown');
}

describe('an executable that is not there', () => {
  it.each(['no-such-engine', 'no-such-engine.js'])('%s: is named, with what to set', async (name) => {
    const cwd = scratch();
    const path = join(cwd, name);
    expect(await failureOf({ cwd, env: PATH_ENV, pathToClaudeCodeExecutable: path })).toMatchObject({
      code: 'process_failed',
      message: `Heddle engine executable not found: ${path}`,
      hint: expect.stringContaining('pathToClaudeCodeExecutable'),
    });
  });

  it('may not be run', async () => {
    const cwd = scratch();
    const path = join(cwd, 'engine');
    writeFileSync(path, 'not executable', { mode: 0o644 });
    expect((await failureOf({ cwd, env: PATH_ENV, pathToClaudeCodeExecutable: path })).message).toBe(
      `Heddle engine executable may not be run: ${path}`,
    );
  });

  it('is asked to work in a folder that is not there', async () => {
    const { options } = program('');
    const cwd = join(options.cwd ?? '', 'nowhere');
    expect((await failureOf({ ...options, cwd })).message).toContain(`the folder ${cwd} does not exist`);
  });

  it('is found for every control method too: each rejects, none hangs', async () => {
    const cwd = scratch();
    const started = query({
      prompt: 'Hi',
      options: { cwd, env: PATH_ENV, pathToClaudeCodeExecutable: join(cwd, 'nothing') },
    });
    await expect(started.supportedModels()).rejects.toMatchObject({ code: 'process_failed' });
    await expect(started.interrupt()).rejects.toMatchObject({ code: 'process_failed' });
    await expect(started.next()).rejects.toMatchObject({ code: 'process_failed' });
    expect(await started.next()).toEqual({ done: true, value: undefined });
  });
});

describe('an executable that fails', () => {
  it('prints garbage: the garbage is in the error, and the process is ended', async () => {
    const { options, gone } = program(`console.log('Usage: loom [options]'); ${STAY}`);
    expect(await failureOf(options)).toMatchObject({
      code: 'invalid_frame',
      message: 'Heddle engine process printed a line that is not JSON: Usage: loom [options]',
    });
    await gone();
  });

  it('prints JSON that is no frame: skipped, and what follows is seen', async () => {
    const { options } = program(`console.log('5\\n[]\\nnull\\n{"no":"type"}'); print({ type: 'result' });`);
    expect(await collect(query({ prompt: 'Hi', options }))).toEqual([{ type: 'result' }]);
  });

  it('stops in the middle of a line: what was whole is given, and the rest is an error', async () => {
    const { options } = program(`process.stdout.write('{"type":"hello"}\\n{"type":"resu')`);
    const seen: unknown[] = [];
    const failing = (async () => {
      for await (const message of query({ prompt: 'Hi', options })) seen.push(message);
    })();
    await expect(failing).rejects.toMatchObject({ code: 'invalid_frame' });
    expect(seen).toEqual([{ type: 'hello' }]);
  });

  it('exits early: code and stderr are in the error', async () => {
    const { options } = program(`console.error('the loom is\\nout of thread'); process.exit(7);`);
    expect(await failureOf(options)).toMatchObject({
      code: 'process_failed',
      message: 'Heddle engine process exited with code 7. stderr: the loom is\nout of thread',
      data: { exitCode: 7, signal: null, stderr: 'the loom is\nout of thread' },
    });
  });

  it('exits early with 0: said as well', async () => {
    expect((await failureOf(program('process.exit(0)').options)).message).toBe(
      'Heddle engine process exited with code 0 before it answered',
    );
  });

  it('is killed: the signal is in the error', async () => {
    const { options } = program(`process.kill(process.pid, 'SIGKILL'); ${STAY}`);
    expect((await failureOf(options)).data).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
  });

  it('floods stderr: all of it reaches the callback, its end the error, and the run goes on meanwhile', async () => {
    let chars = 0;
    const line = 64 * 1024;
    const source = `
      print({ type: 'hello' });
      let left = 200;
      const more = () => {
        while (left-- > 0) if (!process.stderr.write('e'.repeat(${line - 1}) + '\\n')) return process.stderr.once('drain', more);
        process.stderr.write('the end', () => process.exit(9));
      };
      more();`;
    const { options } = program(source, { stderr: (data) => void (chars += data.length) });
    const error = await failureOf(options);
    expect(chars).toBe(200 * line + 'the end'.length);
    expect(error.message).toMatch(/exited with code 9. stderr: e+\nthe end$/);
    expect(error.message.length).toBeLessThan(5_000);
  });

  it('refuses the command line: its own words are in the error', async () => {
    ensureBuilt();
    const options: Options = { cwd: scratch(), env: PATH_ENV, extraArgs: { effort: 'enormous' } };
    const error = await failureOf({ ...options, heddle: { carrier: 'subprocess' } });
    expect(describeThrown(error)).toMatch(
      /^process_failed: .* exited with code 1\. stderr: error: .*--effort.*enormous/,
    );
  });
});

describe('an executable that does not end', () => {
  it('B1: ignores TERM: killed after 5 s, here fifty times as fast, and nothing is left', async () => {
    const clock = createHastyClock();
    clock.hurry(50);
    const { options, pid, gone } = program(`process.on('SIGTERM', () => {}); print({ type: 'hello' }); ${STAY}`);
    for await (const message of query({ prompt: 'Hi', options: { ...options, heddle: { clock } } })) {
      expect(message).toEqual({ type: 'hello' });
      break;
    }
    expect(isAlive(await pid())).toBe(true);
    await gone();
    await until(() => clock.timers === 0);
  });

  it('B1: stays after its input has ended: the consumer has its result, and an abort ends it', async () => {
    const abortController = new AbortController();
    const { options, gone } = program(`print({ type: 'result' }); ${STAY}`, { abortController });
    const started = query({ prompt: 'Hi', options });
    expect(await started.next()).toMatchObject({ value: { type: 'result' } });
    const end = started.next();
    abortController.abort();
    await expect(end).rejects.toMatchObject({ name: 'AbortError' });
    await gone();
  });

  it('B4: never answers: a pre-warm gives up with a typed error', async () => {
    const { options, gone } = watched(program(STAY).options);
    await expect(startup({ options, initializeTimeoutMs: 50 })).rejects.toMatchObject({
      code: 'channel_closed',
      message: 'The engine did not answer within 50 ms.',
    });
    await gone();
  });

  it('never answers: close ends it, and whoever waits is told', async () => {
    const { options, pid, gone } = program(STAY);
    const started = query({ prompt: 'Hi', options });
    const waiting = [started.initializationResult(), started.setModel('x'), started.mcpServerStatus()];
    const message = started.next();
    await pid();
    started.close();
    for (const outcome of await Promise.allSettled(waiting)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'channel_closed' } });
    }
    expect(await message).toEqual({ done: true, value: undefined });
    await gone();
  });
});
