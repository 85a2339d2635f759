import { basename } from 'node:path/posix';
import { hasHole, isFree } from './hole.js';
import type { Redirection, Segment } from './reading.js';

/** Programs whose first operand is a file that they run. */
const RUNS_FILE =
  /^(?:source|\.|sh|bash|dash|ash|ksh|zsh|fish|python[\d.]*|node|nodejs|deno|bun|perl|ruby|php|lua|make|expect|tclsh|Rscript|osascript)$/;
/** Programs that put a file where their last operand says. */
const PUTS_FILE = /^(?:tee|cp|mv|install|ln|dd|curl|wget|patch|sed)$/;

/** True when a line may run a file that it makes or changes itself: what is in it was not there to be judged. */
export function runsWhatItWrites(segments: readonly Segment[], redirections: readonly Redirection[]): boolean {
  const run = segments.flatMap(fileRunBy);
  if (run.length === 0) return false;
  const written = [
    ...redirections.flatMap(({ writes, target }) => (writes ? [target?.value ?? ''] : [])),
    ...segments.flatMap(({ words }) =>
      PUTS_FILE.test(basename(words[0]?.value ?? ''))
        ? words.slice(1).map(({ value }) => value.replace(/^(?:of|-o)=?/, ''))
        : [],
    ),
  ];
  return written.some((path) => run.some((file) => mayBeSame(path, file)));
}

function fileRunBy({ words, role }: Segment): string[] {
  const [name = '', ...args] = words.map(({ value }) => value);
  if (role === 'wrapper' || role === 'remote') return [];
  if (name.includes('/') && !/^\/(?:usr\/)?(?:local\/)?s?bin\//.test(name)) return [name];
  if (!RUNS_FILE.test(basename(name))) return [];
  return args.filter((arg) => !arg.startsWith('-')).slice(0, 1);
}

/** By their last names alone: folders may have been changed in between. */
function mayBeSame(path: string, file: string): boolean {
  if (isFree(path) || isFree(file)) return true;
  const [one, other] = [basename(path), basename(file)];
  return hasHole(one) || hasHole(other) || one === other;
}
