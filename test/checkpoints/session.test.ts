/** Checkpoints as a session has them. */
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';
import { systemClock } from '../../src/protocol/plain.js';
import { scratch, start } from '../engine/kit.js';
import { until } from '../workspace/running.js';

const bash = (command: string, more = {}) => ({ toolUse: { name: 'Bash', input: { command, ...more } } });

const checkpointed = (configDir: string, more = {}) => ({
  configDir,
  permissionMode: 'bypassPermissions' as const,
  allowDangerouslySkipPermissions: true,
  enableFileCheckpointing: true,
  ...more,
});

/** Those of other tests may go while one looks. */
function unlessGone<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return otherwise;
    throw thrown;
  }
}

const filesIn = (folder: string): string[] =>
  unlessGone(() => readdirSync(folder, { recursive: true, withFileTypes: true }), [])
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** The files of the folders that hold a text. */
const holders = (text: string, folders: readonly string[]): string[] =>
  folders.flatMap(filesIn).filter((path) => unlessGone(() => readFileSync(path, 'utf8'), '').includes(text));

const temporary = (): string[] =>
  readdirSync(tmpdir())
    .filter((name) => name.startsWith('heddle-files-'))
    .map((name) => join(tmpdir(), name));

describe('checkpoints of a session', () => {
  it('of which nothing is kept leave no copies behind', async () => {
    const [config, cwd, secret, uuid] = [scratch(), scratch(), randomUUID(), randomUUID()];
    writeFileSync(join(cwd, '.env'), secret);
    const run = await start([bash('echo x > .env; rm -f other'), 'done'], {
      cwd,
      config: checkpointed(config, { persistSession: false }),
    });
    await run.ask('go', { uuid });
    expect(holders(secret, temporary())).not.toEqual([]);
    const result = await run.session.rewindFiles(uuid, {});
    expect(result).toMatchObject({ filesChanged: [join(cwd, '.env')] });
    expect(readFileSync(join(cwd, '.env'), 'utf8')).toBe(secret);
    await run.session.close();
    expect(holders(secret, [config, ...temporary()])).toEqual([]);
    expect(existsSync(join(config, 'sessions'))).toBe(false);
  });

  it('list what a background task changes after its turn (F8)', async () => {
    const [config, cwd, uuid] = [scratch(), scratch(), randomUUID()];
    writeFileSync(join(cwd, 'wait'), '');
    const task = bash('while [ -e wait ]; do sleep 0.02; done; echo late > late', { run_in_background: true });
    const run = await start([task, 'done', 'seen'], { cwd, config: checkpointed(config) });
    await run.ask('go', { uuid });
    const told = run.nextResult();
    rmSync(join(cwd, 'wait'));
    // The turn that tells the model of the end.
    await told;
    writeFileSync(join(cwd, 'theirs'), 'someone else');
    const result = await run.session.rewindFiles(uuid, {});
    const paths = result.notRestored?.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining([join(cwd, 'late')]));
    expect(paths).not.toContain(join(cwd, 'theirs'));
    await run.session.rewindFiles(uuid, { overwriteEdits: true });
    expect(readdirSync(cwd).toSorted()).toEqual(['theirs', 'wait']);
    await run.session.close();
  });

  it('note what a task did until the session is closed', async () => {
    const [config, cwd, uuid] = [scratch(), scratch(), randomUUID()];
    const task = bash('until [ -e go ]; do sleep 0.02; done; echo late > late; exec sleep 600', {
      run_in_background: true,
    });
    // Ending a process takes real time, whatever the clock of the session says.
    const workspace = createLocalWorkspace({ clock: systemClock });
    const run = await start([task, 'done'], { cwd, workspace, config: checkpointed(config) });
    await run.ask('go', { uuid });
    writeFileSync(join(cwd, 'go'), '');
    await until(() => existsSync(join(cwd, 'late')));
    await run.session.close();
    const next = await start([], { cwd, store: run.store, config: checkpointed(config, { resume: run.session.id }) });
    const result = await next.session.rewindFiles(uuid, { dryRun: true });
    expect(result.notRestored?.map(({ path }) => path)).toContain(join(cwd, 'late'));
    await next.session.close();
  });
});
