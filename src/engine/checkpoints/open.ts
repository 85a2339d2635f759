import { realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionConfig } from '../../protocol/index.js';
import { grantedUpdates } from '../sessions/resume.js';
import type { SessionScope } from '../scope.js';
import type { Checkpoints } from './checkpoints.js';

type Parts = Pick<
  SessionScope,
  'id' | 'config' | 'state' | 'clock' | 'logger' | 'workspace' | 'recorder' | 'childEnv' | 'tasks'
>;

/** Checkpoints of a session that is configured to have them; loaded only then. */
export async function openCheckpoints(config: SessionConfig, parts: Parts): Promise<Checkpoints | undefined> {
  if (!config.enableFileCheckpointing) return undefined;
  const { createCheckpoints } = await import('./checkpoints.js');
  const { id, state, clock, logger, workspace, recorder, childEnv, tasks } = parts;
  const { log } = recorder;
  const isKept = config.persistSession !== false;
  // Made when there is something to put into it.
  const folder = isKept
    ? join(config.configDir, 'sessions', id)
    : join(realpathSync(tmpdir()), `heddle-files-${crypto.randomUUID()}`);
  const checkpoints = createCheckpoints({
    folder,
    configDir: config.configDir,
    workspace,
    clock,
    logger,
    roots: () => state.roots,
    cwd: config.cwd,
    childEnv,
    entries: log.entries,
    note: (fields) => void recorder.life(fields),
    log: { position: () => ({ entries: log.entries.length, leaf: log.leaf }) },
    permissionState: () => ({ mode: state.mode, granted: grantedUpdates(log.entries) }),
    background: () => tasks.running.length > 0,
    async taskEnd() {
      if (tasks.running.length > 0) await Promise.race(tasks.running.map(({ over }) => over));
    },
  });
  return {
    ...checkpoints,
    async close() {
      await checkpoints.close();
      if (!isKept) await rm(folder, { recursive: true, force: true });
    },
  };
}
