import { expect, it } from 'vitest';
import { McpServers } from '../../../src/engine/mcp/servers.js';
import { systemClock } from '../../../src/protocol/plain.js';

it.each([
  [false, { scope: 'project', error: expect.stringContaining('not approved') }],
  [true, {}],
])('what is said of a server that nothing was done about yet, to those who sit elsewhere: %s', (isElsewhere, more) => {
  const blocked = 'It is not approved by /etc/policy.json.';
  const configured = new Map([['own', { config: { command: 'x' }, scope: 'project' as const, blocked }]]);
  const servers = new McpServers(systemClock, { configured, waits: true, isElsewhere });
  expect(servers.status).toEqual([{ name: 'own', status: expect.any(String), ...more }]);
});
