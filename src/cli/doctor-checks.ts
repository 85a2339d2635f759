/** The single examinations of `heddle doctor`. None of them shows a secret or sends one. */
import { execFile } from 'node:child_process';
import { access, constants, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Outcome, Patient } from './doctor-finding.js';
import { checkSandbox } from './doctor-sandbox.js';
import type { Environment } from './environment.js';

interface Check {
  name: string;
  run(patient: Patient): Promise<Outcome>;
}

const ok = (text: string): Outcome => ({ status: 'ok', text });
const warn = (text: string, todo: string): Outcome => ({ status: 'warn', text, todo });
const fail = (text: string, todo: string): Outcome => ({ status: 'fail', text, todo });

const NODE_FLOOR = [22, 16] as const;
const NETWORK_TIMEOUT_MS = 4_000;
const PROGRAM_TIMEOUT_MS = 5_000;

export const CHECKS: readonly Check[] = [
  { name: 'node', run: async () => checkNode(process.versions.node) },
  { name: 'config', run: checkConfigDir },
  { name: 'settings', run: checkSettings },
  { name: 'key', run: checkKey },
  { name: 'network', run: checkNetwork },
  { name: 'ripgrep', run: checkRipgrep },
  {
    name: 'bash',
    run: (patient) =>
      checkProgram(patient, ['bash', '--version'], (text) => fail(text, 'Install bash: the Bash tool needs it.')),
  },
  {
    name: 'git',
    run: (patient) =>
      checkProgram(patient, ['git', '--version'], (text) =>
        warn(text, 'Install git: the model is told the state of the repository.'),
      ),
  },
  { name: 'sandbox', run: checkSandbox },
];

export function checkNode(version: string): Outcome {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [floor, floorMinor] = NODE_FLOOR;
  const isOld = major < floor || (major === floor && minor < floorMinor);
  return isOld ? fail(`Node ${version}`, `Install Node ${NODE_FLOOR.join('.')} or newer.`) : ok(`Node ${version}`);
}

async function checkConfigDir({ environment: { configDir } }: Patient): Promise<Outcome> {
  try {
    const { makeFolders } = await import('../engine/index.js');
    makeFolders(configDir);
    // With the dot: a file of that name cannot be written into.
    await access(`${configDir}/.`, constants.W_OK);
    return ok(`${configDir} can be written`);
  } catch (error) {
    return fail(`${configDir} cannot be written: ${reasonOf(error)}`, 'Fix its owner, or set HEDDLE_CONFIG_DIR.');
  }
}

async function checkSettings({ environment, cwd }: Patient): Promise<Outcome> {
  const found: string[] = [];
  for (const path of settingsPaths(environment, cwd)) {
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    found.push(path);
    const problem = findJsonProblem(text);
    if (problem !== undefined)
      return fail(`${path}:${problem.line}: ${problem.text}`, 'Fix the file: it must be a JSON object.');
  }
  return ok(found.length === 0 ? 'no settings files' : `${found.join(', ')} can be read`);
}

const settingsPaths = (environment: Environment, cwd: string): string[] => [
  join(environment.configDir, 'settings.json'),
  join(cwd, '.claude', 'settings.json'),
  join(cwd, '.claude', 'settings.local.json'),
];

/** The line is worked out from the position that the parser names, or is that of the last character. */
export function findJsonProblem(text: string): { line: number; text: string } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? undefined : { line: 1, text: 'not a JSON object' };
  } catch (error) {
    const message = reasonOf(error);
    const position = /at position (\d+)/.exec(message)?.[1];
    const before = position === undefined ? text.trimEnd() : text.slice(0, Number(position));
    return { line: before.split('\n').length, text: message };
  }
}

async function checkKey({ environment: { env, configDir } }: Patient): Promise<Outcome> {
  const source = ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY'].find((name) => env[name]?.trim());
  if (source !== undefined) return ok(`from ${source}`);
  const settings = await readFile(join(configDir, 'settings.json'), 'utf8').catch(() => '{}');
  if (findJsonProblem(settings) === undefined && 'apiKeyHelper' in JSON.parse(settings)) {
    return warn('apiKeyHelper in the settings file is not read yet', 'Set ANTHROPIC_API_KEY, or pass --settings.');
  }
  return warn('no key', 'Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or use --model embedded, which needs none.');
}

async function checkNetwork({ environment: { env } }: Patient): Promise<Outcome> {
  const base = env.ANTHROPIC_BASE_URL || 'https://api.anthropic.com';
  if (!/^https?:$/.test(URL.parse(base)?.protocol ?? ''))
    return fail(`ANTHROPIC_BASE_URL is "${base}", which is no URL of a server`, 'It looks like https://host.');
  const { host, origin } = new URL(base);
  const { EnvHttpProxyAgent, fetch } = await import('undici');
  const dispatcher = new EnvHttpProxyAgent();
  try {
    const response = await fetch(origin, {
      method: 'HEAD',
      redirect: 'manual',
      dispatcher,
      signal: AbortSignal.timeout(NETWORK_TIMEOUT_MS),
    });
    return ok(`${host} answers (${response.status})`);
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return warn(
      `${host} does not answer: ${reasonOf(cause)}`,
      'Check network, HTTPS_PROXY and ANTHROPIC_BASE_URL. --model embedded works without.',
    );
  } finally {
    await dispatcher.destroy().catch(() => undefined);
  }
}

async function checkRipgrep(patient: Patient): Promise<Outcome> {
  const packaged = await import('@vscode/ripgrep').then(({ rgPath }) => rgPath).catch(() => undefined);
  const missing = (text: string) =>
    fail(text, 'Install ripgrep, or reinstall with optional dependencies: Glob and Grep need it.');
  if (packaged === undefined) return checkProgram(patient, ['rg', '--version'], missing);
  const outcome = await checkProgram(patient, [packaged, '--version'], missing);
  return outcome.status === 'ok' ? outcome : checkProgram(patient, ['rg', '--version'], missing);
}

async function checkProgram(
  { environment }: Patient,
  [program, ...args]: [string, ...string[]],
  toProblem: (text: string) => Outcome,
): Promise<Outcome> {
  try {
    const { stdout } = await promisify(execFile)(program, args, { timeout: PROGRAM_TIMEOUT_MS, env: environment.env });
    return ok(stdout.split('\n')[0]?.trim() || `${program} works`);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return toProblem(
      isMissing ? `${program} was not found` : `${program} does not work: ${reasonOf(error).split('\n')[0]}`,
    );
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
