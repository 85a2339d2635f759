/** Everything the program takes from its environment variables, read once and in one place. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { SessionConfig } from '../protocol/index.js';
import { isOn } from '../protocol/plain.js';
import { toVisibleLine } from './visible.js';

export interface Environment {
  env: Record<string, string>;
  /** An app gave this environment itself: tools get exactly that. */
  envIsExact: boolean;
  configDir: string;
  client: NonNullable<SessionConfig['client']>;
  maxRetries?: number;
  enableFileCheckpointing: boolean;
  /** DEBUG names heddle. */
  debug: boolean;
  /** What a variable says that cannot be used. */
  doubts: string[];
}

type Variables = Readonly<Record<string, string | undefined>>;

export function readEnvironment(variables: Variables, home: string = homedir()): Environment {
  const env = Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const envIsExact = isOn(env.HEDDLE_ENV_IS_EXACT);
  delete env.HEDDLE_ENV_IS_EXACT;
  const folder = env.HEDDLE_CONFIG_DIR || env.CLAUDE_CONFIG_DIR || env.CLAUDE || join(home, '.claude');
  const maxRetries = readCount(env.CLAUDE_CODE_MAX_RETRIES);
  return {
    env,
    envIsExact,
    configDir: folder,
    client: {
      entrypoint: env.CLAUDE_CODE_ENTRYPOINT || 'cli',
      ...(env.CLAUDE_AGENT_SDK_VERSION ? { version: env.CLAUDE_AGENT_SDK_VERSION } : {}),
    },
    ...(maxRetries === undefined ? {} : { maxRetries }),
    enableFileCheckpointing: isOn(env.CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING),
    debug: /(^|[\s,])heddle(:|\*|$|[\s,])/.test(env.DEBUG ?? ''),
    doubts:
      env.CLAUDE_CODE_MAX_RETRIES && maxRetries === undefined ? [describeRetries(env.CLAUDE_CODE_MAX_RETRIES)] : [],
  };
}

const describeRetries = (value: string): string =>
  `CLAUDE_CODE_MAX_RETRIES is "${toVisibleLine(value)}", which is no whole number, and was ignored`;

const readCount = (value: string | undefined): number | undefined =>
  value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined;
