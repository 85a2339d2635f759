/** The answers of local commands, in words: Markdown that reads well as it is. Pure. */
import { HeddleError } from '../../protocol/plain.js';
import type { McpServerStatus, PermissionMode, SlashCommand } from '../../protocol/index.js';
import type { Agent } from '../definitions/definition.js';
import type { Catalog, ResolvedModel } from '../model/catalog.js';
import type { RuleLayer, WrittenRule } from '../permissions/layers.js';
import { FOLLOWED_VERSION, HEDDLE_VERSION } from '../version.js';

const MAX_DESCRIPTION = 120;
/** More lines help nobody. */
const MAX_LINES = 100;

const toLine = (name: string, text: string): string => (text === '' ? `- ${name}` : `- ${name}: ${shorten(text)}`);

function shorten(text: string): string {
  const plain = text.replace(/\s+/g, ' ').trim();
  return plain.length <= MAX_DESCRIPTION ? plain : `${plain.slice(0, MAX_DESCRIPTION - 1).trimEnd()}…`;
}

function bound(lines: readonly string[]): string[] {
  const left = lines.length - MAX_LINES;
  return left > 0 ? [...lines.slice(0, MAX_LINES), `- and ${left} more`] : [...lines];
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [[title, ...bound(lines)].join('\n')];

/** Throws when there is none of that name. */
export function describeHelp(commands: readonly SlashCommand[], wanted: string): string {
  const name = wanted.replace(/^\//, '');
  if (name !== '') {
    const found = commands.find((command) => command.name === name || command.aliases?.includes(name) === true);
    if (found !== undefined) return describeCommand(found);
    throw new HeddleError('invalid_config', `There is no command /${name}.`, { hint: 'See /help.' });
  }
  const show = (one: SlashCommand): string => toLine(callOf(one), one.description);
  return [
    ...section('Commands', commands.filter(({ builtin }) => builtin === true).map(show)),
    ...section(
      'Commands and skills of files, plugins and servers',
      commands.filter(({ builtin }) => !builtin).map(show),
    ),
  ].join('\n\n');
}

const callOf = ({ name, argumentHint }: SlashCommand): string => [`/${name}`, argumentHint].join(' ').trim();

function describeCommand(command: SlashCommand): string {
  const { description, aliases = [] } = command;
  const others = aliases.length === 0 ? [] : [`Also: ${aliases.map((alias) => `/${alias}`).join(', ')}`];
  return [callOf(command), description, ...others].filter((line) => line !== '').join('\n');
}

export function describeAgents(agents: readonly Agent[]): string {
  const show = ({ name, description, model, origin }: Agent): string =>
    toLine(
      `${name} (${[origin.plugin ?? origin.scope, ...(model === undefined ? [] : [model])].join(', ')})`,
      description,
    );
  return agents.length === 0 ? 'There are no agents.' : section('Agents', agents.map(show)).join('');
}

export function describeServers(servers: readonly McpServerStatus[]): string {
  const show = ({ name, status, tools, error }: McpServerStatus): string => {
    const count =
      tools === undefined || status !== 'connected' ? '' : `, ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`;
    return toLine(name, `${status}${count}${error === undefined ? '' : `: ${error}`}`);
  };
  return servers.length === 0
    ? 'There are no MCP servers. `heddle mcp add` adds one.'
    : section('MCP servers', servers.map(show)).join('');
}

export const describeMemoryFiles = (files: readonly string[]): string =>
  files.length === 0
    ? 'There are no files of instructions. /init writes AGENTS.md.'
    : section(
        'Files of instructions, the general ones first',
        files.map((file) => `- ${file}`),
      ).join('');

export function describeModel({ state, catalog }: { state: { model: ResolvedModel }; catalog: Catalog }): string {
  const names = Object.entries(catalog.aliases).map(([alias, model]) => `- ${alias}: ${model}`);
  return [`The model is ${state.model.model}.`, ...section('Others, by /model and a name', names)].join('\n\n');
}

const BEHAVIORS = [
  ['deny', 'Denied'],
  ['ask', 'Asked about'],
  ['allow', 'Allowed'],
] as const;

/** What the agent brings that the main thread runs as. */
export interface AgentRules {
  name: string;
  /** The only tools that it has. */
  tools?: readonly string[];
  deny: readonly string[];
}

export function describePermissions(
  layers: readonly RuleLayer[],
  { mode, agent }: { mode: PermissionMode; agent?: AgentRules },
): string {
  const ofAgent = { name: `agent ${agent?.name}`, deny: agent?.deny, ask: [], allow: [] };
  const sections = BEHAVIORS.flatMap(([behavior, title]) =>
    section(
      title,
      [...layers, ofAgent].flatMap((layer) =>
        (layer[behavior] ?? []).map((rule) => `- ${showRule(rule)} (${layer.name})`),
      ),
    ),
  );
  if (agent?.tools !== undefined) {
    const tools = agent.tools.map((tool) => `- ${tool}`);
    sections.push(...section(`The only tools of the agent ${agent.name}`, tools.length > 0 ? tools : ['- none']));
  }
  const rules = sections.length === 0 ? ['There are no rules.'] : sections;
  return [`The permission mode is ${mode}.`, ...rules].join('\n\n');
}

const showRule = (rule: WrittenRule): string => (typeof rule === 'string' ? rule : JSON.stringify(rule));

export interface ShownSession {
  sessionId: string;
  summary: string;
  lastModified: number;
}

/** Undefined: sessions are not kept. */
export function describeSessions(sessions: readonly ShownSession[] | undefined, own: string): string {
  if (sessions === undefined) return 'Sessions are not kept here, so there is none to go on with.';
  const others = sessions.filter(({ sessionId }) => sessionId !== own);
  if (others.length === 0) return 'There is no other session of this folder.';
  const lines = others.map(({ sessionId, summary, lastModified }) =>
    toLine(`${sessionId} (${new Date(lastModified).toISOString().slice(0, 16).replace('T', ' ')})`, summary),
  );
  return section('Sessions of this folder. `resume` or `heddle --resume <id>` goes on with one', lines).join('');
}

export const RELEASE_NOTES = `Heddle ${HEDDLE_VERSION}, with the manners of version ${FOLLOWED_VERSION} of the protocol it follows. What is new in each version stands in CHANGELOG.md of its repository.`;
