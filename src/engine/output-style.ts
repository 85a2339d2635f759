/** How answers are to sound: a style that settings name, from files or built in. */
import type { OutputStyle } from './definitions/definition.js';
import type { SettingsNotice } from './settings/notice.js';

export const DEFAULT_STYLE = 'default';

const define = (style: Pick<OutputStyle, 'name' | 'description' | 'prompt'>): OutputStyle => ({
  ...style,
  keepsDefault: true,
  origin: { scope: 'builtin' },
});

const BUILTIN: readonly OutputStyle[] = [
  define({
    name: 'Explanatory',
    description: 'Says why, beside what',
    prompt: `Explain as you go. Before and after you change something, say in two or three sentences why it is done this way
here: what the code base does elsewhere, what the choice costs, what else was possible. Explain what is particular to this
project rather than what any book says.`,
  }),
  define({
    name: 'Learning',
    description: 'Leaves small parts for the person to write',
    prompt: `The person wants to learn. Where a part of the work is small, interesting and a matter of judgement (5 to 10 lines:
a rule, an algorithm, an error case), prepare the place for it, mark it with TODO(human), say what it has to do and what to
think of, and wait for them to write it. Do the rest yourself, and explain what you do.`,
  }),
];

/** All styles by name; those of files count before those that are built in. */
export const stylesOf = (ofFiles: ReadonlyMap<string, OutputStyle>): ReadonlyMap<string, OutputStyle> =>
  new Map([...BUILTIN.map((style): [string, OutputStyle] => [style.name, style]), ...ofFiles]);

/** The style that settings name; undefined for the default one. A name that nobody knows is told. */
export function findStyle(
  name: string | undefined,
  styles: ReadonlyMap<string, OutputStyle>,
): { style?: OutputStyle; notices: SettingsNotice[] } {
  if (name === undefined || name === '' || name.toLowerCase() === DEFAULT_STYLE) return { notices: [] };
  const style = styles.get(name) ?? [...styles.values()].find((each) => each.name.toLowerCase() === name.toLowerCase());
  if (style !== undefined) return { style, notices: [] };
  const known = [DEFAULT_STYLE, ...styles.keys()].join(', ');
  return { notices: [{ level: 'warning', content: `There is no output style "${name}". Known are ${known}.` }] };
}
