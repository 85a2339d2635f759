import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Channel, Clock, Logger, SessionConfig } from '../protocol/index.js';
import { HeddleError, systemClock, toArgv } from '../protocol/plain.js';
import { connectWebSocket, fromTransport, spawnEngineProcess } from '../wire/index.js';
import { printToStderr, SDK_VERSION } from './ambient.js';
import { quietly } from './diagnostics.js';
import { type Carrier, extraConfig, type HeddleOptions, type Options, toFlags } from './options.js';

export interface Connected {
  channel: Channel;
  clock: Clock;
}

interface CarrierParts {
  options: Options;
  config: SessionConfig;
  logger: Logger;
  signal: AbortSignal;
}

const FIXED_FLAGS = ['--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'];
const OWN_CLI = fileURLToPath(new URL('../../bin/heddle.js', import.meta.url));
const SCRIPT = /\.[mc]?[jt]sx?$/;
const IN_PROCESS_PARTS = [
  'provider',
  'store',
  'workspace',
  'tools',
] as const satisfies readonly (keyof HeddleOptions)[];

/** Where the engine of these options runs: in this process unless something says otherwise. */
export function chooseCarrier(options: Options, env: Readonly<Record<string, string>>): Carrier {
  const chosen = options.heddle?.carrier;
  if (chosen !== undefined) return checkCarrier(chosen);
  const { pathToClaudeCodeExecutable, spawnClaudeCodeProcess, executable } = options;
  const asked = pathToClaudeCodeExecutable ?? spawnClaudeCodeProcess ?? executable ?? env.CLAUDE_CODE_EXECUTABLE;
  return asked ? 'subprocess' : 'in-process';
}

function checkCarrier(carrier: Carrier): Carrier {
  const isNamed = carrier === 'in-process' || carrier === 'subprocess';
  if (isNamed || (typeof carrier === 'object' && carrier !== null && ('url' in carrier || 'transport' in carrier))) {
    return carrier;
  }
  throw new HeddleError('invalid_config', `There is no carrier ${JSON.stringify(carrier)}.`, {
    hint: "Choose 'in-process', 'subprocess', { url, token } or { transport }.",
  });
}

/** Opens a Channel to an engine. Throws a HeddleError that says what is missing. */
export async function openChannel(parts: CarrierParts): Promise<Connected> {
  const { options, config, logger } = parts;
  const carrier = chooseCarrier(options, config.env);
  const clock = options.heddle?.clock ?? systemClock;
  if (carrier === 'in-process') {
    const { openInProcess } = await import('./in-process.js');
    const { sessionStore, sessionStoreFlush: flush, loadTimeoutMs: timeoutMs } = options;
    const copies = { sessionStore, flush, timeoutMs };
    return openInProcess({ ...config, ...extraConfig(options.extraArgs) }, { ...options.heddle, copies, logger });
  }
  refuseParts(options);
  if (carrier !== 'subprocess' && config.sandbox !== undefined) {
    throw new HeddleError('not_supported', 'The option sandbox does not reach an engine that runs elsewhere.', {
      hint: 'Leave it out here. The server must set it: in config or configFor of createServer, or in its settings files.',
    });
  }
  if (carrier === 'subprocess') return { channel: spawnEngine(parts, clock), clock };
  if ('transport' in carrier) return { channel: fromTransport(carrier.transport), clock };
  const { url, token } = carrier;
  return { channel: connectWebSocket({ url, clock, logger, ...(token !== undefined && { token }) }), clock };
}

function refuseParts({ heddle = {}, sessionStore }: Options): void {
  const part = IN_PROCESS_PARTS.find((name) => heddle[name] !== undefined);
  const given = sessionStore === undefined ? part && `heddle.${part}` : 'sessionStore';
  if (given === undefined) return;
  throw new HeddleError('invalid_config', `${given} works only with an engine in this process.`, {
    hint: 'Leave the carrier out, or configure the engine where it runs.',
  });
}

