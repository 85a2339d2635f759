/** Background tasks without a session: what they tell is kept in a list. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { Outbox } from '../../src/engine/outbox.js';
import { Recorder } from '../../src/engine/recorder.js';
import { createKeeper } from '../../src/engine/sessions/kept-output.js';
import { Log } from '../../src/engine/sessions/log.js';
import { type EndedTask, Tasks } from '../../src/engine/tasks.js';
import type { Message } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { removeFolder } from '../remove-folder.js';

export function createTasksKit() {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-tasks-'));
  const kept = createKeeper(join(folder, 'session.jsonl'));
  const log = new Log({ key: { sessionId: 's', cwd: '/' }, store: undefined, entries: [] });
  const outbox = new Outbox();
  const messages: Message[] = [];
  outbox.attach({ deliver: (message) => messages.push(message) });
  const recorder = new Recorder({ log, outbox, clock: systemClock, logger: () => {}, preface: [] });
  const tasks = new Tasks({ clock: systemClock, recorder, sessionId: 's' });
  const ends: EndedTask[] = [];
  const shown: string[] = [];
  tasks.listen({ onEnd: (end) => ends.push(end), onShown: (taskId) => shown.push(taskId) });
  onTestFinished(async () => {
    await tasks.stopAll();
    removeFolder(folder);
  });
  const openOutput = (name: string) => kept.openOutput(name);
  return { env: {}, tasks, openOutput, messages, ends, shown, entries: log.entries };
}
