/** What a session has cost, by model and by agent, and in words for people. Pure. */
import type { ModelUsage } from '../../protocol/index.js';
import { toUsd } from '../model/catalog.js';
import type { Spending } from '../spending.js';

/** The main thread, or an agent, with what it used itself. */
export interface AgentCost {
  name: string;
  /** As `Spending.byModel` gives it. */
  models: Readonly<Record<string, ModelUsage>>;
}

export interface CostLine {
  name: string;
  inputTokens: number;
  outputTokens: number;
  cacheReadInputTokens: number;
  cacheCreationInputTokens: number;
  webSearchRequests: number;
  costUSD: number;
  /** Some of it has no price and is not in `costUSD`. */
  isUnknown: boolean;
}

export interface CostReport {
  models: CostLine[];
  agents: CostLine[];
  total: CostLine;
}

/** One for each agent, the main thread among them. */
export const costsOf = ({ byAgent }: Pick<Spending, 'byAgent'>): AgentCost[] =>
  Object.entries(byAgent).map(([id, { agentType, models }]) => ({
    name: agentType === undefined ? 'Main thread' : `${agentType} (${id})`,
    models,
  }));

/** Sums by model and by agent; both come to the total, to the token and to the millionth of a cent. */
export function sumCosts(agents: readonly AgentCost[]): CostReport {
  const used = agents.flatMap(({ name, models }) =>
    Object.entries(models).map(([model, usage]) => ({ agent: name, model, usage })),
  );
  const group = (keyOf: (one: (typeof used)[number]) => string): CostLine[] =>
    [...Map.groupBy(used, keyOf)].map(([name, parts]) =>
      sumLine(
        name,
        parts.map(({ usage }) => usage),
      ),
    );
  return {
    models: group(({ model }) => model),
    agents: group(({ agent }) => agent),
    total: sumLine(
      'Total',
      used.map(({ usage }) => usage),
    ),
  };
}

function sumLine(name: string, parts: readonly ModelUsage[]): CostLine {
  const sum = (field: 'inputTokens' | 'outputTokens' | 'cacheReadInputTokens' | 'cacheCreationInputTokens') =>
    parts.reduce((total, part) => total + part[field], 0);
  return {
    name,
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    cacheReadInputTokens: sum('cacheReadInputTokens'),
    cacheCreationInputTokens: sum('cacheCreationInputTokens'),
    webSearchRequests: parts.reduce((total, part) => total + part.webSearchRequests, 0),
    // In whole millionths of a cent: dollars do not add up.
    costUSD: toUsd(parts.reduce((total, part) => total + Math.round(part.costUSD * 1e8), 0)),
    isUnknown: parts.some(({ costBasis }) => costBasis === 'unknown'),
  };
}

/** The text of `/cost`: Markdown that reads well as it is. */
export function describeCost(agents: readonly AgentCost[], times: { apiMs?: number; wallMs?: number } = {}): string {
  const { models, agents: byAgent, total } = sumCosts(agents);
  const { apiMs, wallMs } = times;
  const head = [
    `Total cost: ${showCost(total)}`,
    ...(apiMs === undefined ? [] : [`Time in model calls: ${showTime(apiMs)}`]),
    ...(wallMs === undefined ? [] : [`Time in all: ${showTime(wallMs)}`]),
  ].join('\n');
  const unpriced = models.filter(({ isUnknown }) => isUnknown).map(({ name }) => name);
  return [
    head,
    ...(models.length > 0 ? [toTable('Model', models)] : []),
    ...(byAgent.length > 1 ? [toTable('Agent', byAgent)] : []),
    ...(unpriced.length > 0 ? [`The price of ${unpriced.join(', ')} is not known; it is not in the total.`] : []),
  ].join('\n\n');
}

function toTable(what: string, lines: readonly CostLine[]): string {
  const hasSearches = lines.some(({ webSearchRequests }) => webSearchRequests > 0);
  const rows = lines.map((line) => [
    showCell(line.name),
    showCount(line.inputTokens),
    showCount(line.outputTokens),
    showCount(line.cacheReadInputTokens),
    showCount(line.cacheCreationInputTokens),
    ...(hasSearches ? [showCount(line.webSearchRequests)] : []),
    showCost(line),
  ]);
  const names = [what, 'Input', 'Output', 'Cache read', 'Cache write', ...(hasSearches ? ['Searches'] : []), 'Cost'];
  const rule = names.map((_, index) => (index === 0 ? '---' : '---:'));
  return [names, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const showCell = (text: string): string => text.replace(/\s+/g, ' ').replaceAll('|', '\\|');

const showCount = (count: number): string => count.toLocaleString('en-US');

/** Small sums need more places than large ones. */
function showCost({ costUSD, isUnknown }: CostLine): string {
  if (isUnknown && costUSD === 0) return 'unknown';
  const shown = `$${costUSD >= 1 || costUSD === 0 ? costUSD.toFixed(2) : costUSD.toFixed(4)}`;
  return isUnknown ? `${shown} and more` : shown;
}

function showTime(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}
