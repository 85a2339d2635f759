/** An agent from its Markdown file. What restricts it and cannot be read keeps it from being loaded: it never gets more. */
import type { McpServerConfig } from '../../protocol/index.js';
import { EFFORT_LEVELS, PERMISSION_MODES, type PermissionMode } from '../../protocol/plain.js';
import { AGENT_COLORS, type Agent, type AgentColor } from './definition.js';
import { createFieldReader, type FieldReader, firstWords } from './field-reader.js';
import { type DefinitionSource, isName, type Parsed, withNamespace } from './source.js';

const ALL_TOOLS = /^(?:\*|all|all[ _-]tools)$/i;
const TOOLS = ['tools', 'allowed-tools', 'allowedTools', 'allowed_tools'] as const;
const DISALLOWED = ['disallowedTools', 'disallowed-tools', 'disallowed_tools'] as const;

export async function parseAgentFile(source: DefinitionSource): Promise<Parsed<Agent>> {
  const { matter, file, origin } = source;
  const reader = createFieldReader(matter.fields, file);
  const finish = (value: Agent | undefined): Parsed<Agent> => ({
    value,
    problems: [...matter.problems, ...reader.problems],
  });
  if (matter.state === 'none') {
    // Notes beside agents are nothing to complain about.
    if (!/^readme$/i.test(source.name))
      reader.warn(1, 'it has no frontmatter with a name and a description; it is no agent');
    return finish(undefined);
  }
  if (matter.state === 'broken') {
    reader.fail(1, 'the agent is not loaded: its tools and its mode cannot be known');
    return finish(undefined);
  }
  const name = readName(reader, source);
  const restrictions = await readRestrictions(reader);
  if (restrictions === undefined) return finish(undefined);
  const prompt = matter.body.trim();
  if (prompt === '') reader.warn(matter.bodyLine, 'the agent has no prompt below its frontmatter');
  const agent: Agent = {
    name: withNamespace(origin, name),
    description: readDescription(reader, prompt),
    prompt,
    ...restrictions,
    ...given('model', reader.text('model')),
    ...given('mcpServers', await readServers(reader)),
    ...given('skills', reader.names('skills')?.slice()),
    ...given('maxTurns', readMaxTurns(reader)),
    ...given('effort', readEffort(reader)),
    ...given('background', reader.flag('background', { whenWrong: false })),
    ...given('initialPrompt', reader.text('initialPrompt', 'initial-prompt')),
    ...given('criticalSystemReminder_EXPERIMENTAL', reader.text('criticalSystemReminder_EXPERIMENTAL')),
    ...given('color', readColor(reader)),
    ...given('context', readContext(reader)),
    ...given('isolation', readIsolation(reader)),
    origin,
  };
  return finish(agent);
}

/** A key only where there is a value. */
function given<K extends keyof Agent>(key: K, value: Agent[K] | undefined): Partial<Pick<Agent, K>> {
  return value === undefined ? {} : ({ [key]: value } as Partial<Pick<Agent, K>>);
}

function readName(reader: FieldReader, { name: ofFile }: DefinitionSource): string {
  const field = reader.find('name');
  const name = reader.text('name');
  if (name !== undefined && isName(name)) return name;
  reader.warn(field?.line ?? 1, `the agent has no usable "name"; the name of its file counts: "${ofFile}"`);
  return ofFile;
}

function readDescription(reader: FieldReader, prompt: string): string {
  const description = reader.text('description');
  if (description !== undefined) return description;
  reader.warn(
    reader.find('description')?.line ?? 1,
    'the agent has no "description"; the first line of its prompt counts',
  );
  return firstWords(prompt);
}

const BUDGETS = [
  ['maxBudgetUsd', 'max-budget-usd'],
  ['maxTokens', 'max-tokens'],
  ['maxSeconds', 'max-seconds'],
] as const;

type Budgets = Pick<Agent, (typeof BUDGETS)[number][0]>;
type Restrictions = Pick<Agent, 'tools' | 'disallowedTools' | 'permissionMode' | 'hooks'> & Budgets;

/** Undefined when one of them cannot be read: it would use more than was meant. */
function readBudgets(reader: FieldReader): Budgets | undefined {
  const budgets: Budgets = {};
  for (const [name, other] of BUDGETS) {
    const field = reader.find(name, other);
    if (field === undefined) continue;
    const value = reader.number(name, other) ?? 0;
    const isWhole = name === 'maxTokens';
    if (value <= 0 || (isWhole && !Number.isSafeInteger(value))) {
      reader.fail(field.line, `"${name}" must be a ${isWhole ? 'whole ' : ''}number above 0; the agent is not loaded`);
      return undefined;
    }
    budgets[name] = value;
  }
  return budgets;
}

