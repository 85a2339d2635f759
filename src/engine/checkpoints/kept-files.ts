import type { SessionScope } from '../scope.js';

/** Says which files the turn has changed and can give back. */
export async function tellKeptFiles({ checkpoints, recorder, manners, clock, id }: SessionScope): Promise<void> {
  const kept = await checkpoints?.end();
  if (kept === undefined || !manners.tellsKeptFiles || kept.files.length + kept.failed.length === 0) return;
  const processed_at = new Date(clock.now()).toISOString();
  recorder.emit({
    type: 'system',
    subtype: 'files_persisted',
    ...kept,
    processed_at,
    uuid: clock.uuid(),
    session_id: id,
  });
}
