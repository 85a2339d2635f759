/** The settings of the session, from flags, environment and the manners of the program. */
import type { SessionConfig } from '../protocol/index.js';
import { type ParsedArgv, SETTING_SOURCES } from '../protocol/plain.js';
import type { Environment } from './environment.js';

export interface SessionConfigParts {
  parsed: ParsedArgv;
  environment: Environment;
  cwd: string;
}

export function toSessionConfig({ parsed, environment, cwd }: SessionConfigParts): SessionConfig {
  const { config: flags, cli } = parsed;
  const config: SessionConfig = {
    ...flags,
    cwd,
    env: environment.env,
    ...(environment.envIsExact ? { envIsExact: true } : {}),
    configDir: environment.configDir,
    client: environment.client,
    ...(environment.maxRetries === undefined ? {} : { maxRetries: environment.maxRetries }),
    ...(environment.enableFileCheckpointing ? { enableFileCheckpointing: true } : {}),
  };
  if (config.maxTurns === 0) delete config.maxTurns;
  config.settingSources ??= cli.bare ? [] : [...SETTING_SOURCES];
  if (config.permissionPrompts === 'none') delete config.permissionPromptTool;
  return config;
}
