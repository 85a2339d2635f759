/** What can be known to be wrong before anything starts. Every text is printed as it is, and the program exits with 1. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SessionConfig } from '../protocol/index.js';
import { type CliOptions, HeddleError } from '../protocol/plain.js';
import type { Mode } from './mode.js';
import { findIdleDenial } from './rules.js';

export interface Start {
  mode: Mode;
  cli: CliOptions;
  config: Partial<SessionConfig>;
  cwd: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Throws `invalid_config` with the first thing that is wrong. */
export function checkStart(start: Start): void {
  const problem =
    findFormatProblem(start) ?? findSessionProblem(start) ?? findConfigProblem(start) ?? findRuleProblem(start);
  if (problem !== undefined) throw new HeddleError('invalid_config', problem, { hint: 'See heddle --help.' });
}

function findFormatProblem({ cli, mode }: Start): string | undefined {
  const output = cli.outputFormat ?? 'text';
  if (cli.inputFormat === 'stream-json' && output !== 'stream-json') {
    return 'Error: --input-format=stream-json requires output-format=stream-json.';
  }
  if (mode === 'print' && output === 'stream-json' && !cli.verbose) {
    return 'Error: When using --print, --output-format=stream-json requires --verbose';
  }
  const refused = cli.later?.find((flag) => flag.refused);
  return refused && `Error: ${refused.flag} is not supported yet; ${WOULD_LOOSEN}`;
}

function findSessionProblem({ config, mode }: Start): string | undefined {
  if (config.sessionId !== undefined && !UUID.test(config.sessionId)) {
    return 'Error: Invalid session ID. Must be a valid UUID.';
  }
  if (config.resume === '') {
    return mode === 'chat'
      ? 'Error: --resume needs a session ID or title. --continue goes on with the last session of this folder.'
      : 'Error: --resume requires a valid session ID or session title when used with --print. Usage: heddle -p --resume <session>';
  }
  const goesOn = config.continue || config.resume !== undefined;
  if (config.sessionId !== undefined && goesOn && !config.forkSession) {
    return 'Error: --session-id names a new session; with --continue or --resume it needs --fork-session.';
  }
  return undefined;
}

/** What is wrong inside is told with its line when the settings are read. */
function findConfigProblem({ config: { settings }, cwd }: Start): string | undefined {
  if (settings === undefined || isObject(settings)) return undefined;
  const path = resolve(cwd, settings);
  return existsSync(path) ? undefined : `Error: Settings file not found: ${path}`;
}

/** Throws for the first value of `--mcp-config` that cannot be read. A server in it that is broken leaves the others alone. */
export async function checkMcpConfig(values: readonly string[], cwd: string): Promise<void> {
  if (values.length === 0) return;
  const { describeProblem, readMcpFlag } = await import('../engine/index.js');
  for (const value of values) {
    const { faults, file } = await readMcpFlag(value, { cwd, label: '--mcp-config' });
    const fault = faults.find(({ path }) => path === '(root)');
    if (fault === undefined) continue;
    const path = resolve(cwd, value);
    const note = value.trimStart().startsWith('{') ? ` (as JSON: ${fault.text})` : '';
    const text = existsSync(path)
      ? describeProblem({ severity: 'error', fatal: true, layer: 'flag', file, ...fault })
      : `MCP config file not found: ${path}${note}`;
    throw new HeddleError('invalid_config', `Error: Invalid MCP configuration:\n${text}`, {
      hint: 'See heddle mcp --help.',
    });
  }
}

const WOULD_LOOSEN = 'running without it would allow more than you asked for.';

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Programs name tools of other versions too; a person who mistypes a denial must know. */
function findRuleProblem({ config, mode }: Start): string | undefined {
  const problem = mode === 'serve' ? undefined : findIdleDenial(config);
  return problem && `Error: ${problem}`;
}
