/** Runs git for the work trees of agents. */
import type { SessionScope } from '../scope.js';

const TIMEOUT_MS = 60_000;
const MAX_OUTPUT = 1024 * 1024;

export interface GitAnswer {
  /** It has done it, and all that it said is here. */
  ok: boolean;
  out: string;
  err: string;
}

export interface GitOptions {
  /** Only these lines of what it says are kept. */
  wants?: (line: string) => boolean;
}

/** Never rejects. */
export type Git = (cwd: string, args: readonly string[], options?: GitOptions) => Promise<GitAnswer>;

export const why = ({ err, out }: GitAnswer): string =>
  (err || out || 'it gave no reason').split('\n').slice(-3).join(' ');

export const gitIn = (scope: SessionScope, signal: AbortSignal): Git => runIn(scope, ['git'], signal);

/** The only argument is a line of the shell. */
export const shellIn = (scope: SessionScope, signal: AbortSignal): Git => runIn(scope, ['sh', '-c'], signal);

function runIn(
  { workspace, childEnv }: SessionScope,
  program: readonly [string, ...string[]],
  signal: AbortSignal,
): Git {
  // Whatever repository the host works in is not meant.
  const own = Object.entries(childEnv).filter(([name]) => !name.startsWith('GIT_'));
  const env = { ...Object.fromEntries(own), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' };
  return async (cwd, args, { wants } = {}) => {
    const stdout = createCollector(wants);
    const stderr = createCollector();
    const run = workspace.run({
      argv: [...program, ...args],
      cwd,
      env,
      signal,
      timeoutMs: TIMEOUT_MS,
      onOutput: (chunk, stream) => (stream === 'stdout' ? stdout : stderr).add(Buffer.from(chunk).toString()),
    });
    try {
      const { code } = await run;
      const { text, isWhole } = stdout.end();
      return { ok: code === 0 && isWhole, out: text, err: stderr.end().text };
    } catch (thrown) {
      return { ok: false, out: '', err: thrown instanceof Error ? thrown.message : String(thrown) };
    }
  };
}

function createCollector(wants?: (line: string) => boolean) {
  let text = '';
  let rest = '';
  let isWhole = true;
  const keep = (more: string): void => {
    if (text.length + more.length <= MAX_OUTPUT) text += more;
    else isWhole = false;
  };
  return {
    add(chunk: string): void {
      if (wants === undefined) return keep(chunk);
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (wants(line)) keep(`${line}\n`);
    },
    end(): { text: string; isWhole: boolean } {
      if (rest !== '' && wants?.(rest)) keep(rest);
      return { text: text.trim(), isWhole };
    },
  };
}
