/** The text of `/context`: Markdown that reads well as it is. Pure. */
import type { ContextUsage } from '../../protocol/index.js';

/** More lines help nobody. */
const MAX_ROWS = 30;

export function describeContextUsage(usage: ContextUsage): string {
  const { model, totalTokens, maxTokens, percentage, categories } = usage;
  const share = (tokens: number): string => (maxTokens > 0 ? `${((tokens / maxTokens) * 100).toFixed(1)} %` : '');
  const skills = usage.skills?.skillFrontmatter ?? [];
  return [
    '## Context usage',
    [
      ...(model === undefined ? [] : [`Model: ${model}`]),
      `Tokens: ${showSize(totalTokens)} of ${showSize(maxTokens)} (${percentage} %)`,
      ...(usage.autoCompactThreshold === undefined
        ? []
        : [`The conversation is summed up from ${showSize(usage.autoCompactThreshold)} on.`]),
    ].join('\n'),
    toTable(
      ['Category', 'Tokens', 'Share'],
      categories.map(({ name, tokens, isDeferred }) => [
        isDeferred ? `${name} (not loaded)` : name,
        showSize(tokens),
        isDeferred ? '' : share(tokens),
      ]),
    ),
    ...section(
      'MCP tools',
      ['Tool', 'Server', 'Tokens'],
      (usage.mcpTools ?? []).map(({ name, serverName, tokens, isLoaded }) => [
        isLoaded === false ? `${name} (not loaded)` : name,
        serverName,
        showSize(tokens),
      ]),
    ),
    ...section(
      'Memory files',
      ['File', 'Of', 'Tokens'],
      (usage.memoryFiles ?? []).map(({ path, type, tokens }) => [path, type, showSize(tokens)]),
    ),
    ...section(
      'Custom agents',
      ['Agent', 'Of', 'Tokens'],
      (usage.agents ?? []).map(({ agentType, source, tokens }) => [agentType, source, showSize(tokens)]),
    ),
    ...section(
      'Skills',
      ['Skill', 'Of', 'Tokens'],
      skills.map(({ name, source, tokens }) => [name, source, showSize(tokens)]),
    ),
  ].join('\n\n');
}

const section = (title: string, head: string[], rows: string[][]): string[] =>
  rows.length === 0 ? [] : [`### ${title}`, toTable(head, rows)];

/** The last columns hold numbers. */
function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((name) => (name === 'Tokens' || name === 'Share' ? '---:' : '---'));
  const lines = [head, rule, ...rows.slice(0, MAX_ROWS)].map((cells) => `| ${cells.map(showCell).join(' | ')} |`);
  const left = rows.length - MAX_ROWS;
  return [...lines, ...(left > 0 ? [`\n... and ${left} more`] : [])].join('\n');
}

const showCell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|');

function showSize(tokens: number): string {
  if (tokens < 1_000) return `${tokens}`;
  return tokens < 1_000_000 ? `${(tokens / 1_000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(2)}M`;
}
