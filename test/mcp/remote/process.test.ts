import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RemoteServerConfig } from '../../../src/engine/mcp/remote/connect.js';
import { isRunning, until, untilGone } from '../../workspace/running.js';
import { type Bench, bundle, calmly, createBench, env, HOSTILE, node, textOf } from './kit.js';
import { removeFolder } from '../../remove-folder.js';

let bench: Bench;
const started: number[] = [];

beforeEach(() => {
  bench = createBench();
});

afterEach(async () => {
  await bench.close();
  for (const pid of started.splice(0)) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
});

/** Connects a server, and learns the numbers of its process and of the one that it started. */
async function connectFamily(mode: string) {
  const pids: number[] = [];
  const requests = { log: ({ data }: { data: unknown }) => void pids.push(...String(data).split(' ').map(Number)) };
  const link = await bench.connect(node(HOSTILE, mode), { requests });
  await until(() => pids.length > 0);
  started.push(...pids);
  return { link, pids };
}

describe('the process of a server', () => {
  it.each(['family', 'parent'])('is gone after close, with what it started (%s)', async (mode) => {
    const { link, pids } = await connectFamily(mode);
    expect(pids.map(isRunning)).toEqual([true, true]);
    await link.close();
    await Promise.all(pids.map(untilGone));
  });

  it('is killed when it takes no hint', async () => {
    const { link, pids } = await connectFamily('stubborn');
    await link.close();
    await Promise.all(pids.map(untilGone));
  });

  it('takes its children with it when it dies', async () => {
    const { link, pids } = await connectFamily('parent');
    const lost = new Promise<Error>((resolve) => link.onLost(resolve));
    process.kill(pids[0] ?? 0, 'SIGKILL');
    expect((await lost).message).toBe('MCP server box failed in run: its process ended by SIGKILL.');
    await Promise.all(pids.map(untilGone));
  });

  it('is ended when connecting is given up', async () => {
    const stop = new AbortController();
    const marks: string[] = [];
    const requests = { log: ({ data }: { data: unknown }) => void marks.push(String(data)) };
    const connecting = bench.connect(node(HOSTILE, 'hang-list-telling'), { requests, signal: stop.signal });
    const failed = expect(connecting).rejects.toMatchObject({ code: 'aborted' });
    await until(() => marks.length > 0);
    stop.abort();
    await failed;
    await untilGone(Number(marks[0]));
  });

  it('E4: has the environment of the session and its own, and nothing else of the host', async () => {
    const config = { ...node(HOSTILE, 'environment'), env: { OWN: 'yes', HOME: '/nowhere' } } as RemoteServerConfig;
    const link = await bench.connect(config, { env: { PATH: env.PATH, HOME: env.HOME, GIVEN: '1' } });
    const seen = JSON.parse(textOf(await link.call('echo', {}, calmly))) as Record<string, string>;
    const { HEDDLE_CALL, ...others } = seen;
    expect(HEDDLE_CALL).toMatch(/^heddle-/);
    expect(others).toEqual({ PATH: env.PATH, HOME: '/nowhere', GIVEN: '1', OWN: 'yes' });
  });

  it('leaves no orphan when the host is killed with -9', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-mcp-host-'));
    try {
      const command = await bundle('host.ts', folder);
      const host = spawn(process.execPath, [...command, HOSTILE, 'family'], { stdio: ['ignore', 'pipe', 'inherit'] });
      if (host.pid !== undefined) started.push(host.pid);
      const pids = await new Promise<number[]>((resolve, reject) => {
        let text = '';
        host.once('exit', () => reject(new Error(`the host ended: ${text}`)));
        host.stdout.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          const found = /pid (\d+) (\d+)\n/.exec(text);
          if (found !== null) resolve([Number(found[1]), Number(found[2])]);
        });
      });
      started.push(...pids);
      expect(pids.map(isRunning)).toEqual([true, true]);
      host.kill('SIGKILL');
      await Promise.all(pids.map(untilGone));
    } finally {
      removeFolder(folder);
    }
  });
});
