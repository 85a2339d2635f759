/** An agent from its Markdown file. What restricts it and cannot be read keeps it from being loaded: it never gets more. */
import type { McpServerConfig } from '../../protocol/index.js';
import {
  AGENT_COLORS,
  type AgentColor,
  EFFORT_LEVELS,
  PERMISSION_MODES,
  type PermissionMode,
} from '../../protocol/plain.js';
import { expandValue } from '../plugins/root-variable.js';
import { denyAllMeant, spellTools } from './agent-rules.js';
import type { Agent, Origin } from './definition.js';
import type { Field } from './field.js';
import { createFieldReader, type FieldReader, firstWords } from './field-reader.js';
import { describeDoubt, type GuardedKey } from './guarded.js';
import { isAllTools, readDenials, readToolList, saysSame } from './tool-list.js';
import { tellUnknownKeys } from './unknown-keys.js';
import { type DefinitionSource, isName, type Parsed, withNamespace } from './source.js';

const TOOLS = ['tools', 'allowed-tools'] as const;
/** What counts once, and decides what an agent may do. */
const RESTRICTIONS = [
  TOOLS,
  ['permissionMode'],
  ['hooks'],
  ['mcpServers'],
  ['maxTurns'],
  ['maxBudgetUsd'],
  ['maxTokens'],
  ['maxSeconds'],
  ['isolation'],
] as const satisfies readonly (readonly GuardedKey[])[];
const OF_AGENTS: ReadonlySet<string> = new Set<GuardedKey>([...RESTRICTIONS.flat(), 'disallowedTools']);

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
  const hasDoubt = failForDoubts(reader, matter);
  const hasSlip = await tellUnknownKeys(matter.fields, reader, [...OF_AGENTS]);
  const restrictions = await readRestrictions(reader);
  if (restrictions === undefined || hasDoubt || hasSlip) return finish(undefined);
  const prompt = matter.body.trim();
  if (prompt === '') reader.warn(matter.bodyLine, 'the agent has no prompt below its frontmatter');
  const agent: Agent = {
    name: withNamespace(origin, name),
    description: readDescription(reader, prompt),
    prompt,
    ...restrictions,
    ...given('model', reader.word('model')),
    ...given('mcpServers', await readServers(reader, origin)),
    ...given('skills', reader.names('skills')?.slice()),
    ...given('effort', readEffort(reader)),
    ...given('background', reader.flag('background', { whenWrong: false })),
    ...given('initialPrompt', reader.text('initialPrompt', 'initial-prompt')),
    ...given('criticalSystemReminder_EXPERIMENTAL', reader.text('criticalSystemReminder_EXPERIMENTAL')),
    ...given('color', readColor(reader)),
    ...given('context', readContext(reader)),
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

/** A line that may have been meant to restrict it, and that nobody can read. */
function failForDoubts(reader: FieldReader, { doubts }: DefinitionSource['matter']): boolean {
  const own = doubts.filter(({ key }) => OF_AGENTS.has(key));
  for (const { key, line } of own) {
    reader.fail(line, `${describeDoubt(key)}; the agent is not loaded`);
  }
  return own.length > 0;
}

const BUDGETS = ['maxBudgetUsd', 'maxTokens', 'maxSeconds'] as const;
type Budgets = Pick<Agent, (typeof BUDGETS)[number]>;
type Restrictions = Pick<Agent, 'tools' | 'disallowedTools' | 'permissionMode' | 'hooks' | 'maxTurns' | 'isolation'> &
  Budgets;

/** Undefined when one of them cannot be read: it would use more than was meant. */
function readBudgets(reader: FieldReader): Budgets | undefined {
  const budgets: Budgets = {};
  for (const name of BUDGETS) {
    const field = reader.find(name);
    if (field === undefined) continue;
    const value = reader.number(name) ?? 0;
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
  const refuse = ({ line }: Field, text: string): undefined => {
    reader.fail(line, `${text}; the agent is not loaded`);
    return undefined;
  };
  for (const names of [...RESTRICTIONS, ['disallowedTools']]) {
    const [last, ...others] = reader.all(...names);
    const unsure = [last, ...others].find((field) => field?.fault !== undefined);
    if (unsure !== undefined) return refuse(unsure, `"${names[0]}" cannot be read (${unsure.fault})`);
    if (names[0] === 'disallowedTools') continue;
    const other = others.find(({ value }) => !saysSame(value, last?.value));
    if (last !== undefined && other !== undefined) {
      return refuse(last, `"${names.join('" or "')}" is there twice (line ${other.line}), and says two things`);
    }
  }
  const [tools] = reader.all(...TOOLS);
  const named = tools && readToolList(tools.value);
  const isAll = tools !== undefined && (isAllTools(tools.value) || isInherited(tools.value));
  if (tools !== undefined && named === undefined && !isAll) {
    return refuse(tools, '"tools" must be a list of names');
  }
  const spelled =
    isAll || named === undefined
      ? undefined
      : spellTools(named, (text) => reader.warn(tools?.line ?? 1, `"tools": ${text}`));
  const disallowed: string[] = [];
  for (const field of reader.all('disallowedTools').toReversed()) {
    const list = readDenials(field.value);
    if (list === undefined) return refuse(field, '"disallowedTools" must be a list of names');
    disallowed.push(...(await denyAllMeant(list, (text) => reader.warn(field.line, `"disallowedTools": ${text}`))));
  }
  const isDisallowed = reader.find('disallowedTools') !== undefined;
  const turns = reader.find('maxTurns');
  const maxTurns = turns && Number(String(turns.value).trim() || Number.NaN);
  if (turns !== undefined && !(Number.isSafeInteger(maxTurns) && Number(maxTurns) > 0)) {
    return refuse(turns, '"maxTurns" must be a whole number above 0');
  }
  const written = reader.find('permissionMode');
  const mode = written && readMode(written);
  if (written !== undefined && mode === undefined) {
    return refuse(written, `"permissionMode" must be one of ${PERMISSION_MODES.join(', ')}`);
  }
  const isolation = reader.find('isolation');
  const place = reader.text('isolation')?.toLowerCase();
  if (isolation !== undefined && place !== 'worktree' && place !== 'none') {
    return refuse(isolation, '"isolation" must be worktree');
  }
  const hooks = await readHooks(reader);
  const budgets = readBudgets(reader);
  if (hooks === 'broken' || budgets === undefined) return undefined;
  return {
    ...budgets,
    ...given('tools', spelled),
    ...given('disallowedTools', isDisallowed ? disallowed : undefined),
    ...given('permissionMode', mode),
    ...given('hooks', hooks),
    ...given('maxTurns', maxTurns),
    ...given('isolation', place === 'worktree' ? place : undefined),
  };
}

/** Those of its parent, in a word that others have for it. */
const isInherited = (value: unknown): boolean => /^inherit$/i.test([value].flat().join(',').trim());

/** Letter case aside for what restricts. A list of one is that one. */
function readMode({ value }: Field): PermissionMode | undefined {
  const mode: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return PERMISSION_MODES.find((each) => each === mode) ?? (isPlan(mode) ? 'plan' : undefined);
}

const isPlan = (value: unknown): boolean => typeof value === 'string' && value.trim().toLowerCase() === 'plan';

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
async function readServers(reader: FieldReader, { pluginRoot }: Origin): Promise<Agent['mcpServers']> {
  const field = reader.find('mcpServers');
  if (field === undefined) return undefined;
  if (typeof field.value === 'string') return reader.names('mcpServers')?.slice();
  const { firstProblem, McpServerConfig: schema } = await import('../../protocol/index.js');
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
        if (outcome.success) {
          const server = pluginRoot === undefined ? outcome.data : expandValue(outcome.data, pluginRoot);
          return [{ [name]: server as McpServerConfig }];
        }
        const { path, problem } = firstProblem(outcome.error.issues);
        reader.warn(field.line, `the MCP server "${name}" is left out: ${path}: ${problem}`);
        return [];
      },
    );
  });
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
