/** Skills that an agent knows from the start: they come as if it had called them before it is told anything. */
import type { SkillInput } from '../../protocol/index.js';
import type { Agent, SkillFile } from '../definitions/definition.js';
import { expandCommand } from '../definitions/expand.js';
import { withNamespace } from '../definitions/source.js';
import { toReminder } from '../reminder.js';
import type { SessionScope } from '../scope.js';
import { runCall } from '../tools/pipeline.js';
import { createSkillTool } from '../tools/skill.js';
import { grantForTurn } from './expand-call.js';
import type { KnownSkills } from './skill-calls.js';
import { runShellLine, textOf } from './shell-line.js';

/**
 * Each is judged, asked about and seen by hooks as a call of the Skill tool would be, whether or not the agent has that tool,
 * and what it runs is judged, too. One that cannot be had is told of and left out. Never throws.
 */
export async function tellKnownSkills(
  scope: SessionScope,
  agent: Pick<Agent, 'name' | 'skills' | 'origin'>,
  signal: AbortSignal,
): Promise<KnownSkills> {
  const known: KnownSkills = { texts: [], interrupt: false };
  const warn = (content: string): void => {
    const ids = { uuid: scope.clock.uuid(), session_id: scope.id };
    scope.recorder.emit({ type: 'system', subtype: 'informational', level: 'warning', content, ...ids });
  };
  for (const name of new Set(agent.skills)) {
    const { skills } = scope.definitions;
    // An agent of a plugin means what comes with it before it means others.
    const found = skills.get(withNamespace(agent.origin, name)) ?? skills.get(name);
    const file = scope.config.disableSlashCommands ? undefined : found;
    if (file === undefined) {
      warn(`The agent ${agent.name} wants the skill ${name}, which is not there.`);
      continue;
    }
    const { content, isError, interrupt } = await callSkill(scope, file, signal);
    if (!isError) known.texts.push(toReminder(`The skill ${name}:\n\n${textOf(content)}`));
    else warn(`The agent ${agent.name} does not get the skill ${name}: ${textOf(content)}`);
    if (interrupt !== true) continue;
    known.interrupt = true;
    break;
  }
  return known;
}

function callSkill(scope: SessionScope, file: SkillFile, signal: AbortSignal) {
  const tool = createSkillTool({
    skills: {
      isOffered: true,
      nameOf: (written) => written,
      grants: () => file.allowedTools.length > 0,
      call: (_, options) => expand(scope, file, options.signal),
    },
  });
  const input: SkillInput = { skill: file.name };
  const id = `toolu_${scope.clock.uuid().replaceAll('-', '')}`;
  return runCall(
    scope,
    { block: { type: 'tool_use', id, name: tool.name, input: { ...input } }, life: 'new' },
    { signal, mayRun: () => Promise.resolve(), tool },
  );
}

/** Where it is to run when it is called does not matter: it is known, and not called. */
async function expand(scope: SessionScope, file: SkillFile, signal: AbortSignal) {
  if (!file.modelMayCall) throw new Error(`Only the user may call "${file.name}".`);
  const before = scope.state.turnRules;
  let interrupt = false;
  grantForTurn(scope, file.allowedTools);
  const expansion = await expandCommand({
    command: file,
    args: '',
    sessionId: scope.id,
    runShell: (line) => runShellLine(scope, { line, onInterrupt: () => void (interrupt = true) }, signal),
  });
  if (expansion.ok) return { content: expansion.body };
  scope.state.turnRules = before;
  return { content: expansion.reason, isError: true, interrupt };
}
