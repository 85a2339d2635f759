import type { WebSearchInput, WholeTool } from '../../protocol/index.js';
import { inputError } from '../../protocol/plain.js';
import type { ToolParts } from './parts.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';
import type { SearchWay } from './web-search-run.js';

type SearchParts = Pick<ToolParts, 'callAside' | 'env' | 'providerSearches'>;

/** Undefined where there is nothing to search with: a tool that cannot work is not offered. */
export function createWebSearchTool(parts: SearchParts): WholeTool<WebSearchInput> | undefined {
  const way = chooseWay(parts);
  if (way === undefined) return undefined;
  return {
    name: 'WebSearch',
    description:
      'Searches the web and gives titles, links and snippets. Limit it with either allowed_domains or blocked_domains; ' +
      'subdomains count.',
    inputSchema: inputSchemaOf('WebSearch'),
    isReadOnly: () => true,
    async parse(input) {
      const parsed = await parseToolInput('WebSearch', input);
      const { readDomains } = await import('./web-search-run.js');
      await readDomains(parsed).catch((thrown: Error) => {
        throw inputError('WebSearch', [thrown.message]);
      });
      return parsed;
    },
    async run(input, context) {
      const { runWebSearch } = await import('./web-search-run.js');
      return runWebSearch(input, context, { ...parts, way });
    },
  };
}

type SearchModule = typeof import('../web/search.js');

function chooseWay({ env, providerSearches }: SearchParts): SearchWay | undefined {
  const wanted = env.HEDDLE_SEARCH || undefined;
  if (providerSearches && (wanted === undefined || wanted === 'provider')) return 'provider';
  const { SEARXNG_URL, BRAVE_API_KEY, BRAVE_API_URL, TAVILY_API_KEY, TAVILY_API_URL } = env;
  const searxng = SEARXNG_URL && ((web: SearchModule) => web.defineSearxng(SEARXNG_URL));
  const brave = BRAVE_API_KEY && ((web: SearchModule) => web.defineBrave(BRAVE_API_KEY, BRAVE_API_URL || undefined));
  const tavily =
    TAVILY_API_KEY && ((web: SearchModule) => web.defineTavily(TAVILY_API_KEY, TAVILY_API_URL || undefined));
  const engines = { searxng, brave, tavily };
  const define =
    wanted === undefined ? searxng || brave || tavily : Object.entries(engines).find(([name]) => name === wanted)?.[1];
  return define || undefined;
}
