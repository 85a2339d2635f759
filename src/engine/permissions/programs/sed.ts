/**
 * True when a sed script only prints: no `w`, `e`, `r`, nor flags `w` and `e` of `s`. What is not understood is not.
 */
export function isPrintingSed(script: string): boolean {
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
      if (!skipDelimited(reader, '/')) return false;
      skip(reader, /[IM]*/y);
    } else if (count === 1) return false;
    else break;
    if (!skip(reader, /[ \t]*,[ \t]*/y)) break;
    if (count === 1) return false;
  }
  skip(reader, /[ \t]*!?[ \t]*/y);
  return true;
}

/** From one delimiter to the next, with escapes and sets in brackets. */
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
  if (!skipDelimited(reader, delimiter)) return false;
  reader.at -= 1;
  if (!skipDelimited(reader, delimiter)) return false;
  if (command === 's') skip(reader, /[gpiImM\d]*/y);
  return true;
}
