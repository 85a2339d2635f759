/** What is wrong with a case of `permissions check`. A list that is not read would make a verdict of too little. */
import { canonicalToolName, PERMISSION_MODES } from '../../protocol/plain.js';
import { didYouMean, findNearName, type NearName } from '../settings/near-name.js';
import { RULE_LAYERS } from './layers.js';

type Table = Readonly<Record<string, unknown>>;
/** Undefined: it is as it must be; else what was expected. */
type Shape = (value: unknown, path: string) => string | undefined;

const expecting =
  (isRight: (value: unknown) => boolean, expected: string): Shape =>
  (value, path) =>
    isRight(value) ? undefined : `${path} must be ${expected}, not ${show(value)}`;

const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => typeof value === 'string';

const TEXT = expecting(isText, 'a text');
const NAME = expecting((value) => typeof value === 'string' && value.trim() !== '', 'the name of a tool');
const FLAG = expecting((value) => typeof value === 'boolean', 'true or false');
const TEXTS = expecting((value) => Array.isArray(value) && value.every(isText), 'a list of texts');
const TABLE = expecting(isTable, 'an object');
/** A text that is no rule is the rules' own affair: what it may be about is asked about. */
const RULE = expecting((value) => isText(value) || isTable(value), 'a rule');
const RULES: Shape = (value, path) =>
  Array.isArray(value)
    ? firstOf(value.map((rule, at) => () => RULE(rule, `${path}[${at}]`)))
    : `${path} must be a list of rules, not ${show(value)}`;

const LISTS = { allow: RULES, ask: RULES, deny: RULES };

/** Rules that deny, lists of rules, or a settings file with them. */
const LAYER: Shape = (value, path) => {
  if (Array.isArray(value)) return RULES(value, path);
  if (!isTable(value))
    return `${path} must be a list of rules or an object with allow, ask and deny, not ${show(value)}`;
  const { permissions } = value;
  if (permissions === undefined) return findFault(value, { path, shapes: LISTS, isWhole: true });
  if (!isTable(permissions)) return TABLE(permissions, `${path}.permissions`);
  return (
    findFault(value, { path, shapes: { permissions: TABLE }, isWhole: true }) ??
    findFault(permissions, { path: `${path}.permissions`, shapes: LISTS, isWhole: true })
  );
};

const SETUP: Readonly<Record<string, Shape>> = {
  ...Object.fromEntries(RULE_LAYERS.map((name) => [name, LAYER])),
  ...LISTS,
  mode: expecting((value) => (PERMISSION_MODES as readonly unknown[]).includes(value), oneOf(PERMISSION_MODES)),
  cwd: TEXT,
  home: TEXT,
  trusted: FLAG,
  settingsDir: TEXT,
  additionalDirectories: TEXTS,
  privateHosts: TEXTS,
  platform: TEXT,
  fs: TEXTS,
  approved: TABLE,
};

/** Keys that would restrict, if they stood where they belong. */
const MISPLACED = new Set(
  'permissions permissionMode rules hooks sandbox defaultMode disallowedTools managedSettings'.split(' '),
);

/** Short names are near to words that a case may well have: `flags`, `model`, `os`. */
const isMisspelled = (near: NearName | undefined): boolean =>
  near !== undefined && near.distance <= (near.name.length > 4 || near.name === 'deny' ? 1 : 0);

/** The first thing in a case that cannot be taken as it is meant. Words about it, such as `note`, may have any name. */
export function findCaseFault(given: Table): string | undefined {
  const setup = given.setup ?? {};
  const input = given.input ?? {};
  const whole = findFault(given, { path: '', shapes: { setup: TABLE, input: TABLE } });
  if (whole !== undefined || !isTable(setup) || !isTable(input)) return whole;
  const inCall = findCallFault(input);
  if (inCall !== undefined) return inCall;
  const inSetup = findFault(setup, { path: 'setup', shapes: SETUP });
  if (inSetup !== undefined) return inSetup;
  const { project_settings: project } = input;
  const rules = isTable(project) ? project.permissions : undefined;
  if (rules === undefined || rules === null) return undefined;
  const path = 'input.project_settings.permissions';
  return isTable(rules) ? findFault(rules, { path, shapes: LISTS }) : TABLE(rules, path);
}

