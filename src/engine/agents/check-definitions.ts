/** Looks at what a caller defines before anything begins: an agent never finds out first what is wrong with itself. */
import { HeddleError } from '../../protocol/plain.js';
import { agentLimits } from '../budget/options.js';
import type { Agent } from '../definitions/definition.js';

/**
 * Throws `invalid_config` for the first limit, rule or hook that cannot be used. Files were looked at when they were read: what
 * a broken rule of theirs names is denied. `tools` are names beside the built-in ones.
 */
export async function checkDefinitions(agents: Iterable<Agent>, tools: readonly string[]): Promise<void> {
  for (const agent of agents) {
    if (agent.origin.scope !== 'flag') continue;
    agentLimits(agent, agent.name);
    if (agent.disallowedTools !== undefined) await checkRules(agent.name, agent.disallowedTools, tools);
    if (agent.tools !== undefined) await checkUses(agent.name, agent.tools, tools);
    if (agent.hooks !== undefined) await checkHooks(agent.name, agent.hooks);
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

/** Uses of a tool that no call can be: the tool would be of no use. */
async function checkUses(name: string, uses: readonly string[], tools: readonly string[]): Promise<void> {
  if (!uses.some((use) => /[()]/.test(use))) return;
  const { findRuleFault } = await import('../settings/rule-text.js');
  for (const [index, use] of uses.entries()) {
    const fault = /[()]/.test(use) ? findRuleFault(use, 'allow', tools) : undefined;
    if (fault === undefined || (fault.severity === 'warning' && fault.isIdle !== true)) continue;
    const path = `tools[${index}]`;
    throw new HeddleError('invalid_config', `${path} of the agent ${name}: ${fault.text}.`, {
      hint: `Correct ${path}, or name the tool alone.`,
      data: { path },
    });
  }
}

/** A gate that is not there would be noticed by nobody: what is only a warning in a file is refused here. */
async function checkHooks(name: string, hooks: Agent['hooks']): Promise<void> {
  const [{ checkSettings }, { asSentence }] = await Promise.all([
    import('../settings/check.js'),
    import('../settings/near-name.js'),
  ]);
  const [fault] = await checkSettings({ hooks }, 'flag');
  if (fault === undefined) return;
  const { path, text } = fault;
  // What it would do in a file it does not do here.
  const said = text.replace(/\. (?:The hook|It) [^.]*\.$/, '');
  const why = asSentence(said.replace('Invalid input: expected record, received', 'it must be an object, and is an'));
  throw new HeddleError('invalid_config', `${path} of the agent ${name}: ${why}`, {
    hint: 'Write the hooks of an agent as in a settings file: {"PreToolUse": [{"hooks": [{"type": "command", "command": "..."}]}]}.',
    data: { path },
  });
}
