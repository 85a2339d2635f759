/** Who still works in the work tree of an agent that is over. */
import { dirname } from 'node:path';
import { isInside } from '../permissions/path.js';
import type { SessionScope } from '../scope.js';
import type { Task } from '../tasks.js';
import type { AgentTree } from './session-agents.js';
import type { Git } from './worktree-git.js';

export interface WorktreeUsersParts {
  path: string;
  /** The agent whose tree it is. */
  id: string;
  agents: AgentTree;
  run: Git;
}

/** In words; undefined when there is nobody. What is being stopped is waited for. Never rejects. */
export async function findUsers({ tasks }: SessionScope, parts: WorktreeUsersParts): Promise<string | undefined> {
  const { path, id, agents, run } = parts;
  const agentsInside = (): string[] =>
    [...agents.roots].flatMap(([each, roots]) =>
      each !== id && roots().some((root) => isInside(path, root)) ? [each] : [],
    );
  const commandsInside = (): Task[] => tasks.running.filter(({ cwd }) => cwd !== undefined && isInside(path, cwd));
  const ids = new Set([...agentsInside(), ...commandsInside().map((task) => task.id)]);
  await Promise.all(tasks.running.filter((task) => ids.has(task.id) && task.isStopping).map(({ over }) => over));
  const users = [...agentsInside().map((each) => `the agent ${each}`), ...commandsInside().map(describeCommand)];
  if (users.length > 0) return users.join(', ');
  return (await hasProcesses(run, path)) ? 'a process that was left running' : undefined;
}

const describeCommand = ({ id, description }: Task): string => `the background command ${id} (${description})`;

/** Where each process of this machine is. Where that cannot be told, nothing is said. */
const PLACES = 'if [ -d /proc/self ]; then readlink /proc/[0-9]*/cwd; else lsof -w -a -d cwd -Fn; fi 2>/dev/null; true';

async function hasProcesses(run: Git, path: string): Promise<boolean> {
  const found = await run(dirname(path), [PLACES], { wants: (line) => isInside(path, line.replace(/^n(?=\/)/, '')) });
  return found.out !== '';
}
