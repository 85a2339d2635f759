/** A skill that runs in an agent, called by the model. */
import { toEndOutput, wholeText } from '../agents/end-output.js';
import type { SessionScope } from '../scope.js';
import type { EngineOutput } from '../tools/engine-output.js';
import { type ForkedCall, forkSkill } from './fork-skill.js';

export async function callForked(scope: SessionScope, call: ForkedCall, signal: AbortSignal): Promise<EngineOutput> {
  const { file } = call;
  const end = await forkSkill(scope, call, signal);
  if (end.kind === 'denied') {
    const content = `The skill "${file.name}" was not run: ${end.message}`;
    return { content, isError: true, interrupt: end.interrupt };
  }
  const { agentId, outcome } = end;
  const told = toEndOutput(agentId, outcome, { mayResume: scope.agents.tree.store !== undefined });
  if (outcome.status !== 'completed') return told;
  const structured = { success: true, commandName: file.name, status: 'forked', agentId, result: wholeText(outcome) };
  return { ...told, structured };
}
