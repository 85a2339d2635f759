import type { SessionConfig } from '../protocol/index.js';

/** Where the engine finds its own credentials. Nothing it starts ever sees them. */
const OWN_CREDENTIALS = new Set([
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_CUSTOM_HEADERS',
  'CLAUDE_CODE_OAUTH_TOKEN',
  // Its address may hold a login.
  'SEARXNG_URL',
]);

/** Keys of model providers, by the way they are named. */
const PROVIDER_KEY =
  /^(ANTHROPIC|OPENAI|AZURE(_OPENAI)?|GEMINI|GOOGLE(_AI)?|MISTRAL|GROQ|XAI|DEEPSEEK|OPENROUTER|COHERE|TOGETHER|FIREWORKS|HUGGING_?FACE(_?HUB)?|HF|REPLICATE|VOYAGE|PERPLEXITY|NVIDIA|CEREBRAS|BRAVE|TAVILY)_.*(KEY|TOKEN|SECRET)(_\w+)?$|^HF_TOKEN$|^AWS_BEARER_TOKEN/;

/** What every program needs, and nobody keeps a secret in. */
const MINIMAL = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TERM|TMPDIR|TZ)$/;

/** What settings files mean for the environment of children. */
export interface EnvironmentLimits {
  /** Nobody vouches for the folder. */
  untrusted: boolean;
  /** Variables that settings set, and so mean for children. */
  configured: readonly string[];
}

/**
 * The environment of child processes: that of the host without the engine's own credentials and without what looks like
 * a provider's key; exactly the caller's, less the engine's own credentials, when the caller gave one; a minimal list
 * where others than the owner of the environment decide what runs (`childEnv`), or may have written what runs
 * (`untrusted`). What settings set is always added.
 */
export function childEnvironment(
  config: Pick<SessionConfig, 'env' | 'envIsExact' | 'childEnv'>,
  { untrusted, configured }: EnvironmentLimits = { untrusted: false, configured: [] },
): Record<string, string> {
  const { env, envIsExact, childEnv } = config;
  const mayPass = (name: string): boolean => {
    if (OWN_CREDENTIALS.has(name)) return false;
    if (configured.includes(name)) return true;
    if (childEnv !== undefined) return MINIMAL.test(name) || childEnv.includes(name);
    if (envIsExact === true) return true;
    return untrusted ? MINIMAL.test(name) : !PROVIDER_KEY.test(name);
  };
  return Object.fromEntries(Object.entries(env).filter(([name]) => mayPass(name)));
}
