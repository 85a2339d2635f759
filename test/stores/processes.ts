import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { expect } from 'vitest';
import type { SessionStore } from '../../src/protocol/index.js';
import { removeFolder } from '../remove-folder.js';

export interface Host {
  pid: number;
  ask(command: string, sessionId: string, argument?: string): Promise<unknown>;
  /** Resolves when the process is gone. */
  kill(): Promise<void>;
}

export interface Hosts {
  start(kind: 'file' | 'sqlite' | 'postgres', place: string): Promise<Host>;
  stop(): Promise<void>;
}

/** Real processes that use a store. */
export async function createHosts(): Promise<Hosts> {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-hosts-'));
  const program = join(folder, 'host.mjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'host.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
    // The client uses the names of Node modules as CommonJS does.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  const children: ChildProcess[] = [];
  const end = async (child: ChildProcess) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return {
    async start(kind, place) {
      const child = spawn(process.execPath, [program, kind, place], { stdio: ['pipe', 'pipe', 'inherit'] });
      children.push(child);
      const answers = createInterface({ input: child.stdout });
      const next = async () => {
        const [answer] = (await once(answers, 'line')) as [string];
        return JSON.parse(answer) as unknown;
      };
      expect(await next()).toBe('ready');
      return {
        pid: child.pid ?? 0,
        ask(command, sessionId, argument = '') {
          const answer = next();
          child.stdin.write(`${JSON.stringify({ command, sessionId, argument })}\n`);
          return answer;
        },
        kill: () => end(child),
      };
    },
    async stop() {
      await Promise.all(children.map(end));
      removeFolder(folder);
    },
  };
}

/** What every store must do when its writers are processes that die and race. */
export const processChecks: readonly {
  name: string;
  run(parts: { start: () => Promise<Host>; store: SessionStore; races: number }): Promise<void>;
}[] = [
  {
    name: 'F6: a second process gets session_locked, which says who writes',
    async run({ start, store }) {
      const key = { sessionId: crypto.randomUUID(), cwd: '/ws' };
      const holder = await start();
      expect(await holder.ask('lease', key.sessionId)).toBe('held');
      await expect(Promise.resolve().then(() => store.lease(key))).rejects.toMatchObject({
        code: 'session_locked',
        retryable: true,
        message: expect.stringMatching(new RegExp(`process ${holder.pid} on .+ since 20`)),
        hint: expect.stringContaining('fork'),
        data: { pid: holder.pid, sessionId: key.sessionId },
      });
      await holder.ask('release', key.sessionId);
      await (await store.lease(key)).release();
      await holder.kill();
    },
  },
  {
    name: 'F6: what a process that was killed held is free at once, and its lines are there',
    async run({ start, store }) {
      const key = { sessionId: crypto.randomUUID(), cwd: '/ws' };
      const holder = await start();
      expect(await holder.ask('lease', key.sessionId)).toBe('held');
      expect(await holder.ask('append', key.sessionId, '{"type":"user","n":1}')).toBe('written');
      await holder.kill();
      const lease = await store.lease(key);
      await store.append(key, ['{"type":"user","n":2}']);
      await lease.release();
      expect((await store.load(key.sessionId))?.lines).toEqual(['{"type":"user","n":1}', '{"type":"user","n":2}']);
    },
  },
  {
    name: 'F6: of those who race for the lease of a dead process, exactly one gets it',
    async run({ start, races }) {
      const racers = await Promise.all([start(), start(), start()]);
      let dead = await start();
      for (let race = 0; race < races; race += 1) {
        // Several sessions of one dead holder, so that it need not be started for each race.
        const ids = Array.from({ length: Math.min(races - race, 10) }, () => crypto.randomUUID());
        for (const sessionId of ids) expect(await dead.ask('lease', sessionId)).toBe('held');
        await dead.kill();
        for (const sessionId of ids) {
          const at = String(Date.now() + 3);
          const answers = await Promise.all(racers.map((racer) => racer.ask('lease', sessionId, at)));
          expect(answers.filter((answer) => answer === 'held')).toHaveLength(1);
          expect(answers.filter((answer) => (answer as { code?: string }).code === 'session_locked')).toHaveLength(2);
          for (const racer of racers) await racer.ask('release', sessionId);
        }
        race += ids.length - 1;
        if (race + 1 < races) dead = await start();
      }
    },
  },
  {
    name: 'lines of several processes that append to one log stay whole and in order',
    async run({ start, store }) {
      const sessionId = crypto.randomUUID();
      const hosts = await Promise.all([start(), start(), start()]);
      const answers = await Promise.all(hosts.map((host, name) => host.ask('fill', sessionId, String(name))));
      expect(answers).toEqual(['written', 'written', 'written']);
      const lines = (await store.load(sessionId))?.lines ?? [];
      const entries = lines.map((line) => JSON.parse(line) as { name: string; n: number; text: string });
      for (const name of ['0', '1', '2']) {
        const mine = entries.filter((entry) => entry.name === name);
        expect(mine.map(({ n }) => n)).toEqual(Array.from({ length: 200 }, (_, n) => n));
        expect(mine.every(({ n, text }) => text.length === n * 20)).toBe(true);
      }
      for (const host of hosts) await host.kill();
    },
  },
];
