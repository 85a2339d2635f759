/** The same servers when the engine is in another process, or behind a socket: what they ask crosses both ways. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { Options } from '../../src/sdk/index.js';
import { toolResult } from '../../src/testing/index.js';
import { ensureBuilt } from '../cli/run-cli.js';
import { CARRIERS, createStage } from '../e2e/stage.js';
import { call, find, program, V1 } from '../mcp/session/kit.js';

beforeAll(ensureBuilt, 120_000);

const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });

/** Made for each connection. */
function createLib(): McpServer {
  const server = new McpServer({ name: 'lib', version: '1.0.0' });
  server.registerTool('ask', { description: 'Asks', inputSchema: { n: z.number() } }, async ({ n }, extra) => {
    const progressToken = extra._meta?.progressToken ?? '';
    await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress: n } });
    const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } };
    const { content } = await server.server.elicitInput({ message: 'Who?', requestedSchema });
    return said(`${n} ${JSON.stringify(content)}`);
  });
  server.registerPrompt('greet', { description: 'Greets' }, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Greet them.' } }],
  }));
  return server;
}

describe.each(CARRIERS)('with the engine at the other end of %s', (carrier) => {
  it('a server of this process is called, tells progress and asks the person; its prompts are told of after init', async () => {
    const stage = await createStage({ carrier, script: [call('mcp__lib__ask', { n: 7 }), 'done'] });
    onTestFinished(() => stage.close());
    const messages = await stage.run('Go', {
      mcpServers: { lib: { type: 'sdk', name: 'lib', instance: createLib } },
      allowedTools: ['mcp__lib'],
      onElicitation: async ({ serverName, message }) => ({
        action: 'accept',
        content: { name: `${serverName} ${message}` },
      }),
    });
    expect(stage.notes).toEqual([]);
    expect(toolResult(messages, 't1').text).toBe('7 {"name":"lib Who?"}');
    expect(messages.some(({ type }) => type === 'tool_progress')).toBe(true);
    expect(messages[0]).toMatchObject({ subtype: 'init', mcp_servers: [{ name: 'lib' }] });
    expect(
      messages.filter((message) => message.type === 'system' && message.subtype === 'commands_changed'),
    ).toMatchObject([
      {
        commands: expect.arrayContaining([expect.objectContaining({ name: 'mcp__lib__greet', description: 'Greets' })]),
      },
    ]);
  });
});

describe.each(['memory', 'subprocess'] as const)('with the engine at the other end of %s', (carrier) => {
  it('E4: a server on stdio is the engine’s child: it asks through the callbacks, and sees no key', async () => {
    const asked: string[] = [];
    const script = [
      find('mcp__one__form'),
      call('mcp__one__form', {}, 't1'),
      call('mcp__one__sample', { prompt: 'Weave' }, 't2'),
      'a sample',
      call('mcp__one__environment', {}, 't3'),
      'done',
    ];
    const stage = await createStage({ carrier, script });
    onTestFinished(() => stage.close());
    const options: Options = {
      mcpServers: { one: program(V1) },
      allowedTools: ['mcp__one'],
      onElicitation: async ({ serverName }) => ({ action: 'accept', content: { name: serverName } }),
      canUseTool: async (name, input) => {
        asked.push(`${name} ${String(input.server)}`);
        return { behavior: 'allow' };
      },
    };
    const messages = await stage.run('Go', options);
    expect(stage.notes).toEqual([]);
    expect(toolResult(messages, 't1').text).toContain('"name":"one"');
    expect(toolResult(messages, 't2').text).toContain('a sample');
    expect(asked).toEqual(['McpSampling one']);
    const { text } = toolResult(messages, 't3');
    expect(text).toContain('"PATH"');
    expect(text).not.toContain('a key of the tests');
  });
});
