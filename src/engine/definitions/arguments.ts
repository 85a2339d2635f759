/** The arguments of a call, as words, and as they may stand in a shell line. */

/** Words between blanks; `"two words"` and `'two words'` are one. */
export function splitArguments(args: string): string[] {
  return [...args.matchAll(/"([^"]*)"(?=\s|$)|'([^']*)'(?=\s|$)|\S+/g)].map(
    ([whole, one, other]) => one ?? other ?? whole,
  );
}

export interface ShellValues {
  /** What `$ARGUMENTS` stands for. */
  args: string;
  words: readonly string[];
  /** What `${NAME}` stands for. */
  places: Readonly<Record<string, string | undefined>>;
}

export type FilledLine = { line: string; usesArguments: boolean } | { fault: string };

const PLACEHOLDER = /\$ARGUMENTS\b|\$[1-9](?!\d)|\$\{\w+\}/y;
/** Characters that mean nothing to a shell, wherever they stand. */
const HARMLESS = /^[\w./:@%+=,-]*$/;
const HARMLESS_WORDS = /^[\w./:@%+=, -]*$/;
const INVOLVING = [
  // Where quotes protect nothing, or other things than they seem to: substitutions, here-documents, comments, arithmetic.
  /\$\(|`|<<|[<>]\(|\$'|\$"|\(\(|\[\[|(?:^|[\s;&|(])#/,
  // What another shell or interpreter reads once more: programs in an argument, and what is piped into one.
  /\b(?:eval|let|declare|typeset|export|source|trap|ssh|xargs|watch|parallel)\b|\s-\w*[ce]\b|\s--(?:eval|print|command)\b/,
  /\b(?:[gmn]?awk|g?sed|perl|ed|ex|vim?|dc|bc|m4|sqlite3|psql|mysql|tclsh|expect|osascript)\b/,
  /\|&?[^|;&]*\b(?:(?:ba|z|da|k|c|tc|fi)?sh|python[\d.]*|node|deno|bun|ruby|php|lua|make|at|batch|crontab)\b/,
];
const INVOLVED = new RegExp(INVOLVING.map(({ source }) => source).join('|'));

/**
 * Puts arguments into a shell line as words and nothing but words: the shell never runs what they hold, and programs that are
 * known to run what they are given get none but harmless ones. As in a shell, `$1` within single quotes is not an argument
 * (`awk '{print $1}'`).
 */
export function fillShellLine(line: string, values: ShellValues): FilledLine {
  let filled = '';
  let quote: '' | '"' | "'" = '';
  let usesArguments = false;
  for (let at = 0; at < line.length; at += 1) {
    const char = line.charAt(at);
    PLACEHOLDER.lastIndex = at;
    const name = char === '$' ? PLACEHOLDER.exec(line)?.[0] : undefined;
    const value = name === undefined ? undefined : valueOf(name, values);
    const isOfShell = quote === "'" && name !== undefined && /\d$/.test(name);
    if (name !== undefined && value !== undefined && !isOfShell) {
      usesArguments ||= !name.startsWith('${');
      const isHarmless =
        value.words.every((word) => HARMLESS.test(word)) && (quote === '' || HARMLESS_WORDS.test(value.whole));
      if (!isHarmless && INVOLVED.test(line)) {
        return { fault: `${name} holds ${JSON.stringify(value.whole)}, which cannot be put safely into: ${line}` };
      }
      filled += isHarmless && quote === '' ? value.words.join(' ') : quoteValue(value, quote);
      at += name.length - 1;
      continue;
    }
    filled += char;
    if (char === '\\' && quote !== "'") {
      at += 1;
      filled += line.charAt(at);
    } else if (char === quote) quote = '';
    else if (quote === '' && (char === '"' || char === "'")) quote = char;
  }
  return { line: filled, usesArguments };
}

interface Value {
  whole: string;
  words: readonly string[];
}

function valueOf(name: string, { args, words, places }: ShellValues): Value | undefined {
  if (name === '$ARGUMENTS') return { whole: args, words };
  if (!name.startsWith('${')) {
    const word = words[Number(name.slice(1)) - 1];
    return word === undefined ? { whole: '', words: [] } : { whole: word, words: [word] };
  }
  const key = name.slice(2, -1);
  const place = Object.hasOwn(places, key) ? places[key] : undefined;
  return place === undefined ? undefined : { whole: place, words: [place] };
}

function quoteValue({ whole, words }: Value, quote: '' | '"' | "'"): string {
  if (quote === '"') return whole.replace(/[\\"$`]/g, '\\$&');
  if (quote === "'") return whole.replaceAll("'", "'\\''");
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
}
