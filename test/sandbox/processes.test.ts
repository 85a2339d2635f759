import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../workspace/running.js';
import { type Box, createBox, hasBubblewrap, skipNote } from './box.js';

let box: Box;

/** Processes that carry a word in their command line or environment, seen from outside. */
async function findProcesses(word: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found = await Promise.all(
    pids
      .map(async (pid) => {
        const texts = await Promise.all(
          ['cmdline', 'environ'].map((name) => readFile(`/proc/${pid}/${name}`, 'latin1')),
        );
        return texts.some((text) => text.includes(word)) ? [pid] : [];
      })
      .map((each) => each.catch(() => [])),
  );
  return found.flat();
}

const untilNone = async (word: string): Promise<void> => {
  let left = 1;
  await until(() => {
    void findProcesses(word).then((found) => {
      left = found.length;
    });
    return left === 0;
  });
};

const untilMade = (...names: string[]): Promise<void> =>
  until(() => names.every((name) => existsSync(join(box.root, name))));

const stay = (name: string): string => `trap "" TERM HUP; touch ${name}; while true; do sleep 0.05; done`;

describe.skipIf(!hasBubblewrap)(`processes in the sandbox${skipNote}`, () => {
  beforeEach(async () => {
    box = await createBox();
  });
  afterEach(() => box.close());

  it('all end when the call is aborted, whatever they do against it (B2)', async () => {
    const sandbox = await box.open();
    const control = new AbortController();
    const line = [
      `(${stay('ignores')}) &`,
      `setsid bash -c '${stay('session')}' >/dev/null 2>&1 &`,
      `nohup bash -c '${stay('nohup')}' >/dev/null 2>&1 &`,
      `(setsid env -i bash -c '${stay('bare')}' &);`,
      'wait',
    ].join(' ');
    const running = box.run(sandbox, line, { env: { ...box.env, MARK: box.folder }, signal: control.signal });
    await untilMade('bare', 'ignores', 'nohup', 'session');
    control.abort();
    expect(await running).toMatchObject({ aborted: true });
    await untilNone(box.folder);
  });

  it('all end at the timeout (B2)', async () => {
    const sandbox = await box.open();
    const run = await box.run(sandbox, stay('here'), { env: { ...box.env, MARK: box.folder }, timeoutMs: 300 });
    expect(run).toMatchObject({ timedOut: true });
    await untilNone(box.folder);
  });

  it('all end when the host is killed with -9 (B3)', async () => {
    const outfile = join(box.folder, 'host.mjs');
    await build({
      entryPoints: [join(import.meta.dirname, 'host.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['@vscode/ripgrep'],
      logLevel: 'silent',
    });
    const line = `(setsid env -i bash -c '${stay('bare')}' &); ${stay('here')}`;
    const host = spawn(process.execPath, [outfile, box.root, box.home, line], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [told] = (await once(host.stdout, 'data')) as [Buffer];
    await untilMade('bare', 'here');
    const exited = once(host, 'exit');
    host.kill('SIGKILL');
    await exited;
    await untilNone(box.root);
    await rm(join(told.toString().trim(), '..'), { recursive: true });
  });

  it('that a command leaves behind end with it', async () => {
    const sandbox = await box.open();
    const line = 'setsid sleep 300 >/dev/null 2>&1 & sleep 300 & echo done';
    const run = await box.run(sandbox, line, { env: { ...box.env, MARK: box.folder } });
    expect(run).toMatchObject({ text: 'done\n', code: 0 });
    await untilNone(box.folder);
  });

  it('report their folder on a descriptor of their own, as the Bash tool has it', async () => {
    const sandbox = await box.open();
    const line =
      'exec 19>&2 2>&1; trap "{ builtin pwd -P; } >&19" EXIT; mkdir sub; cd sub; echo out; echo err >&2; exit 3';
    const streams = { stdout: '', stderr: '' };
    const run = await box.run(sandbox, line, {
      onOutput: (chunk, stream) => {
        streams[stream] += Buffer.from(chunk).toString();
      },
    });
    expect(run.code).toBe(3);
    expect(streams).toEqual({ stdout: 'out\nerr\n', stderr: `${join(box.root, 'sub')}\n` });
  });

  it('report signals as a shell does', async () => {
    const sandbox = await box.open();
    expect((await box.run(sandbox, 'kill -KILL $$')).code).toBe(137);
  });

  it('see nobody outside, and have no power over the machine', async () => {
    const sandbox = await box.open();
    const attempts = [
      `test -e /proc/${process.pid}/environ && tr "\\0" " " < /proc/${process.pid}/cmdline`,
      'ls /proc | grep -c "^[0-9]"',
      'hostname other 2>/dev/null && echo renamed',
      'echo 1 2>/dev/null > /proc/sys/vm/drop_caches && echo switched',
      'mount -t tmpfs none /mnt 2>/dev/null && echo mounted',
      'mount -o remount,rw / 2>/dev/null && echo remounted',
      'umount /run 2>/dev/null && echo unmounted',
      'unshare -Urm umount /run 2>/dev/null && echo nested',
      'unshare -Urm mount -o remount,rw,bind / 2>/dev/null && echo nested',
      'mknod /dev/shm/disk b 254 0 2>/dev/null && echo device',
      'ls /dev | grep -cE "^(vd|sd|nvme|mem$|kmsg)"',
    ];
    const { text } = await box.run(sandbox, attempts.join('\n'));
    const [processes, devices] = text.trim().split('\n').map(Number);
    expect(text.trim().split('\n')).toHaveLength(2);
    expect(processes).toBeLessThan(8);
    expect(devices).toBe(0);
  });

  it('leave nothing after fifty runs: no process, no folder, no file', async () => {
    const sandbox = await box.open({ network: { allowedDomains: ['example.com'] } });
    const env = { ...box.env, MARK: box.folder };
    const runs = Array.from({ length: 50 }, (_, at) => at);
    for (let from = 0; from < runs.length; from += 5) {
      const texts = await Promise.all(
        runs.slice(from, from + 5).map(async (at) => (await box.run(sandbox, `echo ${at}; sleep 300 &`, { env })).text),
      );
      expect(texts).toEqual(runs.slice(from, from + 5).map((at) => `${at}\n`));
    }
    await sandbox.close();
    await untilNone(box.folder);
    expect(await readdir(box.root)).toEqual([]);
    expect(existsSync(join(sandbox.temporary ?? '', '..'))).toBe(false);
  });
});
