/** A client for the conformance scenarios: connects to the address that comes last, and calls every tool it finds. */
import { tmpdir } from 'node:os';
import { connectRemote } from '../../../src/engine/mcp/remote/connect.js';
import { createLocalWorkspace } from '../../../src/engine/workspace/local.js';
import { systemClock } from '../../../src/protocol/plain.js';

const url = process.argv.at(-1) ?? '';
const { signal } = new AbortController();

const link = await connectRemote(
  'conformance',
  { type: 'http', url },
  {
    clock: systemClock,
    logger: () => undefined,
    workspace: createLocalWorkspace({ clock: systemClock }),
    env: {},
    cwd: tmpdir(),
    // A person who takes every default.
    requests: { elicit: async () => ({ action: 'accept', content: {} }) },
    signal,
  },
);
for (const { name, inputSchema } of link.tools) {
  const properties = Object.keys(inputSchema.properties ?? {});
  await link.call(name, Object.fromEntries(properties.map((property) => [property, 2])), {
    toolUseId: 'toolu_1',
    signal,
  });
}
await link.close();
