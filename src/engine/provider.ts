import type { Clock, Logger, ModelProvider, SessionConfig, Workspace } from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';

/** The model of this name answers from the package itself, and only when asked for. */
export const EMBEDDED_MODEL = 'embedded';

const HELPER_TIMEOUT_MS = 30_000;

interface ProviderParts {
  config: SessionConfig;
  clock: Clock;
  logger: Logger;
  workspace: Workspace;
  childEnv: Readonly<Record<string, string>>;
}

/** Who answers for each model, made from the session's own environment when first needed. */
export function createProviders(
  parts: ProviderParts & { only: ModelProvider | undefined },
): (model: string) => Promise<ModelProvider> {
  if (parts.only) {
    const only = Promise.resolve(parts.only);
    return () => only;
  }
  let embedded: Promise<ModelProvider> | undefined;
  let api: Promise<ModelProvider> | undefined;
  return (model) => {
    if (model === EMBEDDED_MODEL) return (embedded ??= createEmbedded(parts));
    api ??= createApi(parts);
    api.catch(() => {
      api = undefined;
    });
    return api;
  };
}

/** Where the key of a session will come from, before there is one. */
export async function findKeySource(config: SessionConfig, only: ModelProvider | undefined): Promise<string> {
  if (only) return only.keySource;
  if (config.model === EMBEDDED_MODEL) return 'none';
  const { keySourceOf } = await import('./model/credentials.js');
  return keySourceOf(credentialsOf(config));
}

/** What of a configuration leads to a key. */
const credentialsOf = ({ env, apiKeyHelper }: SessionConfig) => ({
  env,
  ...(apiKeyHelper !== undefined && { apiKeyHelper }),
});

async function createEmbedded({ clock }: ProviderParts): Promise<ModelProvider> {
  const { createEmbeddedModel } = await import('./model/embedded.js');
  return createEmbeddedModel({ clock });
}

async function createApi(parts: ProviderParts): Promise<ModelProvider> {
  const { config, clock, logger } = parts;
  const { createAnthropicProvider } = await import('./model/anthropic.js');
  const { hasCredentials } = await import('./model/credentials.js');
  const sources = credentialsOf(config);
  if (!hasCredentials(sources)) throw new HeddleError('no_provider', 'No model is configured.');
  return createAnthropicProvider({ ...sources, clock, logger, runHelper: (command) => runHelper(command, parts) });
}

async function runHelper(command: string, { workspace, config, childEnv }: ProviderParts): Promise<string> {
  const decoder = new TextDecoder();
  let printed = '';
  const exit = await workspace.run({
    argv: ['bash', '-c', command],
    cwd: config.cwd,
    env: childEnv,
    signal: new AbortController().signal,
    timeoutMs: HELPER_TIMEOUT_MS,
    onOutput: (chunk, stream) => {
      if (stream === 'stdout') printed += decoder.decode(chunk, { stream: true });
    },
  });
  if (exit.code === 0) return printed.trim();
  throw new HeddleError('model_auth', `apiKeyHelper failed with exit code ${exit.code ?? exit.signal ?? 'unknown'}.`);
}
