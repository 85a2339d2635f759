/** A host process for the test of kill -9: runs one shell line in a sandbox. `argv`: root, home, command. */
import { systemClock } from '../../src/protocol/plain.js';
import { createSandbox } from '../../src/engine/sandbox/sandbox.js';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';

const [, , root = '', home = '', command = ''] = process.argv;
const env = { PATH: process.env.PATH ?? '', HOME: home, MARK: root };

const sandbox = await createSandbox(
  { enabled: true, network: { allowedDomains: ['example.com'] } },
  { roots: [root], home, configDir: `${home}/.claude`, env, clock: systemClock },
);
const wrapped = await sandbox.wrap({ argv: ['bash', '-c', command], cwd: root, env });
process.stdout.write(`${sandbox.temporary ?? ''}\n`);
await createLocalWorkspace({ clock: systemClock }).run({
  argv: wrapped.argv,
  env: wrapped.env,
  cwd: root,
  signal: new AbortController().signal,
  onOutput: () => undefined,
});
