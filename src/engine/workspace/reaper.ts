/**
 * One small child per process that outlives it: when its pipe closes, however the host ended, it ends every
 * process that carries the token of this host, and every group that is still registered.
 */
import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../../protocol/index.js';

/**
 * Names this host in the environment of its children. Not from the Clock: a scripted one would give the same token
 * to two hosts, and each would end the children of the other.
 */
export const hostToken = `heddle-${crypto.randomUUID()}`;

// POSIX sh, no bashisms. `$1` is the token. Only digits from the pipe ever reach `kill`.
const SCRIPT = `
trap '' HUP INT TERM
groups=' '
while read -r op id; do
  case $id in '' | *[!0-9]*) continue ;; esac
  case $op in
    +) groups="$groups$id " ;;
    -) case $groups in *" $id "*) groups="\${groups%%" $id "*} \${groups#*" $id "}" ;; esac ;;
  esac
done
strike() {
  found=0
  for group in $groups; do kill -s "$1" -- "-$group" 2>/dev/null && found=1; done
  for file in $(grep -lsF -e "$token" /proc/[0-9]*/environ 2>/dev/null); do
    pid=\${file#/proc/}
    kill -s "$1" "\${pid%/environ}" 2>/dev/null && found=1
  done
}
token=$1
strike TERM
for step in '1 0' '1 KILL' '0.2 KILL' '0.2 KILL'; do
  [ $found = 1 ] || exit 0
  sleep "\${step% *}"
  strike "\${step#* }"
done
`;

const FALLBACK_PATH = '/usr/local/bin:/usr/bin:/bin';

const registered = new Set<number>();
let child: ChildProcess | undefined;

/** Starts the reaper unless it runs. Called before a process is started, so that there is no moment without it. */
export function ensureReaper(options: { path?: string; logger?: Logger } = {}): void {
  if (child !== undefined) return;
  const { spawn } = process.getBuiltinModule('node:child_process');
  const started = spawn('/bin/sh', ['-c', SCRIPT, 'heddle-reaper', hostToken], {
    cwd: '/',
    detached: true,
    // It gets nothing of the environment: it must neither carry a marker nor hold secrets.
    env: { PATH: options.path ?? FALLBACK_PATH },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child = started;
  const forget = (cause: unknown) => {
    if (child === started) child = undefined;
    options.logger?.('warn', 'The reaper of child processes ended before its host.', {
      cause,
    });
  };
  started.on('error', forget);
  started.on('exit', (code, signal) => {
    forget(signal ?? code);
    // Someone killed it while there is something to watch. One that fails by itself would only fail again.
    if (signal !== null && registered.size > 0) ensureReaper(options);
  });
  started.stdin?.on('error', forget);
  started.unref();
  letGo(started.stdin);
  for (const group of registered) tell('+', group);
}

/** A pipe to a child keeps nothing alive any more. */
export function letGo(pipe: Readable | Writable | null): void {
  const { Socket } = process.getBuiltinModule('node:net');
  if (pipe instanceof Socket) pipe.unref();
}

const tell = (op: '+' | '-', group: number): void => {
  if (child?.stdin?.writable === true) child.stdin.write(`${op} ${group}\n`);
};

const isGroup = (group: number): boolean => Number.isSafeInteger(group) && group > 1;

/** Has the group ended when the host goes away. */
export function registerGroup(group: number): void {
  if (!isGroup(group)) return;
  registered.add(group);
  tell('+', group);
}

/** To be called as soon as the leader is reaped: from then on the number may come to belong to others. */
export function unregisterGroup(group: number): void {
  if (registered.delete(group)) tell('-', group);
}

/** The pid of the reaper, if it runs. */
export const reaperPid = (): number | undefined => child?.pid;
