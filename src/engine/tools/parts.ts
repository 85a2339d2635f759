import type { SessionAgents } from '../agents/session-agents.js';
import type { CallAside } from '../aside-call.js';
import type { SkillCalls } from '../commands/skill-calls.js';
import type { Lists } from '../lists.js';
import type { PlanMode } from '../plan/plan-mode.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import type { ListedTask } from '../sessions/entry.js';
import type { OutputFile } from '../sessions/kept-output.js';
import type { LoadedSettings } from '../settings/load.js';
import type { Tasks } from '../tasks.js';

/** What the tools of one session reach beyond their ToolContext. */
export interface ToolParts {
  tasks: Tasks;
  lists: Lists;
  agents: SessionAgents;
  skills: SkillCalls;
  /** That of the main thread: agents have no plan of their own. */
  plan: PlanMode;
  /** Tells hooks of a task that is about to be added or done; gives the reason if they do not want it. */
  refuseTask?: (
    event: 'TaskCreated' | 'TaskCompleted',
    task: ListedTask,
    signal: AbortSignal,
  ) => Promise<string | undefined>;
  /** Where commands run, if settings ask for one. */
  sandbox?: Sandbox | undefined;
  /** Opens a file for the output of a task. */
  openOutput: (name: string) => OutputFile;
  /** Asks a model beside the conversation. */
  callAside: CallAside;
  /** The settings in force, and the file of the user, which alone is written. */
  settings: () => LoadedSettings;
  /** The environment of the session: which search service, which private hosts. */
  env: Readonly<Record<string, string>>;
  /** Whether the provider has a web search of its own. */
  providerSearches: boolean;
}
