/** What a server is given and nobody else may read: hidden in every text and status that leaves the engine. */
import type { RemoteConfig } from './server-definition.js';
import { hasAddress } from './server-kind.js';

export const HIDDEN = '***';

/** Shorter values occur in any text. */
const MIN_SECRET = 6;
const MAX_DEPTH = 5;

export interface Secrets {
  /** One that is known only now, such as a token. */
  add(value: string): void;
  hide(text: string): string;
  /** The same for whatever goes into a log. */
  hideIn(value: unknown): unknown;
}

/** Values of headers, variables and arguments that are named as keys are, and what stands in an address for a person. */
export function secretsOf(config: RemoteConfig): Secrets {
  const words = new Set<string>();
  let sorted: readonly string[] | undefined;
  const learn = (texts: readonly string[]): void => {
    for (const text of texts.flatMap(spellingsOf)) if (text.length >= MIN_SECRET) words.add(text);
    sorted = undefined;
  };
  const hide = (text: string): string => {
    sorted ??= [...words].toSorted((one, other) => other.length - one.length);
    return sorted.reduce((hidden, word) => hidden.replaceAll(word, HIDDEN), text);
  };
  const hideIn = (value: unknown, depth = 0): unknown => {
    if (typeof value === 'string') return hide(value);
    if (value instanceof Error) return hide(value.message);
    if (typeof value !== 'object' || value === null) return value;
    if (depth === MAX_DEPTH) return HIDDEN;
    if (Array.isArray(value)) return value.map((each) => hideIn(each, depth + 1));
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [hide(key), hideIn(each, depth + 1)]));
  };
  const values = hasAddress(config) ? config.headers : config.env;
  learn(Object.values(values ?? {}).flatMap(partsOf));
  if (hasAddress(config)) learn(partsOfAddress(config.url));
  else
    learn(
      toArguments(config.args ?? []).flatMap(({ text, at }) =>
        at < text.length ? partsOf(text.slice(at)) : partsOfAddress(text),
      ),
    );
  return { add: (value) => learn(partsOf(value)), hide, hideIn: (value) => hideIn(value) };
}

/** A value, and what is secret in it by itself: the key behind `Bearer`, the password in an address. */
function partsOf(value: string): string[] {
  const [, scheme = '', key = ''] = /^([A-Za-z]+) +(\S+)$/.exec(value) ?? [];
  const login = scheme.toLowerCase() === 'basic' ? Buffer.from(key, 'base64').toString('utf8') : '';
  return [value, key, login, login.slice(login.indexOf(':') + 1), ...partsOfAddress(value)];
}

function partsOfAddress(text: string): string[] {
  const [, userinfo = '', query = ''] = /^[a-z][\w+.-]*:\/\/(?:([^/?#]*)@)?[^?#]*(?:\?([^#]*))?/i.exec(text) ?? [];
  const [user = '', ...password] = userinfo.split(':');
  const fields = query.split('&').map((field) => field.slice(field.indexOf('=') + 1));
  return [userinfo, password.length === 0 ? user : password.join(':'), ...fields];
}

/** As it is written, and as addresses write it. */
function spellingsOf(text: string): string[] {
  return [text, encodeURIComponent(text.toWellFormed()), decode(text)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A text that only names variables tells nothing. */
const isVariable = (text: string): boolean => /^(?:\w+ )?\$\{\w+\}$/.test(text);

/** Whatever it is, unless it only names a variable. */
export const hideText = (text: string): string => (isVariable(text) ? text : HIDDEN);

/** How a server is configured, without what is nobody's business. */
export const showConfig = (config: RemoteConfig): Record<string, unknown> => hideSecrets(config);

/** Any configuration or settings as they may be shown, also keys that only others know. */
export const hideSecrets = (settings: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, hideUnder(name, value)]));

/** Tables whose values are given to programs and servers. */
const SECRET_TABLES = new Set(['env', 'headers']);

function hideUnder(name: string, value: unknown): unknown {
  if (isSecretName(name) && !isHarmless(name, value)) return conceal(value);
  if (typeof value === 'string') return name === 'url' ? hideInAddress(value) : hideInText(value);
  if (Array.isArray(value)) {
    if (name !== 'args') return value.map((each) => hideUnder('', each));
    const args = value.map((each) => (typeof each === 'string' ? each : (JSON.stringify(each) ?? '')));
    return toArguments(args).map(({ text, at }) => hideBehind(text, at));
  }
  if (typeof value !== 'object' || value === null) return value;
  if (!SECRET_TABLES.has(name)) return hideSecrets(value);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, conceal(each)]));
}

