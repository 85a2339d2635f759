/** What an answer holds: HTML, other text, or bytes. Text is decoded as browsers do it. Pure. */

export interface Content {
  kind: 'html' | 'text' | 'binary';
  /** The media type, without its parameters. */
  type: string;
  /** Empty for bytes. */
  text: string;
}

const HTML = new Set(['text/html', 'application/xhtml+xml']);
const TEXT =
  /^text\/|^application\/(.+\+)?(json|xml|yaml|toml)$|^application\/(x-)?(javascript|ecmascript|typescript|ndjson|jsonl|yaml|sh|sql|graphql|tex|httpd-php|www-form-urlencoded)$|^message\/|\+(json|xml)$/;

/** How much of the start is looked at for marks of a type or an encoding. */
const HEAD = 4096;

export function toContent(bytes: Uint8Array, contentType: string): Content {
  const [name = '', ...parameters] = contentType.split(';');
  const type = name.trim().toLowerCase();
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, HEAD));
  const kind = kindOf(type, head);
  const charset = findMark(bytes) ?? findLabel(parameters.join(';')) ?? (kind === 'binary' ? undefined : inner(head));
  // Zero bytes in what is not UTF-16 mean that the type is wrong.
  const isBinary = kind === 'binary' || (head.includes('\0') && !(charset ?? '').startsWith('utf-16'));
  if (isBinary) return { kind: 'binary', type: type || 'application/octet-stream', text: '' };
  return { kind, type: type || (kind === 'html' ? 'text/html' : 'text/plain'), text: decode(bytes, charset) };
}

function kindOf(type: string, head: string): Content['kind'] {
  if (HTML.has(type)) return 'html';
  if (type === '') return /^\s*(<!--[^]*?-->\s*)?<(!doctype html|html|head|body)\b/i.test(head) ? 'html' : 'text';
  return TEXT.test(type) ? 'text' : 'binary';
}

/** A byte order mark is stronger than what is said anywhere. */
function findMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return undefined;
}

/** The encoding's proper name, if the label is one that is known. */
function findLabel(text: string): string | undefined {
  const [, label] = /\b(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)/i.exec(text) ?? [];
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/** What the document says of itself. It was readable as ASCII, so it cannot be UTF-16. */
function inner(head: string): string | undefined {
  const [declaration = ''] = /<\?xml\s[^>]*>|<meta\s[^>]*charset[^>]*>/i.exec(head) ?? [];
  const label = findLabel(declaration);
  return label?.startsWith('utf-16') ? 'utf-8' : label;
}

function decode(bytes: Uint8Array, charset: string | undefined): string {
  if (charset !== undefined) return new TextDecoder(charset).decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // An old page that says nothing is most likely Western.
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
