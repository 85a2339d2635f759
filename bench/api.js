// The fake Messages API, in a process of its own: what it costs is nobody's.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** What to ask for an answer of so many deltas, written so many events at a time. */
export const askForDeltas = (deltas, eventsPerWrite) => `deltas=${deltas} events-per-write=${eventsPerWrite}`;

export async function startApi(root) {
  const program = join(import.meta.dirname, 'programs/serve-api.js');
  const child = spawn(process.execPath, [program, root], { stdio: ['ignore', 'pipe', 'inherit'] });
  const failed = once(child, 'exit').then(() => {
    throw new Error('The fake API did not start. Is dist/ built? npm run build');
  });
  const [url] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), failed]);
  failed.catch(() => {});
  return { url, stop: () => child.kill() };
}
