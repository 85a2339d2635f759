import { homedir } from 'node:os';
import { join } from 'node:path';
import { HeddleError } from '../protocol/plain.js';

/** The one place where the SDK looks at the process it lives in. */
export interface Ambient {
  cwd: string;
  env: Record<string, string>;
}

/** As in package.json. An older Node fails later, and in words that nobody understands. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major * 1000 + minor < 22_016) {
  throw new HeddleError('not_supported', `Heddle needs Node 22.16 or newer; this is ${process.versions.node}.`);
}

/** What an engine in another process is told of us: the line of the protocol whose manners we have, and who we are. */
export const SDK_VERSION = '0.3.0+heddle.0.1.0';

export const readAmbient = (): Ambient => ({
  cwd: process.cwd(),
  env: definedOf(process.env),
});

export const printToStderr = (text: string): void => void process.stderr.write(text);

/** The folder of sessions and settings. */
export const configDirOf = (env: Record<string, string>): string =>
  env.HEDDLE_CONFIG_DIR || env.CLAUDE_CONFIG_DIR || env.CLAUDE || join(env.HOME || homedir(), '.claude');

export const definedOf = (env: Record<string, string | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
