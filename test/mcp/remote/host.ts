/** A host that connects a server and is then killed by the test. `argv`: the program of the server, its mode. */
import { tmpdir } from 'node:os';
import { connectRemote } from '../../../src/engine/mcp/remote/connect.js';
import { createLocalWorkspace } from '../../../src/engine/workspace/local.js';
import { systemClock } from '../../../src/protocol/plain.js';

const [, , program = '', mode = ''] = process.argv;

await connectRemote(
  'box',
  { command: process.execPath, args: [program, mode] },
  {
    clock: systemClock,
    logger: () => undefined,
    workspace: createLocalWorkspace({ clock: systemClock }),
    env: { PATH: process.env.PATH ?? '', HOME: tmpdir() },
    cwd: tmpdir(),
    requests: { log: ({ data }) => void process.stdout.write(`pid ${String(data)}\n`) },
    signal: new AbortController().signal,
  },
);
