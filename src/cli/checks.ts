/** What can be known to be wrong before anything starts. Every text is printed as it is, and the program exits with 1. */
import { existsSync, readFileSync } from 'node:fs';
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
  isRoot: boolean;
  isSandbox: boolean;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Throws `invalid_config` with the first thing that is wrong. */
export function checkStart(start: Start): void {
  const problem =
    findFormatProblem(start) ??
    findSessionProblem(start) ??
    findConfigProblem(start) ??
    findPermissionProblem(start) ??
    findRuleProblem(start);
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

function findConfigProblem({ config, cwd }: Start): string | undefined {
  for (const each of config.mcpConfig ?? []) {
    const problem = findJsonProblem(each, cwd);
    if (problem?.kind === 'missing') {
      return `Error: Invalid MCP configuration:\nMCP config file not found: ${problem.text}`;
    }
    if (problem !== undefined) return `Error: Invalid MCP configuration:\n${problem.text}`;
  }
  // What is wrong inside is told with its line when the settings are read.
  const problem = config.settings === undefined ? undefined : findJsonProblem(config.settings, cwd);
  return problem?.kind === 'missing' ? `Error: Settings file not found: ${problem.text}` : undefined;
}

const WOULD_LOOSEN = 'running without it would allow more than you asked for.';

/** A value that `checkStart` has found to be good. */
export function readJsonOrFile(value: string, cwd: string): Record<string, unknown> {
  const text = whyNotObject(value) === undefined ? value : readFileSync(resolve(cwd, value), 'utf8');
  return JSON.parse(text) as Record<string, unknown>;
}

type JsonProblem = { kind: 'missing' | 'broken'; text: string };

/** A value that is either JSON itself or the path of a file of JSON. */
function findJsonProblem(value: string, cwd: string): JsonProblem | undefined {
  const inline = whyNotObject(value);
  if (inline === undefined) return undefined;
  const path = resolve(cwd, value);
  if (!existsSync(path)) {
    const note = value.trimStart().startsWith('{') ? ` (as JSON: ${inline})` : '';
    return { kind: 'missing', text: `${path}${note}` };
  }
  try {
    const broken = whyNotObject(readFileSync(path, 'utf8'));
    return broken === undefined ? undefined : { kind: 'broken', text: `${path}: ${broken}` };
  } catch (error) {
    return { kind: 'broken', text: `${path}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function whyNotObject(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'not a JSON object';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function findPermissionProblem({ config, isRoot, isSandbox }: Start): string | undefined {
  if (config.permissionMode !== 'bypassPermissions' || !isRoot || isSandbox) return undefined;
  return 'Error: bypassPermissions is refused for root. Set IS_SANDBOX=1 where nothing can be broken, or run as another user.';
}

/** Programs name tools of other versions too; a person who mistypes a denial must know. */
function findRuleProblem({ config, mode }: Start): string | undefined {
  const problem = mode === 'serve' ? undefined : findIdleDenial(config);
  return problem && `Error: ${problem}`;
}
