/** What settings files give to tell: each thing once, and again when it changes. */
import type { LoadedSettings } from './load.js';
import { describeProblem, type SettingsProblem } from './problem.js';
import { describeInert } from './project-keys.js';

export interface SettingsNotice {
  level: 'notice' | 'warning' | 'error';
  content: string;
}

export interface SettingsNews {
  /** What was not told yet. */
  take(loaded: LoadedSettings): SettingsNotice[];
}

/** A file that is wrong from end to end is told by its first problems. */
const MAX_PROBLEMS = 20;

export function createSettingsNews(): SettingsNews {
  let told: readonly SettingsProblem[] = [];
  let toldWaiting: string | undefined;

  return {
    take({ problems, inert, files }) {
      const known = new Set(told.map(identify));
      const fresh = problems.filter((problem) => !known.has(identify(problem)));
      const mended = describeMended(told, problems);
      told = problems;
      const waiting = describeInert(inert, files.projectRoot);
      const isNew = waiting !== undefined && waiting !== toldWaiting;
      toldWaiting = waiting;
      return [...describeFresh(fresh), ...mended, ...(isNew ? [{ level: 'notice' as const, content: waiting }] : [])];
    },
  };
}

/** A problem that moved to another line is no other problem. */
const identify = ({ file, path, text }: SettingsProblem): string => JSON.stringify([file, path, text]);

function describeFresh(problems: readonly SettingsProblem[]): SettingsNotice[] {
  const shown = problems.slice(0, MAX_PROBLEMS).map((problem): SettingsNotice => {
    // A session does not open on such a file, so this one broke later.
    const effect = problem.fatal ? '. Until it is mended, the file counts as it last was' : '';
    return { level: problem.severity, content: `${describeProblem(problem)}${effect}` };
  });
  const rest = problems.length - shown.length;
  if (rest === 0) return shown;
  const content = `There are ${rest} more problems in settings files. To see all: heddle permissions list`;
  return [...shown, { level: 'warning', content }];
}

function describeMended(before: readonly SettingsProblem[], now: readonly SettingsProblem[]): SettingsNotice[] {
  const has = (problems: readonly SettingsProblem[], file: string, isFatal: boolean): boolean =>
    problems.some((problem) => problem.file === file && (problem.fatal || !isFatal));
  return [...new Set(before.map(({ file }) => file))].flatMap((file): SettingsNotice[] => {
    if (has(before, file, true) && !has(now, file, true)) {
      return [{ level: 'notice', content: `${file} is mended, and counts as it is now` }];
    }
    return has(now, file, false) ? [] : [{ level: 'notice', content: `${file} has no problems any more` }];
  });
}
