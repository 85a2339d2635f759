/** The calls of a batch in one sentence, for a consumer that does not want to show each of them. */
import type { ToolUseBlock } from '../../protocol/index.js';
import { canonicalToolName } from '../../protocol/plain.js';
import { cutText } from './bound.js';

export interface FinishedCall {
  block: ToolUseBlock;
  isError: boolean;
}

const MAX_SUBJECT = 60;

/** What a tool did, and the field that says with what. */
const DEEDS: Readonly<Record<string, readonly [deed: string, field: string]>> = {
  Bash: ['ran', 'command'],
  Edit: ['edited', 'file_path'],
  Glob: ['looked for files', 'pattern'],
  Grep: ['searched for', 'pattern'],
  NotebookEdit: ['edited', 'notebook_path'],
  Read: ['read', 'file_path'],
  WebFetch: ['fetched', 'url'],
  WebSearch: ['searched the web for', 'query'],
  Write: ['wrote', 'file_path'],
};

/** Such as "Read a.ts and 2 more, ran npm test (1 of 4 failed)". */
export function summarizeCalls(calls: readonly FinishedCall[]): string {
  const deeds = new Map<string, string[]>();
  for (const { block } of calls) {
    const name = canonicalToolName(block.name);
    const [deed, field] = DEEDS[name] ?? [`used ${name}`, ''];
    const subjects = deeds.get(deed) ?? [];
    subjects.push(subjectOf(block.input[field]));
    deeds.set(deed, subjects);
  }
  const text = [...deeds].map(([deed, subjects]) => describe(deed, subjects)).join(', ');
  const failed = calls.filter(({ isError }) => isError).length;
  const note = failed === 0 ? '' : calls.length === 1 ? ' (failed)' : ` (${failed} of ${calls.length} failed)`;
  return text.charAt(0).toUpperCase() + text.slice(1) + note;
}

function describe(deed: string, [first = '', ...rest]: readonly string[]): string {
  if (first === '') return rest.length === 0 ? deed : `${deed} ${rest.length + 1} times`;
  return rest.length === 0 ? `${deed} ${first}` : `${deed} ${first} and ${rest.length} more`;
}

function subjectOf(value: unknown): string {
  if (typeof value !== 'string') return '';
  const line = value.replace(/\s+/g, ' ').trim();
  return line.length <= MAX_SUBJECT ? line : `${cutText(line, MAX_SUBJECT - 1)}…`;
}
