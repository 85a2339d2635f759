// An engine that clients reach over WebSockets. A socket that is lost is opened again, and nothing is lost with it.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeddleError, query } from 'heddle';
import { createEngine, createMemoryStore, systemClock } from 'heddle/engine';
import { createServer } from 'heddle/server';

// The server's side: folder, environment and model are its own choice; a client may not change them.
const folder = mkdtempSync(join(tmpdir(), 'heddle-example-'));
const server = await createServer({
  engine: createEngine({ clock: systemClock, store: createMemoryStore() }),
  config: { cwd: folder, configDir: folder, env: { PATH: process.env['PATH'] ?? '' }, model: 'embedded' },
  clock: systemClock,
});
console.log(`listening on ${new URL(server.url).hostname}`);

// The client's side, most often in another program: the address, the token, and its own callbacks.
async function ask(prompt: string, token: string): Promise<string> {
  const messages = query({
    prompt,
    options: {
      heddle: { carrier: { url: server.url, token } },
      canUseTool: async (name) => {
        console.log(`asked about ${name}`);
        return { behavior: 'allow' };
      },
    },
  });
  for await (const message of messages) {
    if (message.type === 'result' && message.subtype === 'success') return message.result;
  }
  return 'no answer';
}

// Each client has a session of its own.
const answers = await Promise.all([
  ask('Write a file warp.txt saying "blue"', server.token),
  ask('Write a file weft.txt saying "white"', server.token),
]);
console.log(answers.join('\n'));
console.log(readdirSync(folder).toSorted().join(', '));

try {
  await ask('Let me in', 'a guess');
} catch (thrown) {
  if (!(thrown instanceof HeddleError)) throw thrown;
  console.log(`${thrown.code}: ${thrown.hint}`);
}
await server.close();
rmSync(folder, { recursive: true });
