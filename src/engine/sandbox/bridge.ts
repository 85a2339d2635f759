/** How programs in a sandbox find the proxy, which is outside of their network. */

/** Inside, where nothing else listens. */
const PORT = 3128;

/**
 * Has `$2` carry connections from the port to the socket, waits until it listens, and becomes the command. The carrier is
 * nobody's child, so that no program waits for it; it ends with the sandbox.
 */
const SCRIPT = [
  '( "$1" TCP-LISTEN:"$2",bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:"$3" </dev/null >/dev/null 2>&1 & )',
  'tries=0',
  'until { : <>"/dev/tcp/127.0.0.1/$2"; } 2>/dev/null',
  'do if [ $((tries += 1)) -gt 500 ]; then echo "The network of the sandbox does not start." >&2; exit 125; fi',
  'sleep 0.01',
  'done',
  'shift 3',
  'exec "$@"',
].join('\n');

/** What runs inside before the command. */
export const toBridgeArgv = (socat: string, socket: string): string[] => [
  'bash',
  '-c',
  SCRIPT,
  'bash',
  socat,
  String(PORT),
  socket,
];

const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'FTP_PROXY', 'ALL_PROXY', 'NO_PROXY'];
const PROXY_NAMES = new Set(PROXY_VARIABLES.flatMap((name) => [name, name.toLowerCase()]));

/** A proxy of the host cannot be reached from inside. */
export const withoutProxy = (env: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !PROXY_NAMES.has(name)));

/** Tells programs of the proxy. ssh knows no proxies, so git is told how to have one. */
export function withProxy(env: Readonly<Record<string, string>>, socat: string): Record<string, string> {
  const url = `http://127.0.0.1:${PORT}`;
  const local = 'localhost,127.0.0.1,::1';
  const entries = PROXY_VARIABLES.flatMap((name) => {
    const value = name === 'NO_PROXY' ? local : url;
    return [
      [name, value],
      [name.toLowerCase(), value],
    ];
  });
  return {
    GIT_SSH_COMMAND: `ssh -o ProxyCommand='${socat} - PROXY:127.0.0.1:%h:%p,proxyport=${PORT}'`,
    NODE_USE_ENV_PROXY: '1',
    ...env,
    ...Object.fromEntries(entries),
  };
}
