/** Patterns as names of a disk are held against them. */
import { foldNames } from '../path.js';
import { matchesName, type PathPattern, type Step } from './path-pattern.js';

/** False when the pattern ends with another name than this one. */
export function endsAs({ steps, anchor }: PathPattern, name: string): boolean {
  const last = steps.at(-1);
  if (steps.length === 0) return anchor === '/' || anchor.endsWith(`/${name}`);
  return last === undefined || matchesName(last, name);
}

/** The pattern as it is where letter case does not matter, nor other forms of a letter. */
export const foldPattern = (pattern: PathPattern): PathPattern => ({
  ...pattern,
  anchor: foldNames(pattern.anchor),
  steps: pattern.steps.map(foldStep),
});

function foldStep(step: Step): Step {
  if (step === undefined) return undefined;
  if ('name' in step) return { name: foldNames(step.name) };
  // Of some letters any letter is made, which matches more.
  return {
    tokens: step.tokens.map((token) =>
      token.kind === 'text' ? { ...token, text: foldNames(token.text) } : { kind: token.kind },
    ),
  };
}
