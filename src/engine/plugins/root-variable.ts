/** `${CLAUDE_PLUGIN_ROOT}`: the folder of the plugin, in what it runs. */

const BRACED = '${CLAUDE_PLUGIN_ROOT}';
const WRITTEN = /\$\{CLAUDE_PLUGIN_ROOT\}|\$CLAUDE_PLUGIN_ROOT(?![A-Za-z0-9_])/y;

/** Nothing but blanks in it means something to a shell, in whatever quotes. */
const HARMLESS = /^[\p{L}\p{N}\p{M} _./+:@%,=~-]+$/u;

export const isHarmlessToShells = (root: string): boolean => HARMLESS.test(root);

/** For a line that a shell reads. `root` is harmless; where no quotes protect it, its blanks are. */
export function expandCommand(command: string, root: string): string {
  let quote = '';
  let text = '';
  for (let at = 0; at < command.length; ) {
    WRITTEN.lastIndex = at;
    const [found] = WRITTEN.exec(command) ?? [];
    const letter = command[at] ?? '';
    if (found !== undefined) text += quote === '' ? root.replaceAll(' ', '\\ ') : root;
    else if (letter === '\\' && quote !== "'") text += command.slice(at, at + 2);
    else {
      text += letter;
      if (letter === quote) quote = '';
      else if (quote === '' && (letter === '"' || letter === "'")) quote = letter;
    }
    at += found?.length ?? (letter === '\\' && quote !== "'" ? 2 : 1);
  }
  return text;
}

/** For values that go to a program as they are, however deep they stand. */
export function expandValue(value: unknown, root: string): unknown {
  if (typeof value === 'string') return value.replaceAll(BRACED, () => root);
  if (Array.isArray(value)) return value.map((each) => expandValue(each, root));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, expandValue(each, root)]));
}

/** The files of the plugin that a text speaks of, as paths below its root. What a shell would still change is left out. */
export const namedFiles = (text: string): string[] =>
  [...text.matchAll(/\$\{CLAUDE_PLUGIN_ROOT\}"?\/([\w.@+/-]+)|\$CLAUDE_PLUGIN_ROOT"?\/([\w.@+/-]+)/g)].map(
    ([, braced, bare]) => braced ?? bare ?? '',
  );
