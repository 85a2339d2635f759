import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import type { SessionStore } from '../../src/protocol/index.js';
import { scratch, start } from '../engine/kit.js';
import { withFullDisk } from '../stores/full-disk.js';
import { type Agents, createAgents, messagesOf, requestsOf } from './agents.js';
import type { AgentOrder } from './child/order.js';
import { faultsIn } from './pairs.js';

let agents: Agents;

beforeAll(async () => {
  agents = await createAgents();
});

afterAll(() => agents.stop());

/** A small disk that is there for one process alone, and gone with it. */
const onSmallDisk = (folder: string): string[] => [
  'unshare',
  ...(process.getuid?.() === 0 ? ['-m'] : ['-rm']),
  'sh',
  '-c',
  'mount -t tmpfs -o size=192k tmpfs "$0" && exec "$@"',
  folder,
];

function canMount(): boolean {
  const [command, ...args] = [...onSmallDisk(scratch()), 'true'];
  return spawnSync(command ?? '', args).status === 0;
}

const callCount = { id: 'm1', toolUse: { id: 'c1', name: 'Bash', input: { command: 'printf x >> count' } } };
const allow = async () => ({ behavior: 'allow' });

describe('a disk that is full', () => {
  it('is told once, and the turn goes on to its end', async () => {
    const cwd = scratch();
    const store = createFileStore({ configDir: join(cwd, 'config') });
    const sessionId = crypto.randomUUID();
    const path = store.pathOf?.({ sessionId, cwd }) ?? '';
    const run = await withFullDisk(path, async () => {
      const started = await start([callCount, 'done', 'still here'], { store, cwd, config: { sessionId }, ask: allow });
      expect(await started.ask('go')).toMatchObject({ subtype: 'success', result: 'done' });
      expect(await started.ask('and?')).toMatchObject({ subtype: 'success', result: 'still here' });
      return started;
    });
    const lost = run.messages.filter(
      (message) => message.type === 'system' && message.subtype === 'session_writes_lost',
    );
    expect(lost).toMatchObject([{ error: expect.stringMatching(/cannot be written: ENOSPC/) }]);
    expect(readFileSync(join(cwd, 'count'), 'utf8')).toBe('x');
    await run.session.close();
  });

  it('and has room again: what was lost meanwhile is made up for, and the session resumes', async () => {
    const cwd = scratch();
    const disk = createFullDisk(createFileStore({ configDir: join(cwd, 'config') }));
    const run = await start([callCount, 'done', 'there is'], {
      store: disk.store,
      cwd,
      ask: async () => {
        disk.isFull = true;
        return { behavior: 'allow' };
      },
    });
    await run.ask('go');
    disk.isFull = false;
    await run.ask('is there room?');
    await run.session.close();
    const again = await start(['yes'], { store: disk.store, cwd, config: { resume: run.session.id } });
    await again.ask('all there?');
    const { messages } = again.model.requests[0]?.body ?? { messages: [] };
    expect(faultsIn(messages)).toEqual([]);
    const said = JSON.stringify(messages);
    expect(said).toMatch(/go.*c1.*done.*is there room\?.*there is.*all there\?/s);
    expect(disk.refused).toBeGreaterThan(3);
    expect(said.match(/"tool_use_id":"c1"/g)).toHaveLength(1);
    expect(said).not.toContain('may have had its effect');
  });

  it('in the middle of a line, in a process of its own, on a disk of its own where one can be had', async () => {
    const [cwd, configDir] = [scratch(), scratch()];
    const order: AgentOrder = {
      cwd,
      configDir,
      sessionId: crypto.randomUUID(),
      plan: 'count',
      answer: 'allow',
      prompt: 'Go',
      ballast: join(configDir, 'ballast'),
    };
    const isSmall = canMount();
    const { ballast: _, ...plain } = order;
    const said = await agents.start(isSmall ? order : plain, isSmall ? { via: onSmallDisk(configDir) } : {}).ended;
    const lost = messagesOf(said).filter(({ subtype }) => subtype === 'session_writes_lost');
    const results = messagesOf(said).filter(({ type }) => type === 'result');
    expect(results.map(({ subtype }) => subtype)).toEqual(isSmall ? ['success', 'success'] : ['success']);
    expect(lost).toHaveLength(isSmall ? 1 : 0);
    expect(readFileSync(join(cwd, 'count-c1'), 'utf8')).toBe('x');
    if (isSmall) renameSync(join(cwd, 'kept'), join(configDir, 'projects'));
    const later = await agents.start({ ...plain, open: 'resume', prompt: 'All there?' }).ended;
    expect(requestsOf(later).flatMap(faultsIn)).toEqual([]);
    const [sent] = requestsOf(later);
    expect(JSON.stringify(sent)).toMatch(
      isSmall ? /Go.*counted.*So it is.*Is there room\?.*All there\?/s : /Go.*counted/s,
    );
  });
});

