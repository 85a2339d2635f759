/** What the calls of a session may read outside of its working directories. Nothing here may be written. */
import type { SkillFile } from '../definitions/definition.js';
import type { SessionScope } from '../scope.js';
import { resolveReal } from '../workspace/files.js';
import { isInside } from './path.js';

const KNOWN = new WeakMap<ReadonlyMap<string, SkillFile>, readonly string[]>();

/** Links resolved: output that the session keeps, the folders of its skills, and the plugins it was given. */
export function readablePlacesOf({ kept, definitions, guard, config }: SessionScope): readonly string[] {
  return [
    ...(kept.folder === undefined ? [] : [kept.folder]),
    ...definitions.plugins.map(({ root }) => root),
    // Without slash commands there are no skills either.
    ...(config.disableSlashCommands ? [] : skillPlacesOf(definitions.skills, guard.settings.files.projectRoot)),
  ];
}

/** Where they were when they were loaded: a link that is put in the place of one later opens nothing. */
function skillPlacesOf(skills: ReadonlyMap<string, SkillFile>, projectRoot: string): readonly string[] {
  const known = KNOWN.get(skills);
  if (known !== undefined) return known;
  const project = realOf(projectRoot);
  const places = [...skills.values()].flatMap(({ folder, origin }) => {
    const real = realOf(folder);
    if (real === undefined) return [];
    // A project may make a link of its folder of skills; it says nothing about what is elsewhere.
    const isForeign = origin.scope === 'project' && (project === undefined || !isInside(project, real));
    return isForeign ? [] : [real];
  });
  KNOWN.set(skills, places);
  return places;
}

function realOf(place: string): string | undefined {
  try {
    return resolveReal(place);
  } catch {
    return undefined;
  }
}
