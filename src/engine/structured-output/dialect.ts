/** What older drafts say in other words, and what cannot be judged: a value must never pass because nobody looked. Pure. */

type Node = Record<string, unknown>;

/** Their value is no schema, whatever it looks like. */
const DATA: readonly string[] = ['const', 'default', 'enum'];
/** Tables whose keys are names and no keywords. */
const TABLES: readonly string[] = [
  '$defs',
  'definitions',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'properties',
];
/** Beside the tables: what stands there is a schema, or a list of them. */
const PARTS: readonly string[] = [
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
];
/**
 * With what to say instead. Where references lead to depends on the way by which they were reached; the others are words of
 * draft 3, which say nothing to those who do not know them.
 */
const UNJUDGED: Readonly<Record<string, string>> = {
  $dynamicRef: '$ref',
  $recursiveRef: '$ref',
  disallow: 'not',
  divisibleBy: 'multipleOf',
  extends: 'allOf',
};
const COUNTS = [
  'maxItems',
  'maxLength',
  'maxProperties',
  'minItems',
  'minLength',
  'minProperties',
  'minContains',
  'maxContains',
];
const NUMBERS = ['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum'];
const CHOICES = ['allOf', 'anyOf', 'oneOf'];

/**
 * Puts what draft 4 says into the words of later ones, in place. Gives in words what cannot be judged, or is no schema, and
 * where; undefined when there is nothing.
 */
export function modernize(schema: Node): string | undefined {
  const { $schema: name } = schema;
  const draft = /json-schema\.org\/draft-0(\d)/.exec(typeof name === 'string' ? name : '')?.[1];
  if (draft !== undefined && Number(draft) < 4)
    return `$schema is draft ${draft}, which cannot be judged; use draft 4 or later`;
  // What is left of it then means the same there.
  if (draft === '4') schema.$schema = 'http://json-schema.org/draft-07/schema#';
  return walk(schema, { at: '', isSchema: true });
}

interface Place {
  at: string;
  /** Below a keyword that nobody knows stands a schema only if a reference leads there. */
  isSchema: boolean;
}

function walk(node: Node, { at, isSchema }: Place): string | undefined {
  const place = (keyword: string): string => (at === '' ? keyword : `${at}.${keyword}`);
  const fault = unjudgedIn(node, place) ?? (isSchema ? faultOf(node, place) : undefined);
  if (fault !== undefined) return fault;
  translateBounds(node);
  return firstFault(Object.entries(node), ([keyword, value]) => {
    if (DATA.includes(keyword)) return undefined;
    const isTableOf = TABLES.includes(keyword);
    const below = { at: place(keyword), isSchema: isSchema && (isTableOf || PARTS.includes(keyword)) };
    return isTableOf && isTable(value) ? walkTable(value, below) : walkValue(value, below);
  });
}

const walkTable = (table: Node, { at, isSchema }: Place): string | undefined =>
  firstFault(Object.entries(table), ([name, value]) => walkValue(value, { at: `${at}.${name}`, isSchema }));

function walkValue(value: unknown, { at, isSchema }: Place): string | undefined {
  if (isTable(value)) return walk(value, { at, isSchema });
  if (!Array.isArray(value)) return undefined;
  return firstFault([...value.entries()], ([index, item]) => walkValue(item, { at: `${at}[${index}]`, isSchema }));
}

function firstFault<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const fault = find(item);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function unjudgedIn(node: Node, place: (keyword: string) => string): string | undefined {
  const [keyword, instead] = Object.entries(UNJUDGED).find(([each]) => node[each] !== undefined) ?? [];
  return keyword === undefined ? undefined : `${place(keyword)} cannot be judged; use ${instead}`;
}

function faultOf(node: Node, place: (keyword: string) => string): string | undefined {
  const { multipleOf, enum: values, dependencies } = node;
  // A name alone is draft 3.
  const [needed] =
    Object.entries(isTable(dependencies) ? dependencies : {}).find(([, need]) => typeof need === 'string') ?? [];
  if (needed !== undefined) return `${place('dependencies')}.${needed} must be a list of names or a schema`;
  if (Array.isArray(values) && values.length === 0) return `${place('enum')} is empty, so that no value matches it`;
  const choice = CHOICES.find((keyword) => Array.isArray(node[keyword]) && node[keyword].length === 0);
  if (choice !== undefined) return `${place(choice)} must have at least one schema`;
  if (multipleOf !== undefined && !(typeof multipleOf === 'number' && multipleOf > 0)) {
    return `${place('multipleOf')} must be a number above 0`;
  }
  const count = COUNTS.find((keyword) => node[keyword] !== undefined && !isCount(node[keyword]));
  if (count !== undefined) return `${place(count)} must be a whole number from 0 on`;
  const bound = NUMBERS.find((keyword) => node[keyword] !== undefined && !isBound(keyword, node[keyword]));
  return bound === undefined ? undefined : `${place(bound)} must be a number`;
}

/** `minimum: 5, exclusiveMinimum: true` of draft 4 is `exclusiveMinimum: 5`. */
function translateBounds(node: Node): void {
  for (const [bound, exclusive] of BOUNDS) {
    const { [bound]: value, [exclusive]: isExclusive } = node;
    if (typeof isExclusive !== 'boolean') continue;
    delete node[exclusive];
    if (!isExclusive || value === undefined) continue;
    delete node[bound];
    node[exclusive] = value;
  }
}

const BOUNDS = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const;

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;

const isBound = (keyword: string, value: unknown): boolean =>
  typeof value === 'number' || (keyword.startsWith('exclusive') && typeof value === 'boolean');

const isTable = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);
