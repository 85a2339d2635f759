/** What the embedded model understands: a handful of requests, by plain rules over one sentence. Pure. */

export type EmbeddedTask =
  | { kind: 'list' | 'count' | 'find'; pattern: string; path?: string; noun: string }
  | { kind: 'search'; text: string; path?: string }
  | { kind: 'read'; file: string; want: 'content' | 'summary' | 'lines' }
  | { kind: 'run'; command: string }
  | { kind: 'write'; file: string; content: string }
  | { kind: 'about' };

/** Longer than any of these requests; the rules are not made for pasted documents. */
const MAX_LENGTH = 20_000;

export function readTask(request: string): EmbeddedTask {
  if (request.length > MAX_LENGTH) return { kind: 'about' };
  const text = request
    .trim()
    .replace(/^(hi|hello|hey)\b[,.! ]*/i, '')
    .replace(
      /^((please|kindly|now|then)\b,? |(can|could|would|will) you (please )?|i want you to |i'd like you to )+/i,
      '',
    )
    .trim();
  for (const rule of RULES) {
    const task = rule(text);
    if (task !== undefined) return task;
  }
  return { kind: 'about' };
}

type Rule = (text: string) => EmbeddedTask | undefined;

const readWrite: Rule = (text) => {
  const named =
    /^(?:write|create|make|save|add)\b[^`'"]*?\bfile\s+(?:called\s+|named\s+)?(\S+?),?\s+(?:saying|containing|reading|with|that (?:says|contains|reads))\b\s*(.*)$/is.exec(
      text,
    );
  const [, file, said] = named ?? [];
  if (file !== undefined && said !== undefined) {
    const content = unquote(
      said.replace(/^(?:the\s+)?(?:text|contents?|words?|line|string)\b\s*:?\s*/i, '').replace(/^:\s*/, ''),
    );
    return { kind: 'write', file: unquote(file), content: endWithNewline(content) };
  }
  const into =
    /^(?:write|save|put)\s+(["'`“])(.+)\1?["'`”]\s+(?:to|in|into)\s+(?:(?:the|a)\s+)?(?:file\s+)?(?:called\s+|named\s+)?(\S+?)[.!]?$/is.exec(
      text,
    );
  if (into?.[2] === undefined || into[3] === undefined) return undefined;
  return { kind: 'write', file: unquote(into[3]), content: endWithNewline(into[2]) };
};