function spawnEngine({ options, config, logger, signal }: CarrierParts, clock: Clock): Channel {
  const { spawnClaudeCodeProcess } = options;
  const stderr = options.stderr ?? (config.env.DEBUG_CLAUDE_AGENT_SDK ? printToStderr : undefined);
  if (spawnClaudeCodeProcess === undefined) refuseMissing(executableOf(options, config), config.cwd);
  return spawnEngineProcess({
    ...toCommand(options, config),
    cwd: config.cwd,
    env: toEngineEnv(config),
    signal,
    clock,
    logger,
    ...(stderr && { stderr: (data: string) => quietly(() => stderr(data)) }),
    ...(spawnClaudeCodeProcess && { spawn: spawnClaudeCodeProcess }),
  });
}

const executableOf = (options: Options, config: SessionConfig): string =>
  options.pathToClaudeCodeExecutable ?? config.env.CLAUDE_CODE_EXECUTABLE ?? OWN_CLI;

/** The runtime of a script would say so in many words; of a program the system does. */
function refuseMissing(path: string, cwd: string): void {
  if (!SCRIPT.test(path) || existsSync(resolve(cwd, path))) return;
  throw new HeddleError('process_failed', `Heddle engine executable not found: ${path}`, {
    hint: 'Set pathToClaudeCodeExecutable or CLAUDE_CODE_EXECUTABLE to an executable that exists.',
  });
}

/** A script is run by a runtime; anything else is a program itself. */
export function toCommand(options: Options, config: SessionConfig): { command: string; args: string[] } {
  const path = executableOf(options, config);
  const flags = [...FIXED_FLAGS, ...toArgv(withoutInitialize(config)), ...toFlags(options.extraArgs)];
  if (!SCRIPT.test(path)) return { command: path, args: flags };
  const { executable = 'node', executableArgs = [] } = options;
  const run = executable === 'deno' ? ['run', '--allow-all'] : [];
  const command = executable === 'node' ? process.execPath : executable;
  return { command, args: [...executableArgs, ...run, path, ...flags] };
}

/** What `initialize` carries needs no flag. */
function withoutInitialize(config: SessionConfig): Partial<SessionConfig> {
  const {
    systemPrompt: _,
    appendSystemPrompt: _append,
    agents: _agents,
    hooks: _hooks,
    skills: _skills,
    sandbox,
    ...rest
  } = config;
  if (sandbox === undefined) return rest;
  // A sandbox has no flag of its own; it travels among the settings, and adds to what they say of it.
  const { settings = '{}' } = rest;
  if (!settings.trimStart().startsWith('{')) {
    throw new HeddleError('invalid_config', 'A sandbox and a settings file cannot both be given to a child process.', {
      hint: 'Put the sandbox into the file, or give settings as an object.',
    });
  }
  return { ...rest, settings: JSON.stringify(unite(readSettings(settings), { sandbox })) };
}

function readSettings(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HeddleError('invalid_settings', `settings: it is no JSON: ${reason}`, {
      hint: 'With a sandbox of its own, settings must be plain JSON or an object.',
      cause,
    });
  }
}

/** As the engine does where both reach it: lists add up, of two values the option's counts. */
function unite(ofSettings: unknown, option: unknown, path: readonly string[] = []): unknown {
  if (option === undefined) return ofSettings;
  if (ofSettings === undefined) return option;
  if (kindOf(ofSettings) !== kindOf(option)) {
    // One of them is wrong, and must not disappear behind the other.
    throw new HeddleError(
      'invalid_settings',
      `${path.join('.')}: settings and the option sandbox do not go together.`,
      {
        hint: `Correct ${path.join('.')} in one of them.`,
        data: { path: path.join('.') },
      },
    );
  }
  if (Array.isArray(option)) return [...new Set([...option, ...(ofSettings as unknown[])])];
  if (kindOf(option) !== 'object') return option;
  const [weak, strong] = [ofSettings, option] as [Record<string, unknown>, Record<string, unknown>];
  const names = [...new Set([...Object.keys(weak), ...Object.keys(strong)])];
  return Object.fromEntries(names.map((name) => [name, unite(weak[name], strong[name], [...path, name])]));
}

const kindOf = (value: unknown): string => (Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value);

const toEngineEnv = ({ env, envIsExact, enableFileCheckpointing }: SessionConfig): Record<string, string> => ({
  CLAUDE_CODE_ENTRYPOINT: 'sdk-ts',
  ...env,
  CLAUDE_AGENT_SDK_VERSION: SDK_VERSION,
  ...(envIsExact && { HEDDLE_ENV_IS_EXACT: '1' }),
  ...(enableFileCheckpointing && { CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: 'true' }),
});
