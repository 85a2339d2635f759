/** Sockets of other programs on this machine: through them a command could have done outside what it cannot do inside. */
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Where services keep theirs. */
export const SOCKET_FOLDERS = ['/run', '/var/run'];

/** Variables that do nothing but name a socket. */
const SOCKET_VARIABLES = ['SSH_AUTH_SOCK', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR', 'GPG_AGENT_INFO'];

/** Every socket with a name in the file system. Nothing where the system does not tell. */
export const listSockets = (): Promise<string[]> => readFile('/proc/net/unix', 'utf8').then(parseSockets, () => []);

/** `00000000738a695b: 00000002 00000000 00010000 0001 01 1851302 /path with blanks`; abstract ones begin with @. */
export function parseSockets(table: string): string[] {
  const paths = table.split('\n').flatMap((line) => /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1] ?? []);
  return [...new Set(paths)];
}

/** The environment without what leads to sockets that are not there. */
export function withoutSockets(
  env: Readonly<Record<string, string>>,
  isAllowed: (path: string) => boolean,
): Record<string, string> {
  const entries = Object.entries(env).filter(([name, value]) => {
    if (!SOCKET_VARIABLES.includes(name)) return true;
    const path = /(?:^|path=)(\/[^,;]*)/.exec(value)?.[1] ?? '';
    return path !== '' && (isAllowed(path) || isAllowed(dirname(path)));
  });
  return Object.fromEntries(entries);
}
