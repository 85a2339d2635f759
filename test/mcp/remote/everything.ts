/** The public server "everything", listening over HTTP and SSE. */
import { createServer } from 'node:net';
import { type Bench, EVERYTHING } from './kit.js';

export async function listenEverywhere(servers: Bench): Promise<{ http: string; sse: string }> {
  const [http, sse] = [await freePort(), await freePort()];
  await Promise.all([
    servers.listen([EVERYTHING, 'streamableHttp'], /listening on port/i, { PORT: http }),
    servers.listen([EVERYTHING, 'sse'], /running on port/i, { PORT: sse }),
  ]);
  return { http: `http://127.0.0.1:${http}/mcp`, sse: `http://127.0.0.1:${sse}/sse` };
}

async function freePort(): Promise<string> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? String(address.port) : '';
}
