import type { ContextUsage } from '../../protocol/index.js';
import { compactAt } from '../limits.js';
import { systemPrompt } from '../prompt.js';
import type { SessionScope } from '../scope.js';
import { startTally } from '../tally.js';
import { contextUsage } from './usage.js';

/** What the next model call of a session is made of. */
export function usageOf(scope: SessionScope): ContextUsage {
  const { state, catalog, config, recorder, memory, commands } = scope;
  const { model, betas } = state.model;
  const tally = startTally(scope);
  const hasSkills = state.tools.names.includes('Skill');
  const skills = hasSkills
    ? commands
        .describeSkills()
        .split('\n')
        .filter((line) => line !== '')
    : [];
  // Before the first turn nobody has been told anything.
  const isTold = recorder.log.entries.some((entry) => entry.type === 'user');
  return contextUsage({
    model,
    window: catalog.contextWindow(model, [...(config.betas ?? []), ...betas]),
    compactAt: compactAt(scope, tally),
    system: systemPrompt(config, scope.style),
    tools: state.tools.params,
    entries: recorder.log.entries,
    ...(isTold && {
      memory: [...memory.files, ...memory.nested].map(({ path, scope: source, content }) => ({
        name: path,
        source,
        text: content,
      })),
      skills: skills.map((line) => ({
        name: /^- ([^:\s]+(?::[^:\s]+)*)/.exec(line)?.[1] ?? line,
        source: 'file',
        text: line,
      })),
    }),
  });
}
