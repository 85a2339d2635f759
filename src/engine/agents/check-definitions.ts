/** Looks at what a caller defines before anything begins: an agent never finds out first what is wrong with itself. */
import { HeddleError } from '../../protocol/plain.js';
import { agentLimits } from '../budget/options.js';
import type { Agent } from '../definitions/definition.js';

/**
 * Throws `invalid_config` for the first limit or rule that cannot be used. Files were looked at when they were read: what
 * a broken rule of theirs names is denied. `tools` are names beside the built-in ones.
 */
export async function checkDefinitions(agents: Iterable<Agent>, tools: readonly string[]): Promise<void> {
  for (const agent of agents) {
    if (agent.origin.scope !== 'flag') continue;
    agentLimits(agent, agent.name);
    if (agent.disallowedTools !== undefined) await checkRules(agent.name, agent.disallowedTools, tools);
  }
}

async function checkRules(name: string, rules: readonly string[], tools: readonly string[]): Promise<void> {
  const { findListFaults } = await import('../settings/rule-text.js');
  for (const [index, { severity, text }] of findListFaults(rules, 'deny', tools)) {
    if (severity === 'warning') continue;
    const path = `disallowedTools[${index}]`;
    throw new HeddleError('invalid_config', `${path} of the agent ${name}: ${text}.`, {
      hint: `Correct ${path}, or leave it out.`,
      data: { path },
    });
  }
}
