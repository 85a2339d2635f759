/** Rows of text in columns, fitted to the terminal. */

export interface Column {
  title: string;
  /** Takes what the others leave, and is cut where that is too little. */
  flexible?: boolean;
  right?: boolean;
}

const GAP = 2;
const MIN_FLEXIBLE = 12;

/** `width` is that of the terminal; undefined: nothing is cut. Cells must be safe to print, and on one line. */
export function toTable(columns: readonly Column[], rows: readonly string[][], width: number | undefined): string {
  const all = [columns.map(({ title }) => title), ...rows];
  const natural = columns.map((_, at) => all.reduce((widest, row) => Math.max(widest, widthOf(row[at] ?? '')), 0));
  const widths = width === undefined ? natural : fitWidths(columns, natural, width);
  return all.map((row) => `${toRow(columns, row, widths)}\n`).join('');
}

function toRow(columns: readonly Column[], row: readonly string[], widths: readonly number[]): string {
  const cells = columns.map(({ right }, at) => {
    const space = widths[at] ?? 0;
    const cell = cutTo(row[at] ?? '', space);
    const blanks = ' '.repeat(space - widthOf(cell));
    return right ? blanks + cell : cell + blanks;
  });
  return cells.join(' '.repeat(GAP)).trimEnd();
}

/** The widest flexible column gives first. */
function fitWidths(columns: readonly Column[], natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  const total = () => widths.reduce((sum, each) => sum + each, GAP * (columns.length - 1));
  const flexible = columns.flatMap((column, at) => (column.flexible ? [at] : []));
  for (let over = total() - width; over > 0; over = total() - width) {
    const widest = flexible.toSorted((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0];
    const now = widest === undefined ? 0 : (widths[widest] ?? 0);
    if (widest === undefined || now <= MIN_FLEXIBLE) break;
    const next = Math.max(MIN_FLEXIBLE, ...flexible.filter((at) => at !== widest).map((at) => widths[at] ?? 0));
    const least = next < now ? Math.max(next, now - over) : now - 1;
    widths[widest] = Math.max(MIN_FLEXIBLE, least);
  }
  return widths;
}

const letters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const PLAIN = /^[\x20-\x7e]*$/;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]|\uFE0F/u;

/** Columns of a terminal that a text takes. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of letters.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let cut = '';
  let used = 0;
  for (const { segment } of letters.segment(text)) {
    used += widthOf(segment);
    if (used > width - 1) break;
    cut += segment;
  }
  return `${cut}…`;
}

const UNITS = ['B', 'KB', 'MB', 'GB'];

export function describeSize(bytes: number): string {
  const unit = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)));
  const value = bytes / 1024 ** unit;
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago, for the last weeks; then the day. */
export function describeAge(time: number, now: number): string {
  const age = now - time;
  if (age < MINUTE) return 'now';
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`;
  if (age < DAY) return `${Math.floor(age / HOUR)} h ago`;
  if (age < 14 * DAY) return `${Math.floor(age / DAY)} d ago`;
  return new Date(time).toISOString().slice(0, 10);
}
