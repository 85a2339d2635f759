import type { Message, ParamsOf, SessionConfig, UserMessage } from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';
import { Peer } from '../wire/index.js';
import { readAmbient } from './ambient.js';
import { answerElicitation, answerPermission } from './answers.js';
import { chooseCarrier, openChannel } from './carrier.js';
import { createLogger } from './diagnostics.js';
import { createHookBridge, type HookBridge } from './hook-bridge.js';
import { McpBridge } from './mcp-bridge.js';
import { type Options, toSessionConfig } from './options.js';
import { type Query, QueryHandle } from './query-handle.js';
import { findFault, toOutputSchema } from './tool-schema.js';
import type { McpServerSource } from './tool-definition.js';

/**
 * Runs an agent. Gives its messages as they come, from the first `system/init` to the `result` of the last prompt.
 * Throws a HeddleError for options that cannot be used.
 */
export function query(params: { prompt: string | AsyncIterable<UserMessage>; options?: Options }): Query {
  checkPrompt(params?.prompt);
  const handle = openQuery(params.options);
  handle.feed(params.prompt);
  return handle;
}

function checkPrompt(prompt: unknown): void {
  const isIterable = typeof prompt === 'object' && prompt !== null && Symbol.asyncIterator in prompt;
  if (typeof prompt === 'string' || isIterable) return;
  throw new HeddleError('invalid_config', 'The prompt must be a string or an async iterable of user messages.', {
    hint: 'query({ prompt: "..." })',
  });
}

/** A query that is connected and has been told nothing yet. */
export function openQuery(options: Options = {}): QueryHandle {
  const config = toSessionConfig(options, readAmbient());
  const hooks = createHookBridge(options.hooks);
  const servers = new McpBridge(sdkServers(options.mcpServers));
  const connect = async (signal: AbortSignal, onMessage: (message: Message) => void): Promise<Peer<'host'>> => {
    const { outputFormat, agents } = options;
    const isElsewhere = chooseCarrier(options, config.env) !== 'in-process';
    if (agents) (await import('./agent-callbacks.js')).refuseCallbacksOfAgents(agents);
    if (outputFormat) {
      config.jsonSchema = await toOutputSchema(outputFormat.schema);
      if (isElsewhere) Object.assign(initialize, { jsonSchema: config.jsonSchema }, remoteConfig(options, config));
    }
    if (isElsewhere) await checkGreeting(initialize);
    const logger = createLogger(options, config);
    const { channel, clock } = await openChannel({ options, config, logger, signal });
    const give = (message: Message): void => {
      peer.messages.push(message);
      onMessage(message);
    };
    const peer: Peer<'host'> = new Peer(channel, {
      side: 'host',
      clock,
      logger,
      onMessage: (message) => {
        if (message.type !== 'update_environment_variables') give(message);
      },
      onInvalid: (frame, error) => {
        logger('warn', `The engine sent a frame that is not as it should be. ${error.message}`);
        if (isMessage(frame)) give(frame);
      },
    });
    serveEngine(peer, { options, hooks, servers, onInvalid: (error) => handle.fail(error) });
    return peer;
  };
  const initialize = { ...toInitialize(config, { hooks, servers }), ...remoteConfig(options, config) };
  const { outputFormat } = options;
  const handle = new QueryHandle({
    connect,
    initialize,
    servers,
    signal: options.abortController?.signal,
    ...(outputFormat && { findFault: (value) => findFault(outputFormat.schema, value) }),
  });
  return handle;
}

/** An engine elsewhere refuses it as a whole: its hooks would be gone with whatever else is wrong in it. */
async function checkGreeting(initialize: ParamsOf<'initialize'>): Promise<void> {
  const { checkParams } = await import('../protocol/index.js');
  try {
    checkParams('initialize', JSON.parse(JSON.stringify(initialize)));
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    throw new HeddleError('invalid_config', message.replace(/^initialize: /, 'Options: '), { cause: thrown });
  }
}

const CONTROL = /^(?:control_|keep_alive$|update_environment_variables$)/;

/** Other engines leave fields out. Their messages are given as they are: a result that is dropped is waited for in vain. */
const isMessage = (frame: unknown): frame is Message =>
  typeof frame === 'object' &&
  frame !== null &&
  'type' in frame &&
  typeof frame.type === 'string' &&
  !CONTROL.test(frame.type);

/** The instances among the servers, by name. */
export const sdkServers = (servers: Options['mcpServers'] = {}): Record<string, McpServerSource> =>
  Object.fromEntries(
    Object.entries(servers).flatMap(([name, server]) => (server.type === 'sdk' ? [[name, server.instance]] : [])),
  );

/** Where no command line carries the configuration, `initialize` does. What belongs to this machine stays here. */
function remoteConfig(options: Options, config: SessionConfig): Pick<ParamsOf<'initialize'>, 'config'> {
  const carrier = chooseCarrier(options, config.env);
  if (typeof carrier === 'string') return {};
  const { env: _, configDir: _dir, cwd: _cwd, envIsExact: _exact, ...portable } = config;
  return { config: portable };
}

interface Served {
  options: Options;
  hooks: HookBridge;
  servers: McpBridge;
  /** A callback gave an answer of the wrong shape: the programmer must know, not only the model. */
  onInvalid(error: HeddleError): void;
}

/** What the engine may ask of this side. */
function serveEngine(peer: Peer<'host'>, { options, hooks, servers, onInvalid }: Served): void {
  const { canUseTool } = options;
  if (canUseTool) {
    peer.handle('can_use_tool', async (asked, { signal }) => {
      try {
        return await answerPermission(canUseTool, asked, signal);
      } catch (thrown) {
        if (thrown instanceof HeddleError && thrown.code === 'invalid_answer') onInvalid(thrown);
        throw thrown;
      }
    });
  }
  peer.handle('hook_callback', (called, { signal }) => hooks.answer(called, signal));
  peer.handle('mcp_message', (sent, { signal }) => servers.answer(sent, signal));
  servers.attach((said) => peer.request('mcp_message', said));
  const { onElicitation } = options;
  if (onElicitation) peer.handle('elicitation', (asked, { signal }) => answerElicitation(onElicitation, asked, signal));
}

function toInitialize(
  config: SessionConfig,
  { hooks, servers }: { hooks: HookBridge; servers: McpBridge },
): ParamsOf<'initialize'> {
  const { systemPrompt, appendSystemPrompt, agents, jsonSchema, skills } = config;
  const isPreset = typeof systemPrompt === 'object' && !Array.isArray(systemPrompt);
  return {
    ...(hooks.config && { hooks: hooks.config }),
    ...(servers.names.length > 0 && { sdkMcpServers: servers.names }),
    ...(!isPreset && systemPrompt !== undefined && { systemPrompt }),
    ...(appendSystemPrompt !== undefined && { appendSystemPrompt }),
    ...(agents && { agents: agents as ParamsOf<'initialize'>['agents'] }),
    ...(jsonSchema && { jsonSchema }),
    ...(Array.isArray(skills) && { skills }),
  };
}
