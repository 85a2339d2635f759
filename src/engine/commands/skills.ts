/** The skills of a session or an agent, for its model. */
import type { Agent } from '../definitions/definition.js';
import type { SessionScope } from '../scope.js';
import type { Commands } from './commands.js';
import type { KnownSkills, SkillCalls } from './skill-calls.js';

/** `scope` is asked for when something is called. */
export const createSkillCalls = (commands: Commands, scope: () => SessionScope): SkillCalls => ({
  get isOffered() {
    return commands.mayHaveSkills;
  },
  nameOf: (written) => written.trim().replace(/^\//, ''),
  grants(name) {
    const found = commands.findSkill(name);
    return 'file' in found && found.file.allowedTools.length > 0;
  },
  async call({ name, args }, { signal, toolUseId }) {
    const found = commands.findSkill(name);
    if ('refusal' in found) throw new Error(found.refusal);
    const { file } = found;
    const session = scope();
    const [{ expandCommand }, { runShellLine }, { grantForTurn }] = await Promise.all([
      import('../definitions/expand.js'),
      import('./shell-line.js'),
      import('./expand-call.js'),
    ]);
    const before = session.state.turnRules;
    let interrupt = false;
    const onInterrupt = (): void => {
      interrupt = true;
    };
    grantForTurn(session, file.allowedTools);
    const expansion = await expandCommand({
      command: file,
      args,
      sessionId: session.id,
      runShell: (line) => runShellLine(session, { line, onInterrupt }, signal),
    });
    if (!expansion.ok) {
      session.state.turnRules = before;
      return { content: expansion.reason, isError: true, interrupt };
    }
    if ('fork' in file && file.fork !== undefined) {
      // What it allows counts in its agent alone.
      session.state.turnRules = before;
      const { callForked } = await import('./call-forked.js');
      return callForked(session, { file: { ...file, fork: file.fork }, prompt: expansion.body, toolUseId }, signal);
    }
    return {
      content: `Launching skill: ${file.name}\n\n${expansion.body}`,
      structured: { success: true, commandName: file.name },
    };
  },
});

/** The skills that an agent knows from the start. Never throws. */
export async function knownSkills(
  scope: SessionScope,
  agent: Pick<Agent, 'name' | 'skills' | 'origin'>,
  signal: AbortSignal,
): Promise<KnownSkills> {
  if ((agent.skills ?? []).length === 0) return { texts: [], interrupt: false };
  return (await import('./known-skills.js')).tellKnownSkills(scope, agent, signal);
}