/** Undefined when one of them cannot be read. */
async function readRestrictions(reader: FieldReader): Promise<Restrictions | undefined> {
  for (const names of [TOOLS, DISALLOWED]) {
    const field = reader.find(...names);
    if (field === undefined || isListLike(field.value)) continue;
    reader.fail(field.line, `"${names[0]}" must be a list of names; the agent is not loaded`);
    return undefined;
  }
  const hooks = await readHooks(reader);
  const budgets = readBudgets(reader);
  if (hooks === 'broken' || budgets === undefined) return undefined;
  const tools = reader.find(...TOOLS)?.value;
  const isAll = [tools].flat().length === 1 && ALL_TOOLS.test([tools].flat().join('').trim());
  return {
    ...budgets,
    ...given('tools', isAll ? undefined : reader.names(...TOOLS)?.slice()),
    ...given('disallowedTools', reader.names(...DISALLOWED)?.slice()),
    ...given('permissionMode', readMode(reader)),
    ...given('hooks', hooks),
  };
}

const isListLike = (value: unknown): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string'));

function readMode(reader: FieldReader): PermissionMode | undefined {
  const field = reader.find('permissionMode', 'permission-mode');
  if (field === undefined) return undefined;
  const mode = PERMISSION_MODES.find((each) => each === field.value);
  if (mode !== undefined) return mode;
  reader.warn(field.line, `"permissionMode" must be one of ${PERMISSION_MODES.join(', ')}; "default" counts`);
  return 'default';
}

/** The same shape as in settings, checked the same way. */
async function readHooks(reader: FieldReader): Promise<Agent['hooks'] | 'broken'> {
  const field = reader.find('hooks');
  if (field === undefined) return undefined;
  const { checkSettings } = await import('../settings/check.js');
  const findings = await checkSettings({ hooks: field.value }, 'project');
  for (const { path, severity, text } of findings) {
    if (severity === 'warning') reader.warn(field.line, `${path}: ${text}`);
    else reader.fail(field.line, `the agent is not loaded without its hooks: ${path}: ${text}`);
  }
  if (findings.some(({ severity }) => severity === 'error')) return 'broken';
  return field.value as Agent['hooks'];
}

/** Names of servers, or servers of its own: as a list, as a text with commas, or as a table. */
async function readServers(reader: FieldReader): Promise<Agent['mcpServers']> {
  const field = reader.find('mcpServers', 'mcp-servers');
  if (field === undefined) return undefined;
  if (typeof field.value === 'string') return reader.names('mcpServers', 'mcp-servers')?.slice();
  const { McpServerConfig: schema } = await import('../../protocol/index.js');
  const items: readonly unknown[] = Array.isArray(field.value) ? field.value : [field.value];
  return items.flatMap((item): (string | Record<string, McpServerConfig>)[] => {
    if (typeof item === 'string') return [item];
    if (typeof item !== 'object' || item === null) {
      reader.warn(field.line, '"mcpServers" must hold names or tables of servers; the rest is left out');
      return [];
    }
    return Object.entries(item).flatMap(
      ([name, config]: [string, unknown]): (string | Record<string, McpServerConfig>)[] => {
        // `- github:` in a list names a server, with a colon too many.
        if (config === null) return [name];
        const outcome = schema().safeParse(config);
        if (outcome.success) return [{ [name]: outcome.data }];
        reader.warn(field.line, `the MCP server "${name}" is left out: its configuration cannot be used`);
        return [];
      },
    );
  });
}

function readMaxTurns(reader: FieldReader): number | undefined {
  const turns = reader.number('maxTurns', 'max-turns');
  if (turns === undefined || (Number.isSafeInteger(turns) && turns > 0)) return turns;
  reader.warn(
    reader.find('maxTurns', 'max-turns')?.line ?? 1,
    '"maxTurns" must be a whole number above 0; it is left out',
  );
  return undefined;
}

function readEffort(reader: FieldReader): Agent['effort'] {
  const field = reader.find('effort');
  if (field === undefined) return undefined;
  if (typeof field.value === 'number') return field.value;
  const level = EFFORT_LEVELS.find((each) => each === field.value);
  if (level === undefined) {
    reader.warn(field.line, `"effort" must be one of ${EFFORT_LEVELS.join(', ')}, or a number; it is left out`);
  }
  return level;
}

function readColor(reader: FieldReader): AgentColor | undefined {
  const text = reader.text('color');
  if (text === undefined) return undefined;
  const color = AGENT_COLORS.find((each) => each === text.toLowerCase());
  if (color === undefined) {
    reader.warn(
      reader.find('color')?.line ?? 1,
      `"color" must be one of ${AGENT_COLORS.join(', ')}; it gets the next free one`,
    );
  }
  return color;
}

function readContext(reader: FieldReader): Agent['context'] {
  const text = reader.text('context')?.toLowerCase();
  if (text === undefined) return undefined;
  if (text === 'fork' || text === 'forked') return 'forked';
  if (text !== 'isolated')
    reader.warn(reader.find('context')?.line ?? 1, '"context" must be isolated or forked; isolated counts');
  return 'isolated';
}

function readIsolation(reader: FieldReader): 'worktree' | undefined {
  const text = reader.text('isolation');
  if (text === undefined || text === 'none') return undefined;
  if (text === 'worktree') return text;
  reader.warn(reader.find('isolation')?.line ?? 1, '"isolation" must be worktree; it is left out');
  return undefined;
}
