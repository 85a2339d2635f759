import type { WebFetchInput, WholeTool } from '../../protocol/index.js';
import { inputError, PROBLEM_TEXTS } from '../../protocol/plain.js';
import type { WebEffects } from '../web/fetch-page.js';
import type { PageReader } from '../web/read-page.js';
import type { ToolParts } from './parts.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

/** Effects are for tests. The parts that fetch are loaded with the first call. */
export function createWebFetchTool(
  parts: Pick<ToolParts, 'callAside' | 'env'>,
  effects?: Partial<WebEffects>,
): WholeTool<WebFetchInput> {
  let reader: PageReader | undefined;
  const openReader = async (): Promise<PageReader> => {
    const { createPageReader } = await import('../web/read-page.js');
    reader ??= createPageReader({ env: parts.env, effects });
    return reader;
  };
  return {
    name: 'WebFetch',
    description:
      'Fetches a public web page as Markdown and answers `prompt` about it with a small model. http becomes https. A ' +
      'redirect to another host is reported, not followed. Images, PDFs and other files are kept for Read. Pages stay ' +
      'cached for 15 minutes.',
    inputSchema: inputSchemaOf('WebFetch'),
    isReadOnly: () => true,
    async parse(input) {
      const parsed = await parseToolInput('WebFetch', input);
      const problem = (await openReader()).findProblem(parsed.url);
      if (problem !== undefined) throw inputError('WebFetch', [PROBLEM_TEXTS.input.notValid(['url'], problem)]);
      return parsed;
    },
    async run(input, context) {
      const { runWebFetch } = await import('./web-fetch-run.js');
      return runWebFetch(input, context, { reader: await openReader(), callAside: parts.callAside });
    },
  };
}
