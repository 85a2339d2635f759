import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isRunning, pidFrom, untilGone } from './running.js';
import { removeFolder } from '../remove-folder.js';

let bundleFolder: string;
let folder: string;
const started: number[] = [];

beforeAll(async () => {
  bundleFolder = await mkdtemp(join(tmpdir(), 'heddle-host-'));
  await build({
    entryPoints: [join(import.meta.dirname, 'host.ts')],
    outfile: join(bundleFolder, 'host.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@vscode/ripgrep'],
    logLevel: 'silent',
  });
});

afterAll(() => removeFolder(bundleFolder));

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'heddle-reaper-')));
});

afterEach(async () => {
  for (const pid of started.splice(0)) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  removeFolder(folder);
});

async function startHost(command: string): Promise<{ host: ChildProcess; reaper: number; text: () => string }> {
  const host = spawn(process.execPath, [join(bundleFolder, 'host.mjs'), folder, command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (host.pid !== undefined) started.push(host.pid);
  let text = '';
  const reaper = await new Promise<number>((resolve, reject) => {
    host.once('exit', () => reject(new Error(`the host ended: ${text}`)));
    host.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const found = /reaper (\d+)/.exec(text);
      if (found !== null) resolve(Number(found[1]));
    });
  });
  started.push(reaper);
  return { host, reaper, text: () => text };
}

const pidOf = async (name: string): Promise<number> => {
  const pid = await pidFrom(join(folder, name));
  started.push(pid);
  return pid;
};

const stay = (name: string): string => `trap "" TERM; echo $BASHPID > ${name}; while true; do sleep 0.05; done`;

describe('the reaper (B3)', () => {
  it('leaves nothing of a host that was killed with -9', async () => {
    const command = [
      `(${stay('stubborn')}) &`,
      `setsid -f bash -c '${stay('escaped')}' >/dev/null 2>&1;`,
      'nohup sleep 300 >/dev/null 2>&1 & echo $! > nohup;',
      "env -i bash -c 'echo $$ > bare; exec sleep 300' &",
      'echo $$ > shell; wait',
    ].join(' ');
    const { host, reaper } = await startHost(command);
    const names = ['stubborn', 'escaped', 'nohup', 'bare', 'shell'];
    const pids = await Promise.all(names.map(pidOf));
    const exited = once(host, 'exit');
    host.kill('SIGKILL');
    await exited;
    await Promise.all([...pids, reaper].map(untilGone));
  });

  it('leaves nothing of a host that ended by itself, and does not keep it alive', async () => {
    const { host, reaper, text } = await startHost('sleep 300 & echo $! > child; echo done; sleep 0.1');
    const [code] = host.exitCode === null ? await once(host, 'exit') : [host.exitCode];
    expect(code).toBe(0);
    expect(text()).toContain('done');
    await untilGone(await pidOf('child'));
    await untilGone(reaper);
  });
});
