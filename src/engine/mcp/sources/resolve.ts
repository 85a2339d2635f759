/** All MCP servers of a session, from every source, with what stands in the way of those that may not run. */
import { childEnvironment } from '../../child-env.js';
import type { LoadedSettings } from '../../settings/load.js';
import type { SettingsLayerName, SettingsProblem } from '../../settings/problem.js';
import { mcpToolName } from '../names.js';
import { type ApprovalState, hashEntry, type McpApprovals, type ProjectServer } from './approvals.js';
import type { BroughtServers } from './brought.js';
import { fromSettings, readFile, readFlag, type ServerTable } from './documents.js';
import { findAddressFault, findNameDoubt, readEntry, type EntryFault, type ServerConfig } from './entry.js';
import { expandServer } from './expand.js';
import { findPolicyFault } from './policy.js';
import { readProjectChoices, type ProjectChoices } from './project-choices.js';

/** Where a server comes from, the strongest first: of two with the same name the stronger one counts. */
export const MCP_SCOPES = ['managed', 'flag', 'local', 'project', 'user'] as const;
export type McpScope = (typeof MCP_SCOPES)[number];

export interface ResolvedServer {
  /** With variables expanded, unless it is blocked. */
  config: ServerConfig;
  /** As it is written, variables and all. */
  written: ServerConfig;
  scope: McpScope;
  /** The file, or `--mcp-config`. */
  source: string;
  /** Why it must not be started or reached. */
  blocked?: string;
  /** It is blocked because someone has not said yes, or has said no: nothing is wrong with it. */
  isOff?: boolean;
  /** Of a server of a trusted project: what to show and to hand to `McpApprovals`. Asked about unless it was rejected. */
  approval?: ProjectServer & { state: ApprovalState };
}

export interface McpSources {
  /** Values of `--mcp-config`; of two with the same server the later one counts. */
  flags: readonly string[];
  /** Only servers of flags and of managed policy. */
  strict: boolean;
  settings: Pick<LoadedSettings, 'value' | 'layers' | 'files' | 'managedOnly'>;
  /** Those of plugins that settings enable. */
  brought?: readonly BroughtServers[];
  /** `.mcp.json` of the project; none when absent. */
  projectFile?: string;
  /** Someone vouches for the project. */
  trusted: boolean;
  env: Readonly<Record<string, string>>;
  /** Where relative paths of flags start. */
  cwd: string;
  approvals: Pick<McpApprovals, 'stateOf'>;
}

export interface ResolvedServers {
  servers: Map<string, ResolvedServer>;
  /** Servers of the project that a yes of the person would let run, also where another of the same name serves meanwhile. */
  waiting: Map<string, ResolvedServer>;
  /** Fatal: a value of `--mcp-config` could not be read at all. Everything else leaves the other servers alone. */
  problems: SettingsProblem[];
}

const MAX_SERVERS = 1_000;

/** Never throws. Nothing is started or reached, and no variable gets into a server that is not approved. */
export async function resolveMcpServers(sources: McpSources): Promise<ResolvedServers> {
  const problems: SettingsProblem[] = [];
  const tables = await readTables(sources);
  for (const table of tables) problems.push(...describeFaults(table));
  const choices = readProjectChoices(sources.settings.layers, sources.trusted);
  const servers = new Map<string, ResolvedServer>();
  const waiting: ResolvedServers['waiting'] = new Map();
  const from = new Map<string, ServerTable>();
  for (const table of tables) {
    for (const [name, written] of Object.entries(table.entries)) {
      const present = servers.get(name);
      if (present !== undefined && !mayBeReplaced(present)) continue;
      const resolved = await resolveOne({ name, written, table }, { sources, choices, problems });
      if (resolved === undefined) continue;
      if (resolved.isOff && resolved.approval && !waiting.has(name)) waiting.set(name, resolved);
      if (present === undefined && servers.size >= MAX_SERVERS) {
        const text = `there are more than ${MAX_SERVERS} servers; this one and those after it are left out`;
        problems.push(await toProblem(table, { severity: 'error', path: [], text }, name));
        break;
      }
      if (present !== undefined && resolved.blocked !== undefined) continue;
      servers.set(name, resolved);
      from.set(name, table);
    }
  }
  for (const [name, text] of blockDoubles(servers)) {
    const table = from.get(name);
    if (table) problems.push(await toProblem(table, { severity: 'error', path: [], text }, name));
  }
  return { servers, waiting, problems };
}

