/** `@server:uri` in a prompt. */
import { describe, expect, it } from 'vitest';
import type { Options } from '../../../src/sdk/index.js';
import { program, talk } from './kit.js';

const RESOURCES = new URL('./servers/resources.mjs', import.meta.url).pathname;
const SECRET = 'the secret of the server';

async function mention(options: Options = {}): Promise<string> {
  const run = talk(['ok'], { mcpServers: { my: program(RESOURCES) }, ...options });
  await run.say('see @my:res://one');
  return JSON.stringify(run.model.requests[0]?.body.messages);
}

describe('a resource that a prompt mentions', () => {
  it('is shown in the first prompt already, though its server has just been started', async () => {
    expect(await mention()).toContain(SECRET);
  });

  it.each<[string, Options]>([
    ['disallowedTools', { disallowedTools: ['ReadMcpResourceTool'] }],
    ['disallowedTools with the short name', { disallowedTools: ['ReadMcpResource'] }],
    ['a rule', { settings: { permissions: { deny: ['ReadMcpResourceTool'] } } }],
    ['a rule for the server', { settings: { permissions: { deny: ['mcp__my'] } } }],
  ])('is not shown where it is denied by %s, and named', async (_, options) => {
    const sent = await mention(options);
    expect(sent).not.toContain(SECRET);
    expect(sent).toContain('my:res://one: Permission to read it is denied.');
  });

  it('is left to the tool where a rule wants to ask', async () => {
    const sent = await mention({ settings: { permissions: { ask: ['ReadMcpResourceTool'] } } });
    expect(sent).not.toContain(SECRET);
    expect(sent).toContain('Use ReadMcpResourceTool');
  });
});
