/** Takes secrets out of what is written down. Pure; what is redacted once stays as it is. */

const SECRET = '[secret]';

/** Names under which a value is secret whatever it looks like; the first ones also at the end of longer names. */
const ENDINGS =
  'api[-_]?key|(?:access|refresh|auth|id|session|security|bearer)[-_]?token|client[-_]?secret|secret[-_]?(?:access[-_]?)?key|(?:access|private)[-_]?key|pass(?:word|wd|phrase)|authorization';
const NAMES = `[\\w-]*?(?:${ENDINGS})|token|secret|(?:set-)?cookie`;
const SECRET_NAME = new RegExp(`^(?:${NAMES})$`, 'i');

/** Words that follow `Bearer` in prose. */
const PROSE = 'tokens?|auth|authentication|authori[sz]ation|credentials?|headers?|schemes?|values?|strings?';

/** Keeps what stands before the secret. */
const keepFirst = (_: string, before: string): string => `${before}${SECRET}`;

/**
 * Every pattern begins with something that only a secret, or the name of one, has. None takes a quote or a backslash
 * of the text around it, so that JSON inside a text stays JSON.
 */
const RULES: readonly (readonly [pattern: RegExp, shown: (whole: string, ...groups: string[]) => string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, () => SECRET],
  [/\bsk-[\w-]{12,}/g, () => SECRET],
  [/\b(?:[sr]k|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}/g, () => SECRET],
  [/\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,})/g, () => SECRET],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, () => SECRET],
  [/\bAIza[\w-]{30,}/g, () => SECRET],
  [/\bxox[a-z]-[\w-]{10,}/g, () => SECRET],
  [/\b(?:npm|hf|pypi|shpat)_[A-Za-z0-9]{20,}/g, () => SECRET],
  [/\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g, () => SECRET],
  // `"token": "value"`, the quotes escaped or not; code writes the name without them.
  [
    new RegExp(`((?<![\\w-])(?:${NAMES})\\\\*["']?\\s*[:=]\\s*\\\\*["'])[^"'\\\\\\r\\n]+`, 'gi'),
    (whole, before = '') => keepFirst(whole, before),
  ],
  // A header, up to the end of its line or of the quotes around it.
  [
    /(\b(?:proxy-)?authorization\s*[:=]\s*|\b(?:set-)?cookie\s*:\s*|\bx-[\w-]*(?:key|token|secret|auth)\s*:\s*)[^\s"'\\][^"'\\\r\n]*/gi,
    (whole, before = '') => keepFirst(whole, before),
  ],
  [
    new RegExp(`\\b(Bearer\\s+)(?!(?:${PROSE})\\b)[\\w.~+/=-]{8,}`, 'gi'),
    (whole, before = '') => keepFirst(whole, before),
  ],
  [/\b(Basic\s+)([A-Za-z0-9+/]{8,}={0,2})/g, (whole, before = '', code = '') => redactBasic(whole, before, code)],
  // As shells write it. A reference such as $OTHER is no secret.
  [
    /\b([A-Z][A-Z0-9_]*?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS)=\\*["']?)(?![$<[])[^\s"'`\\;&|]+/g,
    (whole, before = '') => (PUBLIC_KEY.test(before) ? whole : keepFirst(whole, before)),
  ],
  [/(:\/\/[^\s/:@"'\\]*:)[^\s/@"'\\]+@/g, (whole, before = '') => `${keepFirst(whole, before)}@`],
  [
    /([?&](?:(?:api[-_]?)?key|(?:(?:access|refresh|id|auth)[-_]?)?token|(?:client[-_]?)?secret|password|sig|signature|x-amz-[a-z-]+)=)[^\s&#"'\\]+/gi,
    (whole, before = '') => keepFirst(whole, before),
  ],
];

const PUBLIC_KEY = /(?:^|_)(?:PUBLIC|PRIMARY|FOREIGN|CACHE|SORT|PARTITION)_KEY=/;

/** `Basic` is also an English word: it counts where a name and a password follow. */
function redactBasic(whole: string, before: string, code: string): string {
  const decoded = Buffer.from(code, 'base64').toString('utf8');
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(decoded) ? keepFirst(whole, before) : whole;
}

/** The text without what looks like a key, a token, a password or a header that carries one. */
export function redactSecrets(text: string): string {
  let shown = text;
  for (const [pattern, show] of RULES) shown = shown.replace(pattern, show);
  return shown;
}

/** The JSON value with every string redacted, those under a telling name whole. */
export function redactValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((part) => redactValue(part, redact));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      redact(key),
      typeof part === 'string' && part !== '' && SECRET_NAME.test(key) ? SECRET : redactValue(part, redact),
    ]),
  );
}
