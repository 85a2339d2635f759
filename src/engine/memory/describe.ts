/** Files of instructions as the model and the hooks are told of them. */
import type { HookFields } from '../hooks/registry.js';
import { remind } from '../compaction/remind.js';
import type { MemoryScope } from './find.js';
import type { MemoryFile } from './reader.js';

const WHOSE: Readonly<Record<MemoryScope, string>> = {
  managed: 'policy of the organisation',
  user: "the user's, for every project",
  project: "the project's",
  local: "the user's, for this project",
};

const INTRODUCTION =
  'Instructions that people keep in files, the general ones first. Follow them where they apply to the task. Where they ' +
  'disagree, the later one counts, policy always, and what the user says in the conversation before other files.';

/** For the first message; undefined when there is nothing to tell. Tags in the files cannot end the reminder. */
export const describeMemory = (files: readonly MemoryFile[]): string | undefined => describe(INTRODUCTION, files);

/** For the result of the call that touched a folder with instructions of its own. */
export const describeNested = (files: readonly MemoryFile[]): string | undefined =>
  describe('Instructions for files below the folders that they stand in:', files);

function describe(introduction: string, files: readonly MemoryFile[]): string | undefined {
  if (files.length === 0) return undefined;
  return remind([introduction, ...files.map(describeFile)].join('\n\n')).text;
}

function describeFile({ path, scope, importedBy, content }: MemoryFile): string {
  const origin = importedBy === undefined ? WHOSE[scope] : `${WHOSE[scope]}, imported by ${importedBy}`;
  return `# ${path} (${origin})\n\n${content.trim()}`;
}

const TYPES: Readonly<Record<MemoryScope, string>> = {
  managed: 'Managed',
  user: 'User',
  project: 'Project',
  local: 'Local',
};

export interface LoadReason {
  /** `nested_traversal`: a tool touched a file of that folder. */
  reason: 'session_start' | 'nested_traversal' | 'compact';
  /** The touched file. */
  trigger?: string;
}

/** What the InstructionsLoaded hooks are told, once for each file. */
export const toInstructionsLoaded = (
  { path, scope, importedBy }: MemoryFile,
  { reason, trigger }: LoadReason,
): HookFields<'InstructionsLoaded'> => ({
  file_path: path,
  memory_type: TYPES[scope],
  load_reason: importedBy === undefined ? reason : 'include',
  ...(trigger !== undefined && { trigger_file_path: trigger }),
  ...(importedBy !== undefined && { parent_file_path: importedBy }),
});