/** A word of a name, in whatever way words are set apart: `x-api-key`, `privateKey`, `accesstokens`, `DB_PASS`. */
const SECRET_WORD = /(?:key|token|authorization|bearer)s?$|^pass$|^pat$|passw|passphrase|secret|credential|apikey/i;
/** Commands that print keys. */
const SECRET_COMMAND = /helper$|auth(?:Refresh|Export)$/i;

const isSecretName = (name: string): boolean =>
  SECRET_COMMAND.test(name) || wordsOf(name).some((word) => SECRET_WORD.test(word));

const wordsOf = (name: string): string[] =>
  name.replace(/([a-z\d])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3 $2').split(/[^\p{L}\p{N}]+/u);

/** A switch, or how many tokens there may be. */
const isHarmless = (name: string, value: unknown): boolean =>
  typeof value === 'boolean' || value === null || (typeof value === 'number' && /tokens$/i.test(name));

const conceal = (value: unknown): string => (typeof value === 'string' ? hideText(value) : HIDDEN);

const ADDRESS = /^[a-z][\w+.-]*:\/\//i;
const LOGIN = /(?<![\w+.-])([a-z][\w+.-]*:\/\/)([^\s/?#]*)@/gi;

const BEARER = /(\bauthorization: *(?:[a-z]+ +)?|\bbearer +)([^\s"'`]+)/gi;

/** What a command gives to `--api-key` or `TOKEN=`; a variable tells nothing. */
const KEYED =
  /((?:--?[\w-]*(?:token|key|secret|passw|credential)[\w-]*(?:=| +)|\b\w*(?:token|key|secret|passw|credential)\w*=)["']?)([^\s"'`$;&|-][^\s"'`;&|]*)/gi;

/** An address as such, and in any other text, such as a command, who stands in an address or a header. */
export const hideInText = (text: string): string =>
  ADDRESS.test(text)
    ? hideInAddress(text)
    : text
        .replace(LOGIN, (_, scheme: string, who: string) => `${scheme}${hideText(who)}@`)
        .replace(BEARER, (_, lead: string, who: string) => `${lead}${hideText(who)}`)
        .replace(KEYED, (_, lead: string, what: string) => `${lead}${hideText(what)}`);

const KEY_NAME = /token|key|secret|passw|auth|credential/i;

/** Where in each argument something secret begins: behind `--token`, `API_KEY=` or `Authorization:`, in an address. */
function toArguments(args: readonly string[]): { text: string; at: number }[] {
  return args.map((text, index) => {
    const isValue =
      !text.startsWith('-') && /^--?[\w.-]+$/.test(args[index - 1] ?? '') && KEY_NAME.test(args[index - 1] ?? '');
    if (isValue) return { text, at: 0 };
    const [lead = '', name = ''] = /^(-{0,2}[\w.-]+)(?:=|: ?(?!\/\/))/.exec(text) ?? [];
    return { text, at: KEY_NAME.test(name) ? lead.length : text.length };
  });
}

const hideBehind = (text: string, at: number): string => {
  if (at < text.length) return `${text.slice(0, at)}${hideText(text.slice(at))}`;
  return hideInText(text);
};

/** Keys stand before the host, behind the question mark and behind the hash. */
export function hideInAddress(url: string): string {
  const [, scheme = '', userinfo, place = '', query, hash] =
    /^([a-z][\w+.-]*:\/\/)?(?:([^/?#]*)@)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is.exec(url) ?? [];
  const fields = query?.split('&').map((field) => {
    const at = field.indexOf('=');
    return field === '' ? '' : `${field.slice(0, at + 1)}${hideText(field.slice(at + 1))}`;
  });
  const who = userinfo === undefined ? '' : `${hideText(userinfo)}@`;
  return [scheme, who, place, fields && `?${fields.join('&')}`, hash && `#${hideText(hash)}`].join('');
}