describe('a configuration folder that is read-only', () => {
  // For the superuser no folder is read-only; anybody else will do.
  const someone = process.getuid?.() === 0 ? { uid: 65_534 } : {};
  const openTo = (folder: string) => chmodSync(folder, 0o777);

  it('a new session works, is told once that it will not survive, and leaves nothing', async () => {
    const [cwd, configDir] = [scratch(), scratch()];
    openTo(cwd);
    chmodSync(configDir, 0o555);
    const order: AgentOrder = { cwd, configDir, sessionId: crypto.randomUUID(), plan: 'count', answer: 'allow' };
    const said = await agents.start({ ...order, prompt: 'Go' }, someone).ended;
    expect(messagesOf(said).at(-1)).toMatchObject({ subtype: 'success', result: 'So it is.' });
    const lost = messagesOf(said).filter(({ subtype }) => subtype === 'session_writes_lost');
    expect(lost).toMatchObject([{ error: expect.stringMatching(/cannot be written: EACCES/) }]);
    expect(readdirSync(configDir)).toEqual([]);
  });

  it('an old session resumes, and its log stays as it is', async () => {
    const [cwd, configDir] = [scratch(), scratch()];
    openTo(cwd);
    openTo(configDir);
    const order: AgentOrder = { cwd, configDir, sessionId: crypto.randomUUID(), plan: 'count', answer: 'allow' };
    await agents.start({ ...order, prompt: 'Go' }, someone).ended;
    const files = readdirSync(configDir, { recursive: true, withFileTypes: true });
    const [log] = files
      .filter(({ name }) => name.endsWith('.jsonl'))
      .map(({ parentPath, name }) => join(parentPath, name));
    const before = readFileSync(log ?? '', 'utf8');
    for (const file of files) chmodSync(join(file.parentPath, file.name), file.isDirectory() ? 0o555 : 0o444);
    chmodSync(configDir, 0o555);
    const said = await agents.start({ ...order, open: 'resume', prompt: 'Again' }, someone).ended;
    expect(messagesOf(said).at(-1)).toMatchObject({ subtype: 'success', result: 'So it is.' });
    expect(messagesOf(said).filter(({ subtype }) => subtype === 'session_writes_lost')).toHaveLength(1);
    expect(JSON.stringify(requestsOf(said))).toContain('counted');
    expect(readFileSync(log ?? '', 'utf8')).toBe(before);
    expect(existsSync(join(cwd, 'count-c1'))).toBe(true);
  });
});

/** A store whose disk is full whenever a test says so. */
function createFullDisk(store: SessionStore) {
  const disk = {
    isFull: false,
    refused: 0,
    store: {
      ...store,
      append(...args: Parameters<SessionStore['append']>) {
        if (!disk.isFull) return store.append(...args);
        disk.refused += 1;
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      },
    } satisfies SessionStore,
  };
  return disk;
}
