/** The client under test of the public conformance suite: our login, with a browser that says yes to everything. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { createLoginProvider } from '../../../src/engine/mcp/auth/login-provider.js';
import { openLoopback } from '../../../src/engine/mcp/auth/loopback.js';
import { createAuthStore } from '../../../src/engine/mcp/auth/store.js';
import { systemClock } from '../../../src/protocol/plain.js';
import { removeFolder } from '../../remove-folder.js';

const serverUrl = process.argv.at(-1) ?? '';
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const given = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Record<string, string>;
const folder = mkdtempSync(join(tmpdir(), 'heddle-conformance-'));
const store = createAuthStore({ configDir: folder });

/** Logs in as often as the server wants, and runs what needs it again. */
async function withLogin<T>(run: (transport: StreamableHTTPClientTransport) => Promise<T>): Promise<T> {
  for (let logins = 0; ; logins += 1) {
    const loopback = await openLoopback();
    const provider = createLoginProvider({
      store,
      serverUrl,
      redirectUrl: loopback.redirectUrl,
      oauth: {
        ...(given.client_id && { clientId: given.client_id }),
        ...(scenario.includes('cimd') && { clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' }),
      },
      ...(given.client_secret && { clientSecret: given.client_secret }),
      present: (page) => void fetch(page).catch(() => undefined),
    });
    const transport = new StreamableHTTPClientTransport(new URL(serverUrl), { authProvider: provider });
    const { signal } = new AbortController();
    const answered = loopback.answer({ state: provider.expectedState, signal, clock: systemClock, timeoutMs: 120_000 });
    answered.catch(() => undefined);
    try {
      return await run(transport);
    } catch (thrown) {
      if (!(thrown instanceof UnauthorizedError) || logins >= 3) throw thrown;
      const { code, iss } = await answered;
      await transport.finishAuth(code, iss);
    } finally {
      await loopback.close();
    }
  }
}

try {
  await withLogin(async (transport) => {
    const client = new Client({ name: 'heddle', version: '1' });
    await client.connect(transport);
    const { tools } = await client.listTools();
    for (const { name } of tools) await client.callTool({ name, arguments: {} });
    await client.close();
  });
} finally {
  removeFolder(folder);
}
process.exit(0);
