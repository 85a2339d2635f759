/** `heddle mcp add`, `add-json` and `remove`: servers in the files of a person and of a project. */
import { isDeepStrictEqual } from 'node:util';
import type { ServerPlace } from '../engine/index.js';
import { HeddleError } from '../protocol/plain.js';
import { type CommandInput, describeTarget, listOf, loadServers, type McpParts, textOf, usage } from './mcp-parts.js';
import { toVisibleLine } from './visible.js';

const PLACES: readonly ServerPlace[] = ['local', 'project', 'user'];
const TRANSPORTS = ['stdio', 'http', 'sse'];

export async function add(input: CommandInput, parts: McpParts): Promise<number> {
  const [name = '', target = '', ...args] = input.words;
  return write(name, toEntry(target, args, input), { input, parts });
}

export async function addJson(input: CommandInput, parts: McpParts): Promise<number> {
  const [name = '', text = ''] = input.words;
  let entry: unknown;
  try {
    entry = JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw usage(`error: this is no JSON: ${toVisibleLine(why)}`);
  }
  return write(name, entry, { input, parts });
}

function toEntry(target: string, args: readonly string[], { values }: CommandInput): Record<string, unknown> {
  const isAddress = /^https?:\/\//i.test(target);
  const transport = textOf(values, 'transport') ?? (isAddress ? 'http' : 'stdio');
  if (!TRANSPORTS.includes(transport)) {
    throw usage(`error: --transport takes ${TRANSPORTS.join(', ')}, not "${toVisibleLine(transport)}"`);
  }
  const timeout = readNumber(textOf(values, 'timeout'), '--timeout');
  const rest = timeout === undefined ? {} : { timeout };
  const env = toTable(listOf(values, 'env'), {
    option: '--env',
    pattern: /^([A-Za-z_]\w*)=(.*)$/s,
    like: 'NAME=value',
  });
  const headers = toTable(listOf(values, 'header'), {
    option: '--header',
    pattern: /^([^:\s]+):[ \t]*(.*)$/s,
    like: '"Name: value"',
  });
  const oauth = toOAuth(values);
  if (transport === 'stdio') {
    if (headers !== undefined) throw usage('error: --header is for servers that are reached by HTTP');
    if (oauth !== undefined) throw usage('error: a server that is started here needs no login');
    if (isAddress)
      throw usage('error: this is an address, not a command; for a server at an address: --transport http');
    return { type: transport, command: target, ...(args.length > 0 && { args }), ...(env && { env }), ...rest };
  }
  if (env !== undefined) throw usage('error: --env is for servers that are started here; use --header');
  if (args.length > 0) throw usage(`error: "${toVisibleLine(args[0] ?? '')}" follows the address, where nothing may`);
  return { type: transport, url: target, ...(headers && { headers }), ...(oauth && { oauth }), ...rest };
}

/** The login of a client that was registered by hand. */
export function toOAuth(values: CommandInput['values']): Record<string, unknown> | undefined {
  const clientId = textOf(values, 'client-id');
  const callbackPort = readNumber(textOf(values, 'callback-port'), '--callback-port');
  const scope = textOf(values, 'oauth-scope');
  if (clientId === undefined && callbackPort === undefined && scope === undefined) return undefined;
  return {
    ...(clientId !== undefined && { clientId }),
    ...(callbackPort !== undefined && { callbackPort }),
    ...(scope !== undefined && { scope }),
  };
}

export function readNumber(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw usage(`error: ${option} takes a whole number above 0, not "${toVisibleLine(text)}"`);
}

interface PairKind {
  option: string;
  pattern: RegExp;
  like: string;
}

function toTable(given: readonly string[], { option, pattern, like }: PairKind): Record<string, string> | undefined {
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map((each) => {
      const [, name, value] = pattern.exec(each) ?? [];
      if (name === undefined || value === undefined) {
        throw usage(`error: ${option} takes ${like}, not "${toVisibleLine(each.slice(0, 40))}"`);
      }
      return [name, value];
    }),
  );
}

