/** What the next model call is made of, and how much room it leaves. Pure. */
import type { ContextCategory, ContextUsage, ToolParam } from '../../protocol/index.js';
import { contextTokens, textTokens } from '../compaction/size.js';
import type { Entry } from '../sessions/entry.js';
import { toGrid } from './grid.js';
import { isCounted, messagesTokens, scaleTo, toolTokens } from './sizes.js';

/** A text that stands in the first user message, and where it comes from. */
export interface ContextText {
  name: string;
  source: string;
  text: string;
}

export interface ContextParts {
  model: string;
  /** The context window of the model, in tokens. */
  window: number;
  /** The size from which the context is made smaller by itself; undefined: never. */
  compactAt: number | undefined;
  /** The blocks of the system prompt. */
  system: readonly string[];
  /** As they are sent. */
  tools: readonly ToolParam[];
  /** Tools that are found when they are searched for, and not sent. */
  deferredTools?: readonly ToolParam[];
  /** The log: what was said, with what the engine put before it. */
  entries: readonly Entry[];
  /** They are part of what was said, and are told apart from it. `name` is the path, `source` user, project, ... */
  memory?: readonly ContextText[];
  skills?: readonly ContextText[];
  agents?: readonly ContextText[];
}

const COLORS = {
  system: 'gray',
  tools: 'blue',
  mcp: 'cyan',
  agents: 'green',
  memory: 'orange',
  skills: 'yellow',
  messages: 'purple',
} as const;

type Used = keyof typeof COLORS;

const NAMES: Readonly<Record<Used, string>> = {
  system: 'System prompt',
  tools: 'System tools',
  mcp: 'MCP tools',
  agents: 'Custom agents',
  memory: 'Memory files',
  skills: 'Skills',
  messages: 'Messages',
};

const IDS: Readonly<Record<Used, string>> = {
  system: 'system_prompt',
  tools: 'system_tools',
  mcp: 'mcp_tools',
  agents: 'custom_agents',
  memory: 'memory_files',
  skills: 'skills',
  messages: 'messages',
};

/** Sizes are guesses, scaled to what the API counted for the last answer where there is one. */
export function contextUsage(parts: ContextParts): ContextUsage {
  const { model, compactAt, entries } = parts;
  const window = Math.max(1, parts.window);
  const mcp = parts.tools.filter(isMcp);
  const { memory = [], skills = [], agents = [] } = parts;
  const carried = textsTokens([...memory, ...skills, ...agents]);
  const guesses: Record<Used, number> = {
    system: parts.system.reduce((sum, text) => sum + textTokens(text), 0),
    tools: toolsTokens(parts.tools) - toolsTokens(mcp),
    mcp: toolsTokens(mcp),
    agents: textsTokens(agents),
    memory: textsTokens(memory),
    skills: textsTokens(skills),
    messages: Math.max(0, messagesTokens(entries) - carried),
  };
  const guessed = Object.values(guesses).reduce((sum, size) => sum + size, 0);
  const total = isCounted(entries) ? contextTokens(entries) : guessed;
  const scale = guessed === 0 ? 1 : total / guessed;
  const sized = (tokens: number): number => Math.round(tokens * scale);

  const kinds = Object.keys(guesses) as Used[];
  const sizes = scaleTo(Object.values(guesses), total);
  const used = kinds.map((kind, index): ContextCategory => {
    return { id: IDS[kind], name: NAMES[kind], tokens: sizes[index] ?? 0, color: COLORS[kind], kind: 'used' };
  });
  const deferred = parts.deferredTools ?? [];
  const categories = [
    ...used.filter(({ tokens }) => tokens > 0),
    ...deferredCategory(sized(toolsTokens(deferred))),
    ...roomLeft({ window, compactAt, total }),
  ];
  return {
    categories,
    totalTokens: total,
    maxTokens: window,
    rawMaxTokens: window,
    percentage: Math.round((total / window) * 100),
    gridRows: toGrid(categories, window),
    model,
    memoryFiles: memory.map(({ name, source, text }) => ({
      path: name,
      type: source,
      tokens: sized(textTokens(text)),
    })),
    mcpTools: [
      ...mcp.map((tool) => ({ ...toMcpTool(tool), tokens: sized(toolTokens(tool)), isLoaded: true })),
      ...deferred
        .filter(isMcp)
        .map((tool) => ({ ...toMcpTool(tool), tokens: sized(toolTokens(tool)), isLoaded: false })),
    ],
    systemTools: parts.tools
      .filter((tool) => !isMcp(tool))
      .map((tool) => ({ name: tool.name, tokens: sized(toolTokens(tool)) })),
    agents: agents.map(({ name, source, text }) => ({ agentType: name, source, tokens: sized(textTokens(text)) })),
    skills: {
      totalSkills: skills.length,
      includedSkills: skills.length,
      tokens: sized(textsTokens(skills)),
      skillFrontmatter: skills.map(({ name, source, text }) => ({ name, source, tokens: sized(textTokens(text)) })),
    },
    ...(compactAt !== undefined && { autoCompactThreshold: compactAt }),
    isAutoCompactEnabled: compactAt !== undefined,
  };
}

const deferredCategory = (tokens: number): ContextCategory[] =>
  tokens === 0
    ? []
    : [{ id: 'deferred_tools', name: 'Tools on demand', tokens, color: 'gray', kind: 'deferred', isDeferred: true }];

/** What is left of the window, and the part of it that compaction keeps free. */
function roomLeft({ window, compactAt, total }: { window: number; compactAt: number | undefined; total: number }) {
  const room = Math.max(0, window - total);
  const buffer = compactAt === undefined ? 0 : Math.min(room, Math.max(0, window - compactAt));
  const free: ContextCategory = { id: 'free', name: 'Free space', tokens: room - buffer, color: 'white', kind: 'free' };
  const kept: ContextCategory = {
    id: 'compact_buffer',
    name: 'Compaction buffer',
    tokens: buffer,
    color: 'gray',
    kind: 'buffer',
  };
  return buffer > 0 ? [free, kept] : [free];
}

const textsTokens = (texts: readonly ContextText[]): number =>
  texts.reduce((sum, { text }) => sum + textTokens(text), 0);

const toolsTokens = (tools: readonly ToolParam[]): number => tools.reduce((sum, tool) => sum + toolTokens(tool), 0);

const isMcp = ({ name }: ToolParam): boolean => name.startsWith('mcp__');

/** From `mcp__<server>__<tool>`. */
function toMcpTool({ name }: ToolParam): { name: string; serverName: string } {
  const [serverName = ''] = name.slice('mcp__'.length).split('__', 1);
  return { name, serverName };
}
