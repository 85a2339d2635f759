import type { WholeTool } from '../../protocol/index.js';
import { STRUCTURED_OUTPUT } from './decide.js';

/** Values are taken from the log as they are: nothing of them may be cut. */
const WHOLE = { field: Infinity, structured: Infinity };

/** The tool with which a model gives its answer. The schema is one that `parseOutputSchema` has looked at. */
export function createStructuredOutputTool(schema: Readonly<Record<string, unknown>>): WholeTool {
  return {
    name: STRUCTURED_OUTPUT,
    description:
      'Gives your final answer. It is read by a program, which sees nothing else of what you say: call this once, when all other work is done, with a value that matches the schema.',
    inputSchema: schema,
    limits: WHOLE,
    isReadOnly: () => true,
    async parse(input) {
      const { checkAgainst } = await import('../tools/json-schema.js');
      const problems = await checkAgainst(schema, input, 'output');
      if (problems.length > 0) throw new Error(`Output does not match required schema: ${problems.join('\n')}`);
      return structuredClone(input) as Record<string, unknown>;
    },
    run: async (input) => ({ content: 'Structured output provided successfully', structured: input }),
  };
}