/** Fields by which a call can be told from an event. */
const CALL_FIELDS = [
  'command',
  'input',
  'file_path',
  'notebook_path',
  'pattern',
  'path',
  'url',
  'tool_name',
  'toolName',
];

const EVENT_FIELDS = ['event', 'hook', 'sequence'];

/** A call needs its tool; without one it may only be an event, which says what happens. */
function findCallFault(input: Table): string | undefined {
  const { then } = input;
  const path = then === undefined || then === null ? 'input' : 'input.then';
  const given = path === 'input' ? input : then;
  if (!isTable(given)) return TABLE(given, path);
  const { tool } = given;
  if (tool !== undefined && tool !== null)
    return NAME(tool, `${path}.tool`) ?? findCommandFault(given, path) ?? findPlaceFault(given, path);
  const isCall = Object.keys(given).every((key) => key === 'note') || CALL_FIELDS.some((field) => field in given);
  const isEvent = EVENT_FIELDS.some((key) => key in given);
  return isCall && !isEvent ? `${path}.tool is missing: it names the tool that is called` : undefined;
}

/** Without its line a call of Bash would be judged as if it ran nothing. */
function findCommandFault(given: Table, path: string): string | undefined {
  if (canonicalToolName(String(given.tool)) !== 'Bash' || EVENT_FIELDS.some((key) => key in given)) return undefined;
  const [input, place] = isTable(given.input) ? [given.input, `${path}.input`] : [given, path];
  const { command } = input;
  if (command === undefined || command === null) return `${place}.command is missing: it is the line that Bash runs`;
  return TEXT(command, `${place}.command`);
}

const PLACES = ['file_path', 'notebook_path', 'path'];

/** Without its place a call that reads would be judged as if it touched nothing. */
function findPlaceFault(given: Table, path: string): string | undefined {
  const tool = canonicalToolName(String(given.tool));
  if (!/^(?:Read|NotebookRead|Glob|Grep|LS)$/.test(tool) || EVENT_FIELDS.some((key) => key in given)) return undefined;
  const [input, place] = isTable(given.input) ? [given.input, `${path}.input`] : [given, path];
  const isSaid = (name: string): boolean => input[name] !== undefined && input[name] !== null;
  const needed = tool === 'Glob' ? ['pattern'] : tool.endsWith('Read') ? PLACES : undefined;
  if (needed?.some(isSaid) === false) return `${place}.${needed[0]} is missing: it is what ${tool} reads`;
  const texts = [...PLACES, 'glob', ...(tool === 'Glob' ? ['pattern'] : [])].filter(isSaid);
  return firstOf(texts.map((name) => () => TEXT(input[name], `${place}.${name}`)));
}

interface Expected {
  path: string;
  shapes: Readonly<Record<string, Shape>>;
  /** There is nothing beside these keys but a note. */
  isWhole?: boolean;
}

function findFault(table: Table, { path, shapes, isWhole = false }: Expected): string | undefined {
  const names = Object.keys(shapes);
  const checks = Object.entries(table).map(([name, value]) => () => {
    if (value === undefined || value === null) return undefined;
    const place = path === '' ? name : `${path}.${name}`;
    const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    if (shape !== undefined) return shape(value, place);
    const near = findNearName(name, names);
    const isMeant = isWhole ? name !== 'note' : isMisspelled(near) || (path === 'setup' && MISPLACED.has(name));
    if (!isMeant) return undefined;
    return `${place} is no field of a case${didYouMean(near) || `; known are ${names.join(', ')}`}`;
  });
  return firstOf(checks);
}

function firstOf(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const fault = check();
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function oneOf(names: readonly string[]): string {
  return `one of ${names.join(', ')}`;
}

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > 60 ? `${text.slice(0, 59)}\u2026` : text;
};