/** A server of a project that may not run must not push out the person's own by taking its name. */
const mayBeReplaced = ({ scope, blocked }: ResolvedServer): boolean => scope === 'project' && blocked !== undefined;

async function readTables({
  flags,
  strict,
  settings,
  brought = [],
  projectFile,
  cwd,
}: McpSources): Promise<ServerTable[]> {
  const named = await Promise.all(
    flags.map((flag, at) => readFlag(flag, { cwd, label: flags.length > 1 ? `--mcp-config[${at}]` : '--mcp-config' })),
  );
  const ofLayer = (name: SettingsLayerName): ServerTable[] => [
    ...settings.layers.flatMap(({ name: layer, file, settings: { mcpServers } }) =>
      layer === name && mcpServers !== undefined ? [fromSettings(mcpServers, { layer, file })] : [],
    ),
    ...brought.filter(({ layer }) => layer === name).map((each) => fromSettings(each.entries, each)),
  ];
  const first = [...ofLayer('managed'), ...named.toReversed()];
  if (strict) return first;
  const shared = projectFile === undefined ? undefined : await readFile(projectFile, 'project');
  return [
    ...first,
    ...ofLayer('flag'),
    ...ofLayer('local'),
    ...(shared ? [shared] : []),
    ...ofLayer('project'),
    ...ofLayer('user'),
  ];
}

function describeFaults({ layer, file, faults }: ServerTable): SettingsProblem[] {
  return faults.map((fault) => ({
    severity: 'error',
    fatal: layer === 'flag' && fault.path === '(root)',
    layer,
    file,
    ...fault,
  }));
}

interface Written {
  name: string;
  written: unknown;
  table: ServerTable;
}

interface Around {
  sources: McpSources;
  choices: ProjectChoices;
  problems: SettingsProblem[];
}

async function resolveOne(entry: Written, around: Around): Promise<ResolvedServer | undefined> {
  const { name, written, table } = entry;
  const { sources, problems } = around;
  const tell = async (fault: EntryFault) => void problems.push(await toProblem(table, fault, name));
  const { config, faults, isSdk } = await readEntry(name, written);
  for (const fault of faults) await tell(fault);
  if (isSdk && table.layer !== 'flag') {
    await tell({ severity: 'error', path: ['type'], text: 'a server of type "sdk" lives in a program, not in a file' });
  }
  if (config === undefined || isBroken(entry)) return undefined;
  const scope = table.layer;
  const base: ResolvedServer = { config, written: config, scope, source: table.file };
  const blocked = sources.settings.managedOnly.mcpServers && scope !== 'managed' ? POLICY_ONLY : undefined;
  if (blocked !== undefined) return { ...base, blocked };
  const doubt = findNameDoubt(name);
  if (doubt !== undefined) await tell({ severity: scope === 'project' ? 'error' : 'warning', path: [], text: doubt });
  if (scope === 'project') {
    if (doubt !== undefined) return { ...base, blocked: doubt };
    const verdict = await judgeProject({ name, written }, around);
    if (verdict.blocked !== undefined) return { ...base, ...verdict, isOff: true };
    Object.assign(base, verdict);
  }
  if (scope === 'local' && !sources.trusted) return { ...base, blocked: UNTRUSTED, isOff: true };
  const isWithheld = (variable: string): boolean =>
    isOfFolder(scope) && Object.hasOwn(sources.env, variable) && isEngineOwn(variable);
  const expanded = expandServer(config, { env: sources.env, isWithheld });
  for (const { path, text } of expanded.faults) await tell({ severity: 'error', path, text });
  const [missing] = expanded.faults;
  if (missing !== undefined) return { ...base, blocked: missing.text };
  const denied = findPolicyFault({ name, config: expanded.config }, sources.settings.value);
  if (denied !== undefined) return { ...base, blocked: denied };
  const addressFault = findAddressFault(expanded.config);
  if (addressFault !== undefined) {
    await tell({ severity: 'error', path: ['url'], text: addressFault });
    return { ...base, blocked: addressFault };
  }
  return { ...base, config: expanded.config };
}

