/** Where two JSON values part. Pure. */

export interface Difference {
  /** `body.messages[2].content[0].text` */
  path: string;
  /** Both values, shortened; `(absent)` where there is none. */
  recorded: string;
  asked: string;
  /** In how many places the two differ. */
  count: number;
}

const ABSENT = Symbol('absent');
const WIDTH = 120;
/** How much of two long texts is shown before the place where they part. */
const LEAD = 40;

interface Place {
  path: string;
  recorded: unknown;
  asked: unknown;
}

/** The first place where the values part, in the order of the recorded one; undefined when they are equal. */
export function findDifference(recorded: unknown, asked: unknown): Difference | undefined {
  const [first, ...others] = differences({ path: '', recorded, asked });
  if (first === undefined) return undefined;
  const start = commonStart(first.recorded, first.asked);
  return {
    path: first.path === '' ? '(the whole)' : first.path,
    recorded: show(first.recorded, start),
    asked: show(first.asked, start),
    count: 1 + others.length,
  };
}

/** How far two values are apart: the number of values in which they differ. */
export function distance(recorded: unknown, asked: unknown): number {
  return differences({ path: '', recorded, asked }).reduce(
    (sum, place) => sum + Math.max(leavesOf(place.recorded), leavesOf(place.asked)),
    0,
  );
}

function differences({ path, recorded, asked }: Place): Place[] {
  if (Array.isArray(recorded) && Array.isArray(asked)) {
    const length = Math.max(recorded.length, asked.length);
    return Array.from({ length }, (_, at) => ({
      path: `${path}[${at}]`,
      recorded: at < recorded.length ? recorded[at] : ABSENT,
      asked: at < asked.length ? asked[at] : ABSENT,
    })).flatMap(differences);
  }
  if (isRecord(recorded) && isRecord(asked)) {
    const keys = new Set([...Object.keys(recorded), ...Object.keys(asked)]);
    return [...keys].toSorted().flatMap((key) =>
      differences({
        path: joinPath(path, key),
        recorded: Object.hasOwn(recorded, key) ? recorded[key] : ABSENT,
        asked: Object.hasOwn(asked, key) ? asked[key] : ABSENT,
      }),
    );
  }
  return Object.is(recorded, asked) ? [] : [{ path, recorded, asked }];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function joinPath(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}

function leavesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, part) => sum + leavesOf(part), 1);
}

/** How many characters two texts have in common at their start; 0 for anything else. */
function commonStart(a: unknown, b: unknown): number {
  if (typeof a !== 'string' || typeof b !== 'string') return 0;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

function show(value: unknown, start: number): string {
  if (value === ABSENT) return '(absent)';
  if (typeof value !== 'string') return cut(JSON.stringify(value) ?? 'undefined', 0);
  const from = value.length <= WIDTH ? 0 : Math.max(0, start - LEAD);
  return cut(JSON.stringify(value.slice(from, from + 2 * WIDTH)), from);
}

const cut = (text: string, from: number): string =>
  `${from > 0 ? '…' : ''}${text.length > WIDTH ? `${text.slice(0, WIDTH)}…` : text}`;
