import type { WholeTool } from '../../protocol/index.js';
import { parseOutputSchema } from './schema.js';
import { createStructuredOutputTool } from './tool.js';

/** The tool for the schema of a caller. Throws `invalid_config` when nobody could use it. */
export const openStructuredOutput = async (schema: unknown): Promise<WholeTool> =>
  createStructuredOutputTool(await parseOutputSchema(schema));

/** Why a value is no answer after all: a hook may have put another one in its place. Undefined when it matches. */
export async function findMismatch(
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
): Promise<string | undefined> {
  const { checkAgainst } = await import('../tools/json-schema.js');
  const problems = await checkAgainst(await parseOutputSchema(schema), value, 'output');
  return problems.length === 0 ? undefined : problems.join('\n');
}