async function write(
  name: string,
  entry: unknown,
  { input, parts }: { input: CommandInput; parts: McpParts },
): Promise<number> {
  const { editServer, findAddressFault, hashEntry, readEntry, showConfig, variablesOf } = await import(
    '../engine/index.js'
  );
  const { config, faults, isSdk } = await readEntry(name, entry);
  for (const { severity, path, text } of faults.filter((fault) => fault.severity === 'warning')) {
    parts.stderr.write(`${severity}: ${toVisibleLine([...path, text].join(': '))}\n`);
  }
  const fault = faults.find(({ severity }) => severity === 'error');
  if (isSdk) throw usage('error: a server of type "sdk" lives in a program, not in a file');
  if (config === undefined) {
    throw usage(
      `error: "${toVisibleLine(name)}": ${toVisibleLine([...(fault?.path ?? []), fault?.text ?? ''].join(': '))}`,
    );
  }
  const address = variablesOf(config).length === 0 ? findAddressFault(config) : undefined;
  if (address !== undefined) throw usage(`error: "${toVisibleLine(name)}": ${address}`);
  const place = readPlace(input) ?? 'local';
  const { settings, approvals, projectRoot } = await loadServers(parts);
  const { file } = await editServer({ files: settings.files, place, name, entry }).catch(nameScope);
  parts.stdout.write(`Added "${toVisibleLine(name)}" to ${toVisibleLine(file)}: ${await describeTarget(config)}\n`);
  // Whoever adds it has read it.
  if (place === 'project') await approvals.approve({ root: projectRoot, name, hash: hashEntry(name, entry) });
  const isHidden = !isDeepStrictEqual(showConfig(config), config);
  if (place === 'project' && isHidden) {
    parts.stderr.write(`warning: ${toVisibleLine(file)} is shared with the project; name secrets as \${VARIABLE}.\n`);
  }
  if (place !== 'user' && !settings.trusted) {
    parts.stderr.write('warning: it does not run yet: this folder is not trusted. To trust it: heddle trust\n');
  }
  return 0;
}

/** A refusal of the file, in the manner of the command. */
const nameScope = (thrown: unknown): never => {
  if (!(thrown instanceof HeddleError) || thrown.code !== 'invalid_config') throw thrown;
  throw new HeddleError('invalid_config', `error: ${thrown.message} To replace it: heddle mcp remove first.`);
};

function readPlace({ values }: CommandInput): ServerPlace | undefined {
  const scope = textOf(values, 'scope');
  if (scope === undefined) return undefined;
  const place = PLACES.find((each) => each === scope);
  if (place === undefined) throw usage(`error: --scope takes ${PLACES.join(', ')}, not "${toVisibleLine(scope)}"`);
  return place;
}

export async function remove(input: CommandInput, parts: McpParts): Promise<number> {
  const [name = ''] = input.words;
  const { editServer } = await import('../engine/index.js');
  const { settings, approvals, projectRoot, places } = await loadPlaces(name, parts);
  const asked = readPlace(input);
  const found = asked === undefined ? places : [asked];
  const [place] = found;
  if (place === undefined) {
    throw new HeddleError(
      'invalid_config',
      `error: no file has a server "${toVisibleLine(name)}". See heddle mcp list.`,
    );
  }
  if (found.length > 1) {
    throw usage(
      `error: "${toVisibleLine(name)}" stands in several files; name one: ${found.map((each) => `--scope ${each}`).join(', ')}`,
    );
  }
  const { file } = await editServer({ files: settings.files, place, name, entry: undefined });
  if (place === 'project') await approvals.forget({ root: projectRoot, name });
  parts.stdout.write(`Removed "${toVisibleLine(name)}" from ${toVisibleLine(file)}\n`);
  return 0;
}

/** The files that have this name, whether it may run or not. */
async function loadPlaces(name: string, parts: McpParts) {
  const loaded = await loadServers(parts);
  const { listServerPlaces } = await import('../engine/index.js');
  return { ...loaded, places: await listServerPlaces(loaded.settings.files, name) };
}
