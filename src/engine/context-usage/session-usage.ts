import type { ContextUsage } from '../../protocol/index.js';
import { compactAt } from '../limits.js';
import { toldPaths } from '../memory/open.js';
import type { MemoryFile } from '../memory/reader.js';
import { systemPrompt } from '../prompt.js';
import type { SessionScope } from '../scope.js';
import { startTally } from '../tally.js';
import { contextUsage } from './usage.js';

/** What the next model call of a session is made of; before the first prompt with what that will bring along. */
export async function usageOf(scope: SessionScope): Promise<ContextUsage> {
  const { state, catalog, config, recorder, commands, agents } = scope;
  const { model, betas } = state.model;
  const tally = startTally(scope);
  const hasSkills = state.tools.names.includes('Skill') && agents.permits('Skill');
  const skills = hasSkills
    ? commands
        .describeSkills()
        .split('\n')
        .filter((line) => line !== '')
    : [];
  const files = await memoryOf(scope);
  return contextUsage({
    model,
    window: catalog.contextWindow(model, [...(config.betas ?? []), ...betas]),
    compactAt: compactAt(scope, tally),
    system: systemPrompt(config, scope.style),
    tools: state.tools.params,
    entries: recorder.log.entries,
    memory: files.map(({ path, scope: source, content }) => ({ name: path, source, text: content })),
    skills: skills.map((line) => ({
      name: /^- ([^:\s]+(?::[^:\s]+)*)/.exec(line)?.[1] ?? line,
      source: 'file',
      text: line,
    })),
  });
}

/** What the model was told of, or will be with the first prompt. */
async function memoryOf({ memory, recorder }: SessionScope): Promise<readonly MemoryFile[]> {
  const { entries } = recorder.log;
  const isTold = entries.some((entry) => entry.type === 'user');
  if (!isTold) return memory.look();
  if (memory.files.length + memory.nested.length > 0) return [...memory.files, ...memory.nested];
  // Another process has told it, and the log says what.
  const told = new Set(toldPaths(entries));
  return told.size === 0 ? [] : (await memory.look()).filter(({ real }) => told.has(real));
}
