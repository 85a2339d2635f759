import { HOLE, isOpen } from '../shell/hole.js';

/**
 * True when a sed script only prints: no `w`, `e`, `r`, nor flags `w` and `e` of `s`. What is not understood is not.
 */
export function isPrintingSed(given: string): boolean {
  if (isOpen(given)) return false;
  // Any digits are as good as others.
  const script = given.replaceAll(HOLE.number, '1');
  const reader = { text: script, at: 0 };
  let depth = 0;
  while (reader.at < reader.text.length) {
    skip(reader, /[\s;]*/y);
    if (reader.at >= reader.text.length) break;
    const char = reader.text.charAt(reader.at);
    if (char === '#') {
      skip(reader, /[^\n]*/y);
      continue;
    }
    if (char === '}') {
      depth -= 1;
      reader.at += 1;
      if (depth < 0) return false;
      continue;
    }
    if (!skipAddress(reader)) return false;
    if (reader.text.charAt(reader.at) === '{') {
      depth += 1;
      reader.at += 1;
      continue;
    }
    if (!skipCommand(reader)) return false;
    skip(reader, /[ \t]*/y);
    if (reader.at < reader.text.length && !/[;}\n#]/.test(reader.text.charAt(reader.at))) return false;
  }
  return depth === 0;
}

interface Reader {
  text: string;
  at: number;
}

function skip(reader: Reader, pattern: RegExp): string {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.text)?.[0] ?? '';
  reader.at += found.length;
  return found;
}

function skipAddress(reader: Reader): boolean {
  for (let count = 0; count < 2; count += 1) {
    const char = reader.text.charAt(reader.at);
    if (/[\d$]/.test(char)) skip(reader, /\$|\d+(?:~\d+)?/y);
    else if (count === 1 && /[+~]/.test(char)) skip(reader, /[+~]\d+/y);
    else if (char === '/') {
      if (!skipPattern(reader, '/')) return false;
      skip(reader, /[IM]*/y);
    } else if (count === 1) return false;
    else break;
    if (!skip(reader, /[ \t]*,[ \t]*/y)) break;
    if (count === 1) return false;
  }
  skip(reader, /[ \t]*!?[ \t]*/y);
  return true;
}

/**
 * A pattern up to its delimiter. Inside of a set some end it there, and some do not; so no set may hold the delimiter,
 * nor anything by which it is uncertain where the set ends.
 */
function skipPattern(reader: Reader, delimiter: string): boolean {
  const start = reader.at + 1;
  if (!skipDelimited(reader, delimiter)) return false;
  const pattern = reader.text.slice(start, reader.at - 1);
  const withoutSets = pattern.replace(SET, '');
  return !/[[\]]/.test(withoutSets.replace(/\\[^]/g, ''));
}

// An escaped bracket begins no set, and one that comes first in a set does not end it.
const SET = /\\[^]|\[(?!\^?\])\^?(?:\[:\w+:\]|\\[^\]\\[\n]|[^\][\\\n])+\]/g;

/** From one delimiter to the next, with escapes. */
function skipDelimited(reader: Reader, delimiter: string): boolean {
  for (reader.at += 1; reader.at < reader.text.length; reader.at += 1) {
    const char = reader.text.charAt(reader.at);
    if (char === '\n') return false;
    if (char === '\\') reader.at += 1;
    else if (char === delimiter) {
      reader.at += 1;
      return true;
    }
  }
  return false;
}

function skipCommand(reader: Reader): boolean {
  const command = reader.text.charAt(reader.at);
  if (/[pPdDnNgGhHx=z]/.test(command)) {
    reader.at += 1;
    return true;
  }
  if (/[qQl]/.test(command)) {
    reader.at += 1;
    skip(reader, /[ \t]*\d*/y);
    return true;
  }
  if (/[btT:]/.test(command)) {
    reader.at += 1;
    skip(reader, /[ \t]*\w*/y);
    return true;
  }
  if (/[aic]/.test(command)) {
    skip(reader, /.[^\n\\]*(?:\\[^][^\n\\]*)*/y);
    return true;
  }
  if (command !== 's' && command !== 'y') return false;
  const delimiter = reader.text.charAt(reader.at + 1);
  if (!/^[/|#,:@!_%~]$/.test(delimiter)) return false;
  reader.at += 1;
  if (!skipPattern(reader, delimiter)) return false;
  reader.at -= 1;
  if (!skipDelimited(reader, delimiter)) return false;
  if (command === 's') skip(reader, /[gpiImM\d]*/y);
  return true;
}
