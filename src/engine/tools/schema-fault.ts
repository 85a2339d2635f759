/** Finds what makes a JSON Schema unusable, before a value is checked against it. Pure. */

type Node = Readonly<Record<string, unknown>>;

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

/** Keywords whose value is a schema, a list of schemas, or a table of them. */
const SCHEMAS = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'else',
  'if',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const TABLES = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'];

/** In words what is wrong with a schema, and where; nothing when it can be used. `resolves` tells whether a `$ref` leads somewhere. */
export function findSchemaFault(schema: unknown, resolves: (node: Node) => boolean = () => true): string | undefined {
  try {
    return faultIn(schema, '', resolves);
  } catch (thrown) {
    return `it cannot be read: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}

function faultIn(schema: unknown, at: string, resolves: (node: Node) => boolean): string | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (!isTable(schema)) return `${at || 'it'} must be an object or a boolean`;
  const place = (keyword: string): string => (at === '' ? keyword : `${at}.${keyword}`);
  return (
    faultOfValues(schema, place) ??
    (schema.$ref === undefined || resolves(schema)
      ? undefined
      : `${place('$ref')} leads to ${JSON.stringify(schema.$ref)}, which is not part of it; nothing is fetched`) ??
    firstFault(partsOf(schema), ([keyword, part]) => faultIn(part, place(keyword), resolves))
  );
}

function faultOfValues(schema: Node, place: (keyword: string) => string): string | undefined {
  const { type, required, pattern, patternProperties } = schema;
  const types = Array.isArray(type) ? (type as unknown[]) : [type];
  if (type !== undefined && !types.every((name) => TYPES.includes(name as string))) {
    return `${place('type')} is ${JSON.stringify(type)}; known types are ${TYPES.join(', ')}`;
  }
  // Draft 3 put it on the field itself.
  if (required !== undefined && !isTexts(required)) return `${place('required')} must be a list of names`;
  if (schema.enum !== undefined && !Array.isArray(schema.enum)) return `${place('enum')} must be a list`;
  if (schema.$ref !== undefined && typeof schema.$ref !== 'string') return `${place('$ref')} must be a string`;
  if (pattern !== undefined && !isPattern(pattern)) return `${place('pattern')} is no regular expression`;
  const list = LISTS.find((keyword) => schema[keyword] !== undefined && !Array.isArray(schema[keyword]));
  if (list !== undefined) return `${place(list)} must be a list of schemas`;
  const table = TABLES.find((keyword) => schema[keyword] !== undefined && !isTable(schema[keyword]));
  if (table !== undefined) return `${place(table)} must be a table of schemas`;
  const wrong = Object.keys((patternProperties as object | undefined) ?? {}).find((name) => !isPattern(name));
  return wrong === undefined ? undefined : `${place('patternProperties')} has ${wrong}, which is no regular expression`;
}

function partsOf(schema: Node): [keyword: string, part: unknown][] {
  const listed = (keyword: string, parts: unknown): [string, unknown][] =>
    ((parts as unknown[] | undefined) ?? []).map((part, index) => [`${keyword}[${index}]`, part]);
  const { items } = schema;
  return [
    ...SCHEMAS.flatMap((keyword): [string, unknown][] =>
      schema[keyword] === undefined ? [] : [[keyword, schema[keyword]]],
    ),
    ...(Array.isArray(items) ? listed('items', items) : items === undefined ? [] : [['items', items] as const]),
    ...LISTS.flatMap((keyword) => listed(keyword, schema[keyword])),
    ...TABLES.flatMap((keyword) =>
      Object.entries((schema[keyword] as object | undefined) ?? {}).map(([name, part]): [string, unknown] => [
        `${keyword}.${name}`,
        part,
      ]),
    ),
  ] as [string, unknown][];
}

function firstFault<T>(items: readonly T[], faultOf: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const fault = faultOf(item);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const isTable = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === 'string');

function isPattern(value: unknown): boolean {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