/**
 * A server that a program names while a session runs: the checks of every other, and no variables, because the program has
 * the values. Never throws.
 */
export async function admitServer(
  name: string,
  written: unknown,
  settings: McpSources['settings'],
): Promise<Pick<ResolvedServer, 'config' | 'blocked'>> {
  const { config, faults } = await readEntry(name, written);
  const fault = faults.find(({ severity }) => severity === 'error');
  if (config === undefined) {
    const text = fault === undefined ? 'it cannot be used' : [...fault.path, fault.text].join(': ');
    return { config: { type: 'stdio', command: '' }, blocked: text };
  }
  const blocked = settings.managedOnly.mcpServers
    ? POLICY_ONLY
    : (findPolicyFault({ name, config }, settings.value) ?? findAddressFault(config));
  return { config, ...(blocked !== undefined && { blocked }) };
}

export const POLICY_ONLY = 'policy allows only its own MCP servers';
const UNTRUSTED = 'the folder is not trusted. To trust it: heddle trust';

const isOfFolder = (scope: McpScope): boolean => scope === 'project' || scope === 'local';

/** A credential of the engine itself, which no server of a folder is given. */
export const isEngineOwn = (variable: string): boolean =>
  !Object.hasOwn(childEnvironment({ env: { [variable]: 'x' }, envIsExact: true }), variable);

/** A key that stands twice makes its entry worth nothing: nobody knows which of the two was meant. */
function isBroken({ name, table }: Written): boolean {
  const start = table.at.length > 0 ? 'mcpServers' : '';
  const own = [`${start}${start && '.'}${name}`, `${start}[${JSON.stringify(name)}]`];
  return table.faults.some(({ path }) => own.some((each) => path === each || path.startsWith(`${each}.`)));
}

/** Without `blocked` it may run. The project itself can only ever say no. */
async function judgeProject(
  { name, written }: Pick<Written, 'name' | 'written'>,
  { sources, choices }: Around,
): Promise<Pick<ResolvedServer, 'blocked' | 'approval'>> {
  if (!sources.trusted) return { blocked: UNTRUSTED };
  if (choices.disabled.has(name)) return { blocked: 'disabledMcpjsonServers names it' };
  const server = { root: sources.settings.files.projectRoot, name, hash: hashEntry(name, written) };
  const state = await sources.approvals.stateOf(server);
  const approval = { ...server, state };
  const how = `To approve it: heddle mcp approve ${name}`;
  if (state === 'rejected') return { blocked: `you have rejected it. ${how}`, approval };
  if (state === 'approved' || choices.all || choices.enabled.has(name)) return { approval };
  const why = state === 'changed' ? 'it has changed since you decided about it' : 'it waits for your approval';
  return { blocked: `${why}. ${how}`, approval };
}

/** Names like `a b` and `a_b`, or `a` and `a__b`, would mix up their tools. A server of the project gives way. */
function blockDoubles(servers: ReadonlyMap<string, ResolvedServer>): [name: string, text: string][] {
  const keepers: { name: string; prefix: string }[] = [];
  // A server that does not run keeps nobody from running.
  const running = [...servers].filter(([, { blocked }]) => blocked === undefined);
  const ofProject = (each: (typeof running)[number]): number => Number(each[1].scope === 'project');
  return running
    .toSorted((one, other) => ofProject(one) - ofProject(other))
    .flatMap(([name, server]): [string, string][] => {
      const prefix = mcpToolName(name, '');
      const like = keepers.find((each) => prefix.startsWith(each.prefix) || each.prefix.startsWith(prefix));
      if (like === undefined) {
        keepers.push({ name, prefix });
        return [];
      }
      server.blocked = `the names of its tools would begin as those of "${like.name}"`;
      return [[name, server.blocked]];
    });
}

async function toProblem(table: ServerTable, fault: EntryFault, name: string): Promise<SettingsProblem> {
  const { showPath } = await import('../../../protocol/index.js');
  const path = showPath([...table.at, name, ...fault.path]);
  const { layer, file } = table;
  const { severity, text } = fault;
  return { severity, fatal: false, layer, file, ...(await table.placeOf(path)), path, text };
}
