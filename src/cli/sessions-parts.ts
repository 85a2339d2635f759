/** What every command of `heddle sessions` works with. */
import { join, resolve } from 'node:path';
import type { SessionFunctions, SessionInfo, SessionParts } from '../engine/index.js';
import { HeddleError, isSessionId } from '../protocol/plain.js';
import type { Output } from './trust.js';
import { toVisibleLine } from './visible.js';

export interface SessionsParts {
  stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  stdout: Output & { isTTY?: boolean; columns?: number };
  stderr: Output;
  cwd: string;
  configDir: string;
  colour?: boolean;
}

/** The words and options of one command. */
export interface CommandInput {
  words: string[];
  all?: boolean | undefined;
  archived?: boolean | undefined;
  at?: string | undefined;
  dir?: string | undefined;
  format?: string | undefined;
  json?: boolean | undefined;
  limit: number | undefined;
  message?: string | undefined;
  output?: string | undefined;
  title?: string | undefined;
  yes?: boolean | undefined;
}

export type Command = (input: CommandInput, parts: SessionsParts) => Promise<number>;

export const usage = (text: string): HeddleError =>
  new HeddleError('invalid_config', `${text}\nSee heddle sessions --help.`);

export interface Opened {
  functions: SessionFunctions;
  parts: SessionParts;
}

/** The sessions of the configuration folder. */
export async function openSessions({ configDir }: SessionsParts): Promise<Opened> {
  const { createFileStore, loadSessionFunctions, systemClock } = await import('../engine/index.js');
  const store = createFileStore({ configDir });
  const indexFile = join(configDir, 'search.db');
  return { functions: await loadSessionFunctions(), parts: { store, clock: systemClock, indexFile } };
}

/** The folder that was asked for; undefined: all of them. */
export const folderOf = ({ all, dir }: CommandInput, { cwd }: SessionsParts): string | undefined => {
  if (all && dir !== undefined) throw usage('error: --all and --dir exclude each other');
  return all ? undefined : resolve(cwd, dir ?? '.');
};

/** The id of the session that a person means: by its id, the start of it, or its title. */
export async function findSession({ functions, parts }: Opened, name: string, cwd: string): Promise<string> {
  // One that cannot be read is told of by what is to be done with it.
  if (isSessionId(name))
    return functions.findNamed(parts, name, { cwd }).then(
      (id) => id ?? name,
      () => name,
    );
  const found = await functions.findNamed(parts, name, { cwd });
  if (found !== undefined) return found;
  throw new HeddleError('session_not_found', `No session has the id or the title "${toVisibleLine(name)}".`, {
    hint: 'heddle sessions list --all shows every session.',
  });
}

/** How a session is named in a sentence. */
export const nameOf = ({ sessionId, summary }: Pick<SessionInfo, 'sessionId' | 'summary'>): string =>
  `${sessionId.slice(0, 8)} "${toVisibleLine(summary)}"`;

export const writeJson = ({ stdout }: SessionsParts, value: unknown): void =>
  void stdout.write(`${JSON.stringify(value, null, 2)}\n`);