const readRun: Rule = (text) => {
  const match = /^(?:run|execute)\s+(.+)$/is.exec(text);
  if (match?.[1] === undefined) return undefined;
  const quoted = /`([^`]+)`/.exec(match[1]);
  if (quoted?.[1] !== undefined) return { kind: 'run', command: quoted[1].trim() };
  const command = match[1].replace(/^(?:the\s+)?(?:(?:shell|bash)\s+)?command\b\s*:?\s*/i, '');
  // "run the tests" names no command.
  if (command === match[1] && /^(the|my|our|all|some|it|this|that)\b/i.test(command)) return undefined;
  return { kind: 'run', command: unquote(command.replace(/[.!]$/, '')) };
};

const readSearch: Rule = (text) => {
  const patterns = [
    /^(?:search|grep|look)\b.*?\bfor\s+(?:the\s+)?(?:text|word|words|string|phrase)?\s*(.+)$/is,
    /^grep\s+(.+)$/is,
    /^(?:find|show|list)\b.*?\b(?:mentions?|occurrences?|uses?|usages?)\s+of\s+(.+)$/is,
    /^(?:find|show)\s+(?:the\s+)?(?:text|word|string|phrase)\s+(.+)$/is,
    /^(?:in\s+)?(?:which|what)\s+files?\s+(?:contains?|mentions?|uses?|has|have)\s+(?:the\s+)?(?:text|word|string|phrase)?\s*(.+)$/is,
    /^(?:where\s+is|where\s+do\s+we\s+use)\s+(.+?)\s*(?:used|defined|mentioned)?\??$/is,
  ];
  const found = patterns.map((pattern) => pattern.exec(text)?.[1]).find((match) => match !== undefined);
  if (found === undefined || /^(?:all\s+|every\s+)?(?:the\s+)?(?:\S+\s+)?files?\b/i.test(found)) return undefined;
  if (/^where\s+is\b/i.test(text) && FILE_NAME.test(found)) return undefined;
  const { rest, path } = splitPlace(found);
  const wanted = unquote(rest.replace(/[.?!]$/, ''));
  return wanted === '' ? undefined : { kind: 'search', text: wanted, path };
};

const readCount: Rule = (text) => {
  const lines = /^(?:how many|count(?: the)?(?: number of)?)\s+lines\b.*?(?:in|of|has|does)\s+(.+)$/is.exec(text);
  const file = lines?.[1] === undefined ? undefined : fileIn(lines[1]);
  if (file !== undefined) return { kind: 'read', file, want: 'lines' };
  if (!/^(?:how many|count)\b.*\bfiles?\b/is.test(text)) return undefined;
  return { kind: 'count', ...filesIn(text) };
};

const readFind: Rule = (text) => {
  const named = /^(?:find|locate|where is|look for)\b(.*)$/is.exec(text);
  if (named?.[1] === undefined) return undefined;
  const { rest, path } = splitPlace(named[1]);
  const kinds = filesIn(text);
  if (kinds.pattern !== '**/*') return { kind: 'find', ...kinds };
  const file = fileIn(rest);
  if (file === undefined) return /\bfiles\b/i.test(rest) ? { kind: 'find', ...kinds } : undefined;
  return { kind: 'find', pattern: file.includes('/') ? file : `**/${file}`, path, noun: `files called ${file}` };
};

const readList: Rule = (text) => {
  const asksForFiles =
    /^(?:list|show|display|give|print|what|which|tell|ls)\b.*\b(?:files?|folder|directory|here)\b/is.test(text);
  if (!asksForFiles && !/^ls\b|^list$/i.test(text)) return undefined;
  if (/\b(?:content|contents of the file|in the file|of the file|the file)\b/i.test(text)) return undefined;
  return { kind: 'list', ...filesIn(text) };
};

const readFile: Rule = (text) => {
  const verb =
    /^(read|open|show|display|print|cat|view|summari[sz]e|explain|describe|what(?:'s| is| does| are)|tell me (?:about|what)|give me)\b(.*)$/is.exec(
      text,
    );
  const file = verb?.[2] === undefined ? undefined : fileIn(verb[2]);
  if (verb?.[1] === undefined || file === undefined) return undefined;
  const showsAll = /^(read|open|show|display|print|cat|view)$/i.test(verb[1]) && !/\bsummar/i.test(text);
  return { kind: 'read', file, want: showsAll ? 'content' : 'summary' };
};

const RULES: readonly Rule[] = [readWrite, readRun, readCount, readSearch, readFind, readList, readFile];

const FILE_NAME =
  /(?:^|[\s(])((?:[\w@.~-]*\/)*[\w@-][\w@.-]*\.[A-Za-z][A-Za-z0-9]{0,7}|(?:[\w@.~-]+\/)+[\w@.-]+)(?=[\s,;:?!).]|$)/;
const KNOWN_NAMES = ['README', 'LICENSE', 'CHANGELOG', 'CONTRIBUTING', 'Makefile', 'Dockerfile'];

/** The file that a text names: in quotes, with an extension or a slash, or one of the names everybody knows. */
function fileIn(text: string): string | undefined {
  const quoted = /["'`“]([^"'`”\s]+)["'`”]/.exec(text)?.[1];
  const isNamed = (name: string): boolean => new RegExp(`\\b${name}\\b`, 'i').test(text);
  return quoted ?? FILE_NAME.exec(text)?.[1] ?? KNOWN_NAMES.find(isNamed);
}

const LANGUAGES: Readonly<Record<string, string>> = {
  typescript: 'ts',
  javascript: 'js',
  python: 'py',
  markdown: 'md',
  rust: 'rs',
  go: 'go',
  java: 'java',
  ruby: 'rb',
  json: 'json',
  yaml: 'yaml',
  html: 'html',
  css: 'css',
  text: 'txt',
};

/** The kind of files that a text speaks of. */
function filesIn(text: string): { pattern: string; path?: string; noun: string } {
  const { path } = splitPlace(text);
  const dotted = /(?:^|[\s`'"])\*?\.([A-Za-z0-9]{1,8})\b/.exec(text)?.[1];
  const language = /\b([A-Za-z]+)\s+(?:source\s+)?files?\b/i.exec(text)?.[1]?.toLowerCase() ?? '';
  const extension = dotted ?? LANGUAGES[language];
  if (extension === undefined) return { pattern: '**/*', path, noun: 'files' };
  return { pattern: `**/*.${extension}`, path, noun: `.${extension} files` };
}

const NO_PLACE =
  /^(?:this|the|here|it|my|our|current|working|project|repo|repository|folder|directory|files?|all|everything|code|workspace)$/i;

/** Takes "in src" or "in the test folder" off the end of a text. */
function splitPlace(text: string): { rest: string; path?: string } {
  const match =
    /^(.*?)\s+(?:in|under|inside|within|from)\s+(?:the\s+)?[`'"]?([\w@./~-]+?)[`'"]?(?:\s+(?:folder|directory|dir))?\s*[.?!]?$/is.exec(
      text,
    );
  if (match?.[1] !== undefined && match[2] !== undefined) {
    return { rest: match[1], path: NO_PLACE.test(match[2]) ? undefined : match[2] };
  }
  const vague = /^(.*?)\s+(?:in|under|inside|within|from)\s+(?:this|the|my|our)\b[^"'`]*$/is.exec(text);
  return { rest: vague?.[1] ?? text };
}

function unquote(text: string): string {
  const bare = text.trim().replace(/[?!]$/, '');
  const inside = /^(["'`])([\s\S]*)\1\.?$/.exec(bare)?.[2] ?? /^“([\s\S]*)”\.?$/.exec(bare)?.[1];
  return inside ?? text.trim();
}

const endWithNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);
