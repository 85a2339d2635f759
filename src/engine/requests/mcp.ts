/** Tools and resources of MCP servers, called by a host: under the rules and hooks that the model is under. */
import type { McpCallAnswer, McpResourceAnswer, ParamsOf } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { mcpToolName } from '../mcp/names.js';
import { judgeResource } from '../permissions/may-read.js';
import type { Session } from '../session.js';
import { runCall } from '../tools/pipeline.js';
import { selectTools } from '../tools/registry.js';
import { readUnderHooks } from '../hooks/under-hooks.js';

const ARRIVAL_MS = 30_000;

interface Asked {
  signal: AbortSignal;
}

/** What is to be asked about is put to the host, as for a call of the model. The conversation knows nothing of it. */
export async function callTool(
  { scope }: Session,
  { server_name, tool_name, arguments: input = {} }: ParamsOf<'mcp_call'>,
  { signal }: Asked,
): Promise<McpCallAnswer> {
  const { mcp, config, agents, questions, clock } = scope;
  const name = mcpToolName(server_name, tool_name);
  requireServer({ scope }, server_name);
  mcp.begin();
  await mcp.toolArrived(name, { signal, withinMs: ARRIVAL_MS });
  const offered = agents.permits(name) ? mcp.find(name) : undefined;
  const tool = offered && selectTools([offered], config, { canAsk: questions.canAsk }).get(offered.name);
  if (tool === undefined) throw new HeddleError('request_failed', `No such tool available: ${name}`);
  const block = { type: 'tool_use' as const, id: clock.uuid(), name, input };
  const mayRun = () => Promise.resolve();
  const { content, isError, structured } = await runCall(scope, { block, life: 'new' }, { signal, mayRun, tool });
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const isOwn = tool.outputSchema !== undefined && !isError;
  return { content: blocks.map((each) => ({ ...each })), ...(isOwn && { structuredContent: structured }), isError };
}

export async function readResource(
  { scope }: Session,
  { server_name: server, uri }: ParamsOf<'mcp_read_resource'>,
  { signal }: Asked,
): Promise<McpResourceAnswer> {
  requireServer({ scope }, server);
  await scope.guard.refresh();
  const { verdict } = await judgeResource(scope, { server, uri });
  if (verdict !== 'allow') {
    const why = verdict === 'deny' ? 'permission to read it is denied' : 'a person would have to be asked';
    throw new HeddleError('request_failed', `${uri} of ${server} was not read: ${why}.`);
  }
  scope.mcp.begin();
  const contents = await readUnderHooks(
    scope,
    {
      tool: 'ReadMcpResourceTool',
      input: { server, uri },
      shown: `${uri} of ${server}`,
      read: () => scope.mcp.readResource(server, uri, { signal }),
      toResponse: (read) => ({ contents: read }),
    },
    signal,
  );
  return { contents: contents.map((each) => ({ ...each })) };
}

function requireServer({ scope }: Pick<Session, 'scope'>, server: string): void {
  if (scope.mcp.status.some(({ name }) => name === server)) return;
  throw new HeddleError('invalid_config', `Server not found: ${server}`);
}
