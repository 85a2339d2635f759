/** Agents that the caller defines. */
import type { AgentDefinition } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { isTable } from '../settings/table.js';
import { findMeantKey } from './called-keys.js';

/** Throws `invalid_config` for the first definition of the caller that cannot be used. */
export async function readCalled(given: Readonly<Record<string, unknown>>): Promise<Record<string, AgentDefinition>> {
  if (Object.keys(given).length === 0) return {};
  const { AgentDefinition: schema, firstProblem } = await import('../../protocol/index.js');
  return Object.fromEntries(
    Object.entries(given).map(([name, definition]) => {
      const meant = isTable(definition) ? findMeantKey(definition, Object.keys(schema().shape)) : undefined;
      if (meant !== undefined) {
        const { key, meant: known } = meant;
        throw new HeddleError(
          'invalid_config',
          `"${key}" of the agent "${name}" is not known; did you mean "${known}"?`,
          {
            hint: `Write "${known}", or leave it out.`,
            data: { path: `agents.${name}.${key}` },
          },
        );
      }
      const parsed = schema().omit({ hooks: true }).safeParse(definition);
      // Hooks as they were written: what is wrong in them is found when they are checked.
      const { hooks } = definition as { hooks?: AgentDefinition['hooks'] };
      if (parsed.success && name.trim() !== '') return [name, { ...parsed.data, ...(hooks && { hooks }) }];
      const { path, problem } = parsed.success
        ? { path: '(name)', problem: 'it is empty' }
        : firstProblem(parsed.error.issues);
      throw new HeddleError('invalid_config', `The agent "${name}" is not as it must be at ${path}: ${problem}.`, {
        hint: 'An agent has a description and a prompt.',
      });
    }),
  );
}
