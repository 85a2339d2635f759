/** The skills that the model may call by itself, where the caller has named them. Pure. */
import type { SessionConfig } from '../../protocol/index.js';
import type { CommandFile, DefinitionProblem, Definitions } from '../definitions/definition.js';
import type { SettingsNotice } from '../settings/notice.js';
import { findProblem, strongest } from './index-commands.js';

export type ChosenSkills = SessionConfig['skills'];

export const isChosen = (chosen: ChosenSkills, { name }: Pick<CommandFile, 'name'>): boolean =>
  chosen === undefined || chosen === 'all' || chosen.includes(name);

/** What a client wants of what may be had: it may only name fewer. */
export function limitSkills(set: ChosenSkills, wanted: NonNullable<ChosenSkills>): NonNullable<ChosenSkills> {
  if (set === undefined || set === 'all') return wanted;
  return wanted === 'all' ? set : wanted.filter((name) => set.includes(name));
}

type Known = Pick<Definitions, 'commands' | 'skills'> & { problems: readonly DefinitionProblem[] };

/** What was named and cannot be called. */
export function noticesOfSkills(chosen: ChosenSkills, known: Known): SettingsNotice[] {
  if (!Array.isArray(chosen) || chosen.length === 0) return [];
  const files = new Map(strongest(known).map((file) => [file.name, file]));
  return [...new Set(chosen)].flatMap((name): SettingsNotice[] => {
    const file = files.get(name);
    if (file?.modelMayCall === true) return [];
    const content =
      file === undefined
        ? `skills: there is no skill "${name}". ${findProblem(known.problems, name) ?? ''}`.trim()
        : `skills: only a person may call "${name}".`;
    return [{ level: 'warning', content }];
  });
}
