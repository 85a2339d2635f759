const MAX_ITEMS = 64;

/** The texts that `{a,b}` or `{1..3}` stands for; undefined when they cannot be told for certain. */
export function expandBraces(text: string): string[] | undefined {
  if (/["'\\$`]/.test(text)) return undefined;
  const inner = text.slice(1, -1);
  const items = splitItems(inner);
  if (items.length === 1) return expandSequence(inner);
  const all = items.flatMap((item) => expandItem(item) ?? [undefined]);
  return all.length > MAX_ITEMS || all.includes(undefined) ? undefined : (all as string[]);
}

/** An item may hold braces itself, with text around them. */
function expandItem(item: string): string[] | undefined {
  const open = item.indexOf('{');
  if (open === -1) return item.includes('}') ? undefined : [item];
  const close = closing(item, open);
  if (close === -1) return undefined;
  const middle = expandBraces(item.slice(open, close + 1));
  const rest = expandItem(item.slice(close + 1));
  if (middle === undefined || rest === undefined || middle.length * rest.length > MAX_ITEMS) return undefined;
  return middle.flatMap((text) => rest.map((end) => item.slice(0, open) + text + end));
}

function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

function splitItems(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    else if (text[at] === '}') depth -= 1;
    else if (text[at] === ',' && depth === 0) {
      items.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...items, text.slice(start)];
}

function expandSequence(text: string): string[] | undefined {
  const numbers = /^(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?$/.exec(text);
  if (numbers) {
    const [from = '', to = ''] = numbers.slice(1);
    const width = /^-?0\d/.test(from) || /^-?0\d/.test(to) ? Math.max(from.length, to.length) : 0;
    return count(Number(from), Number(to), Number(numbers[3] ?? 1))?.map((number) =>
      number < 0 ? `-${String(-number).padStart(width - 1, '0')}` : String(number).padStart(width, '0'),
    );
  }
  const letters = /^([a-z])\.\.([a-z])$|^([A-Z])\.\.([A-Z])$/.exec(text);
  if (!letters) return undefined;
  const [from = '', to = ''] = letters.slice(1).filter((letter) => letter !== undefined);
  return count(from.charCodeAt(0), to.charCodeAt(0), 1)?.map((code) => String.fromCharCode(code));
}

function count(from: number, to: number, step: number): number[] | undefined {
  const by = Math.abs(step) || 1;
  const length = Math.floor(Math.abs(to - from) / by) + 1;
  if (length > MAX_ITEMS) return undefined;
  return Array.from({ length }, (_, index) => from + index * by * (to < from ? -1 : 1));
}
