/** The skills of a session or an agent, for its model. */
import type { SessionDefinitions } from '../definitions/open.js';
import type { SessionScope } from '../scope.js';
import type { Commands } from './commands.js';
import type { SkillCalls } from './skill-calls.js';

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

/** The text of a skill for an agent that knows it from the start; nothing in it is run. Undefined when it cannot be had. */
export async function textOfSkill({ skills }: SessionDefinitions, name: string): Promise<string | undefined> {
  const file = skills.get(name)?.origin.file;
  if (file === undefined) return undefined;
  const { readBody } = await import('../definitions/definition-text.js');
  try {
    return `Its files are in ${skills.get(name)?.folder}\n\n${readBody(file).trim()}`;
  } catch {
    return undefined;
  }
}
