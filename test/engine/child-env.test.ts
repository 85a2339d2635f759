import { describe, expect, it } from 'vitest';
import { childEnvironment } from '../../src/engine/child-env.js';

const names = (config: Parameters<typeof childEnvironment>[0]): string[] => Object.keys(childEnvironment(config));
const named = (...list: string[]): Record<string, string> => Object.fromEntries(list.map((name) => [name, 'x']));

describe('E4: the environment of child processes', () => {
  const KEYS = [
    'OPENAI_API_KEY',
    'GOOGLE_API_KEY',
    'HUGGING_FACE_HUB_TOKEN',
    'HUGGINGFACEHUB_API_TOKEN',
    'AZURE_API_KEY',
    'PERPLEXITY_API_KEY',
    'AWS_BEARER_TOKEN_BEDROCK',
    'ANTHROPIC_API_KEY_2',
    'HF_TOKEN',
  ];

  it('is that of the host without credentials and what looks like a key of a provider', () => {
    const env = named('PATH', 'SECRET_X', 'GITHUB_TOKEN', 'ANTHROPIC_API_KEY', 'SEARXNG_URL', ...KEYS);
    expect(names({ env })).toEqual(['PATH', 'SECRET_X', 'GITHUB_TOKEN']);
  });

  it("is exactly the caller's, less the engine's own credentials", () => {
    const env = named('PATH', 'OPENAI_API_KEY', 'ANTHROPIC_AUTH_TOKEN');
    expect(names({ env, envIsExact: true })).toEqual(['PATH', 'OPENAI_API_KEY']);
  });

  it('is a minimal list where others decide what runs, with what is named', () => {
    const env = named('PATH', 'HOME', 'LC_ALL', 'SECRET_X', 'NPM_TOKEN', 'ANTHROPIC_API_KEY', 'NODE_ENV');
    expect(names({ env, childEnv: ['NODE_ENV', 'ANTHROPIC_API_KEY'] })).toEqual(['PATH', 'HOME', 'LC_ALL', 'NODE_ENV']);
  });
});
