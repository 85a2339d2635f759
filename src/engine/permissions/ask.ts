import { ask, type Case, isPlainEdit } from './case.js';
import type { JudgedLine } from './decide-command.js';
import { accessesOf, outsideOf } from './judge-paths.js';
import type { Decision, PermissionPolicy } from './policy.js';
import { suggestForCommand, suggestForEdit, suggestForTool, suggestForWeb } from './suggest.js';

/** What a person is asked about a call that nothing allows, and what would spare the next question. */
export function askToChange(subject: Case): Decision {
  const { call, policy, line } = subject;
  if (line !== undefined) return askForLine(line, policy);
  const path = accessesOf(call, policy).find(({ access }) => access === 'write')?.path;
  const outside = outsideOf(call, policy, policy.roots);
  if (isPlainEdit(subject) && path !== undefined) {
    const place = outside ?? path;
    return {
      verdict: 'ask',
      reason: outside === undefined ? `Writing to ${place} needs approval` : OUTSIDE_WRITE,
      reasonType: outside === undefined ? 'other' : 'workingDir',
      ...(outside !== undefined && { blockedPath: place }),
      ...withSuggestions(suggestForEdit({ mode: policy.mode, path: place, addsDirectory: outside !== undefined })),
    };
  }
  if (call.changed === true) {
    const reason = `${call.tool} is not what it was when it was allowed: its definition has changed`;
    return { ...ask(reason), ...withSuggestions(suggestForTool(call.tool)) };
  }
  if (call.tool === 'WebFetch') return askForFetch(subject);
  return { ...ask(`${call.tool} requires approval`), ...withSuggestions(suggestForTool(call.tool)) };
}

const OUTSIDE_WRITE = 'Path to write is outside allowed working directories';

function askForLine(line: JudgedLine, { mode }: PermissionPolicy): Decision {
  const { refusal, open } = line.outcome();
  const reason = refusal?.reason ?? 'This command requires approval';
  const { path, isOutside } = refusal ?? {};
  const isEdit = path !== undefined && /^(?:Writing to|Path to write)/.test(reason);
  const updates = isEdit
    ? suggestForEdit({ mode, path, addsDirectory: isOutside === true })
    : suggestForCommand(line.reading, open);
  return {
    verdict: 'ask',
    reason,
    reasonType: isOutside === true ? 'workingDir' : 'other',
    ...(path !== undefined && { blockedPath: path }),
    ...withSuggestions(updates),
  };
}

function askForFetch({ web }: Case): Decision {
  const hosts = [...new Set(web.map(({ host }) => host))];
  const [first] = hosts;
  const reason = `Fetching from ${hosts.join(', then ')} requires approval`;
  return { ...ask(reason), ...(hosts.length === 1 && withSuggestions(suggestForWeb(first ?? ''))) };
}

export const withSuggestions = (suggestions: NonNullable<Decision['suggestions']>): Pick<Decision, 'suggestions'> =>
  suggestions.length === 0 ? {} : { suggestions };
