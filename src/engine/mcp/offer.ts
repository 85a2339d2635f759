/** What one server has to offer now, under names that a model can call. */
import type { Tool } from '../../protocol/index.js';
import { definitionHash, readDefinition, showAnnotations, type UsableTool } from './definition.js';
import type { McpLink, McpPrompt } from './link.js';
import { showName, ToolNames } from './names.js';
import { type CallTool, toTool } from './tool.js';

/** A prompt of a server as a slash command. */
export interface PromptCommand {
  /** `mcp__<server>__<prompt>`. */
  name: string;
  server: string;
  description: string;
  /** `<first> [second]`: what may follow the name. */
  argumentHint: string;
  prompt: McpPrompt;
}

export interface Offer {
  tools: ReadonlyMap<string, Tool>;
  /** By the name of the tool. */
  definitions: ReadonlyMap<string, UsableTool>;
  prompts: readonly PromptCommand[];
  /** Tools that no model can be given, in words. */
  faults: readonly string[];
  /** As a status shows them. */
  shown: readonly { name: string; annotations?: Record<string, boolean> }[];
}

export interface OfferOptions {
  server: string;
  link: McpLink;
  toolNames: ToolNames;
  promptNames: ToolNames;
  call: CallTool;
  /** More tools than these are left out. */
  maxTools: number;
}

/** A session has no more than these, of all servers together. */
export const MAX_TOOLS = 10_000;
const MAX_FAULTS_SHOWN = 5;
const MAX_PROMPTS = 1_000;
const MAX_PROMPT_TEXT = 500;

export function toOffer({ server, link, toolNames, promptNames, call, maxTools }: OfferOptions): Offer {
  const faults: string[] = [...(link.leftOut ?? [])];
  const usable = new Map<string, UsableTool>();
  for (const given of link.tools.slice(0, maxTools)) {
    const read = readSafely(given);
    const name = typeof given?.name === 'string' ? given.name : '';
    if ('fault' in read) faults.push(`${showName(name) || 'a tool'}: ${read.fault}`);
    else if (usable.has(name)) faults.push(`${showName(name)}: it is listed twice`);
    else usable.set(name, read);
  }
  if (link.tools.length > maxTools) faults.push(`${link.tools.length - maxTools} tools: there are too many`);
  const names = toolNames.assign([...usable.keys()]);
  const named = [...usable].map(([raw, tool]): [string, UsableTool] => [names.get(raw) ?? raw, tool]);
  return {
    tools: new Map(named.map(([name, tool]) => [name, toTool(name, tool, { server, call })])),
    definitions: new Map(named),
    prompts: toCommands(server, link.prompts, promptNames),
    faults,
    shown: [...usable.values()].map(({ given: { name, annotations } }) => {
      const known = showAnnotations(annotations);
      return { name, ...(known && { annotations: known }) };
    }),
  };
}

/** What a session that has this server alone could use of it, and what it would leave out. */
export function describeOffer(
  server: string,
  link: McpLink,
): { tools: string[]; prompts: string[]; leftOut: string[] } {
  const names = { toolNames: new ToolNames(server), promptNames: new ToolNames(server) };
  const { shown, prompts, faults } = toOffer({ server, link, ...names, call: link.call, maxTools: MAX_TOOLS });
  return {
    tools: shown.map(({ name }) => name),
    prompts: prompts.map(({ prompt }) => prompt.name),
    leftOut: [...faults],
  };
}

/** A definition that cannot even be looked at is one more that cannot be used. */
function readSafely(given: unknown): ReturnType<typeof readDefinition> {
  try {
    return readDefinition(given);
  } catch (thrown) {
    return { fault: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

export function describeFaults(faults: readonly string[]): string | undefined {
  if (faults.length === 0) return undefined;
  const more = faults.length > MAX_FAULTS_SHOWN ? `; and ${faults.length - MAX_FAULTS_SHOWN} more` : '';
  return `Some of its tools are left out. ${faults.slice(0, MAX_FAULTS_SHOWN).join('; ')}${more}.`;
}

export const hashOf = ({ definitions }: Offer, name: string): string | undefined => {
  const tool = definitions.get(name);
  return tool && definitionHash(tool.given);
};

function toCommands(server: string, listed: readonly McpPrompt[], names: ToolNames): PromptCommand[] {
  const prompts = listed.filter((prompt) => typeof prompt?.name === 'string' && prompt.name !== '');
  const unique = new Map(prompts.slice(0, MAX_PROMPTS).map((prompt) => [prompt.name, prompt]));
  const assigned = names.assign([...unique.keys()]);
  return [...unique.values()].map((prompt) => ({
    name: assigned.get(prompt.name) ?? prompt.name,
    server,
    description: plain(prompt.description),
    argumentHint: plain(argumentsOf(prompt).map(showArgument).join(' ')),
    prompt,
  }));
}

const showArgument = ({ name, required }: { name: string; required?: boolean }): string =>
  required === true ? `<${name}>` : `[${name}]`;

export const argumentsOf = ({ arguments: given }: McpPrompt): { name: string; required?: boolean }[] =>
  (Array.isArray(given) ? given : []).filter((argument) => typeof argument?.name === 'string');

const plain = (text: unknown): string =>
  typeof text === 'string' ? text.toWellFormed().replace(/\s+/g, ' ').trim().slice(0, MAX_PROMPT_TEXT) : '';

/** What follows the name of a command, one word for each argument; the last one takes all that is left. */
export function readArguments(prompt: McpPrompt, text: string): Record<string, string> {
  const wanted = argumentsOf(prompt);
  const words = text.match(/"(?:[^"\\]|\\.)*"|'[^']*'|\S+/g) ?? [];
  const given = wanted.flatMap(({ name }, index): [string, string][] => {
    const own = index === wanted.length - 1 ? words.slice(index) : words.slice(index, index + 1);
    return own.length === 0 ? [] : [[name, own.map(unquote).join(' ')]];
  });
  const missing = wanted.find(({ name, required }) => required === true && !given.some(([known]) => known === name));
  if (missing !== undefined) throw new Error(`The argument ${missing.name} is missing.`);
  return Object.fromEntries(given);
}

function unquote(word: string): string {
  if (/^".*"$/s.test(word) && word.length > 1) return word.slice(1, -1).replace(/\\(.)/gs, '$1');
  return /^'.*'$/s.test(word) && word.length > 1 ? word.slice(1, -1) : word;
}
