/** Turns what the JSON Schema checker found into sentences for a model, one for each wrong field. Pure. */
import type { OutputUnit, Schema } from '@cfworker/json-schema';
import type { PROBLEM_TEXTS } from '../../protocol/plain.js';

type Path = readonly PropertyKey[];

interface Surroundings {
  /** The value that was checked. */
  value: unknown;
  schema: Schema;
  /** Every part of the schema by its address. */
  lookup: Readonly<Record<string, Schema | boolean>>;
  texts: (typeof PROBLEM_TEXTS)[keyof typeof PROBLEM_TEXTS];
}

/** One thing that is wrong: another type, another one of few values, or something else. */
interface Problem {
  path: Path;
  types?: readonly string[];
  options?: readonly unknown[];
  why?: string;
  /** The whole sentence, where it says all there is to say. */
  text?: string;
}

const MOST_PROBLEMS = 20;
const MOST_UNITS = 2_000;
const LONGEST_SENTENCE = 500;

/** They only say that something inside is wrong, which is told by itself. */
const WRAPPERS = new Set([
  '$recursiveRef',
  '$ref',
  'additionalItems',
  'additionalProperties',
  'allOf',
  'dependentSchemas',
  'if',
  'items',
  'patternProperties',
  'prefixItems',
  'properties',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
/** What they say sums up the problems that follow. */
const SUMMARIES = new Set(['anyOf', 'contains', 'oneOf', 'propertyNames']);

const EXPECTED: Readonly<Record<string, (expected: string) => string>> = {
  exclusiveMaximum: (n) => `a number below ${n}`,
  exclusiveMinimum: (n) => `a number above ${n}`,
  format: (name) => `the format ${name}`,
  maxItems: (n) => `at most ${n} items`,
  maxLength: (n) => `at most ${n} characters`,
  maxProperties: (n) => `at most ${n} fields`,
  maximum: (n) => `at most ${n}`,
  minItems: (n) => `at least ${n} items`,
  minLength: (n) => `at least ${n} characters`,
  minProperties: (n) => `at least ${n} fields`,
  minimum: (n) => `at least ${n}`,
  multipleOf: (n) => `a multiple of ${n}`,
  pattern: (pattern) => `a match of the pattern ${pattern}`,
  uniqueItems: () => 'items that differ from each other',
};

/** Sentences for what the checker reported, at most twenty. */
export function describeUnits(units: readonly OutputUnit[], around: Surroundings): string[] {
  const all = mergeByField(readUnits(units.slice(0, MOST_UNITS), around));
  const sentences = [...new Set(all.map((problem) => toSentence(problem, around)))];
  if (sentences.length <= MOST_PROBLEMS) return sentences;
  return [...sentences.slice(0, MOST_PROBLEMS - 1), 'There are more problems.'];
}

function readUnits(units: readonly OutputUnit[], around: Surroundings): Problem[] {
  const problems: Problem[] = [];
  for (let at = 0; at < units.length; at += 1) {
    const unit = units[at] as OutputUnit;
    if (SUMMARIES.has(unit.keyword)) {
      const inner = innerUnits(units, at);
      problems.push(...summarize(unit, inner, around));
      at += inner.length;
    } else if (!isWrapper(unit)) {
      problems.push(readUnit(unit, around));
    }
  }
  return problems;
}

const isWrapper = ({ keyword, error }: OutputUnit): boolean =>
  WRAPPERS.has(keyword) || (keyword === 'dependencies' && error.endsWith('does not match dependant schema.'));

/** The units that follow one and belong to it. A schema that is `false` does not tell where it stands. */
function innerUnits(units: readonly OutputUnit[], at: number): OutputUnit[] {
  const prefix = `${units[at]?.keywordLocation}/`;
  let end = at + 1;
  while (end < units.length) {
    const unit = units[end] as OutputUnit;
    if (unit.keyword !== 'false' && !unit.keywordLocation.startsWith(prefix)) break;
    end += 1;
  }
  return units.slice(at + 1, end);
}

function readUnit(unit: OutputUnit, around: Surroundings): Problem {
  const { keyword, error } = unit;
  const { texts } = around;
  const path = toPath(unit.instanceLocation, around.value);
  const expected = expectedBy(unit, around);
  const named = /does not have (?:required property )?"(.*)"\.$/s.exec(error)?.[1];
  if (named !== undefined) return { path: [...path, named], text: texts.missing([...path, named]) };
  if (keyword === 'false') return { path, text: texts.unexpected(path) };
  if (keyword === 'type' && expected !== undefined) return { path, types: [expected].flat() as string[] };
  if (keyword === 'enum' && Array.isArray(expected)) return { path, options: expected as unknown[] };
  if (keyword === 'const' && expected !== undefined) return { path, options: [expected] };
  if (keyword === 'not') return { path, why: 'the schema excludes this value' };
  const phrase =
    expected === undefined
      ? undefined
      : EXPECTED[keyword]?.(typeof expected === 'string' ? expected : JSON.stringify(expected));
  return { path, why: phrase === undefined ? error.replace(/\.$/, '') : `expected ${phrase}` };
}

function summarize(unit: OutputUnit, inner: readonly OutputUnit[], around: Surroundings): Problem[] {
  const path = toPath(unit.instanceLocation, around.value);
  if (unit.keyword !== 'anyOf' && unit.keyword !== 'oneOf') return [{ path, why: unit.error.replace(/\.$/, '') }];
  if (unit.keyword === 'oneOf' && !unit.error.includes('(0 matches)')) {
    return [{ path, why: 'it matches more than one of the allowed forms' }];
  }
  const forms = toForms(unit, inner).map((units) => mergeByField(readUnits(units, around)));
  const shared = sharedProblem(forms);
  if (shared !== undefined) return [shared];
  const meant = formsMeant(forms, path);
  const [only] = meant;
  if (only !== undefined && meant.length === 1) return only;
  const examples = meant.slice(0, 3).flatMap(([first]) => (first === undefined ? [] : [toSentence(first, around)]));
  return [{ path, why: `it matches none of the allowed forms (${examples.join('; or: ')})` }];
}

/** The units of each form of a choice. */
function toForms(unit: OutputUnit, inner: readonly OutputUnit[]): OutputUnit[][] {
  const forms = new Map<string, OutputUnit[]>();
  let index = '';
  for (const one of inner) {
    const rest = one.keyword === 'false' ? undefined : one.keywordLocation.slice(unit.keywordLocation.length + 1);
    if (rest !== undefined) index = rest.split('/', 1)[0] ?? '';
    forms.set(index, [...(forms.get(index) ?? []), one]);
  }
  return [...forms.values()];
}

/** When every form only wants another type, or another one of few values, of the same field: all of them in one. */
function sharedProblem(forms: readonly Problem[][]): Problem | undefined {
  const [first] = forms;
  for (const { path } of first ?? []) {
    const alike = forms.map((form) => form.find((problem) => isSame(problem.path, path)));
    const options = alike.flatMap((problem) => problem?.options ?? []);
    if (alike.every((problem) => problem?.options)) return { path, options: [...new Set(options)] };
    const types = alike.flatMap((problem) => problem?.types ?? []);
    const isSole = forms.every((form) => form.length === 1);
    if (isSole && alike.every((problem) => problem?.types)) return { path, types: [...new Set(types)] };
  }
  return undefined;
}

/** Forms whose type and whose telling field fit; all of them when none does. */
function formsMeant(forms: readonly Problem[][], path: Path): readonly Problem[][] {
  const fits = (form: Problem[], depth: number): boolean =>
    !form.some(
      (one) => one.path.length === depth && (one.options !== undefined || (depth === path.length && one.types)),
    );
  const ofType = forms.filter((form) => fits(form, path.length));
  const told = ofType.filter((form) => fits(form, path.length + 1));
  return told.length > 0 ? told : ofType.length > 0 ? ofType : forms;
}

/** One problem for each field: of a wrong type nothing else needs to be said. */
function mergeByField(problems: readonly Problem[]): Problem[] {
  const fields = new Map<string, Problem[]>();
  for (const problem of problems) {
    const key = JSON.stringify(problem.path.map(String));
    fields.set(key, [...(fields.get(key) ?? []), problem]);
  }
  return [...fields.values()].map((field) => {
    const [first] = field as [Problem];
    const decisive = field.find(({ text }) => text) ?? field.find(({ types }) => types);
    if (decisive !== undefined || field.length === 1) return decisive ?? first;
    return { path: first.path, why: [...new Set(field.map(toReason))].join('; ') };
  });
}

function toSentence(problem: Problem, { texts, value }: Surroundings): string {
  const { path, types, text } = problem;
  const sentence =
    text ??
    (types ? texts.wrongType(path, types.join(' | '), valueAt(value, path)) : texts.notValid(path, toReason(problem)));
  return sentence.length > LONGEST_SENTENCE ? `${sentence.slice(0, LONGEST_SENTENCE)}…` : sentence;
}

function toReason({ types, options, why }: Problem): string {
  if (types) return `expected ${types.join(' or ')}`;
  if (!options) return why ?? 'it does not match the schema';
  const listed = options.map((option) => JSON.stringify(option)).join(', ');
  return options.length === 1 ? `expected ${listed}` : `expected one of ${listed}`;
}

const isSame = (a: Path, b: Path): boolean => a.length === b.length && a.every((part, at) => part === b[at]);

const isTable = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === 'object' && value !== null;

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, key) => (isTable(inner) ? inner[key] : undefined), value);

/** `#/a~1b/0` as the way through the value that it stands for. */
function toPath(location: string, value: unknown): Path {
  const path: PropertyKey[] = [];
  let inner = value;
  for (const part of toParts(location)) {
    path.push(Array.isArray(inner) ? Number(part) : part);
    inner = isTable(inner) ? inner[part] : undefined;
  }
  return path;
}

const toParts = (location: string): string[] =>
  location
    .split('/')
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));

/** What the schema says at the keyword that failed. */
function expectedBy({ keywordLocation }: OutputUnit, { schema, lookup }: Surroundings): unknown {
  let node: unknown = schema;
  for (const part of toParts(keywordLocation)) {
    if (!isTable(node)) return undefined;
    const { $ref, __absolute_ref__: absolute } = node as Schema;
    node = part === '$ref' && typeof $ref === 'string' ? lookup[absolute ?? $ref] : node[part];
  }
  return node;
}
