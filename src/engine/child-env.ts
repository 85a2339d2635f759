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
  /^(ANTHROPIC|OPENAI|AZURE_OPENAI|GEMINI|GOOGLE_AI|MISTRAL|GROQ|XAI|DEEPSEEK|OPENROUTER|COHERE|TOGETHER|FIREWORKS|HUGGINGFACE|HF|REPLICATE|VOYAGE|BRAVE|TAVILY)_.*(KEY|TOKEN|SECRET)$|^HF_TOKEN$/;

/**
 * The environment of child processes: that of the host without the engine's own credentials and without what looks like
 * a provider's key; exactly the caller's, less the engine's own credentials, when the caller gave one.
 */
export function childEnvironment(config: Pick<SessionConfig, 'env' | 'envIsExact'>): Record<string, string> {
  const kept = Object.entries(config.env).filter(
    ([name]) => !OWN_CREDENTIALS.has(name) && (config.envIsExact || !PROVIDER_KEY.test(name)),
  );
  return Object.fromEntries(kept);
}
