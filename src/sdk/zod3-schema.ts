/** The JSON Schema of what a zod 3 schema takes; zod 4 can tell its own. */
import { HeddleError } from '../protocol/plain.js';
import { EndlessSchema, JSON_TYPES } from './endless-schema.js';
import { isPlainPattern, URL_PATTERN } from './pattern.js';

type JsonSchema = Record<string, unknown>;

/** What a zod 3 schema tells about itself. */
export interface Zod3 {
  _def: {
    typeName?: string;
    description?: string;
    innerType?: Zod3;
    schema?: Zod3;
    in?: Zod3;
    /** Of an array or a brand. */
    type?: Zod3;
    keyType?: Zod3;
    valueType?: Zod3;
    left?: Zod3;
    right?: Zod3;
    catchall?: Zod3;
    rest?: Zod3 | null;
    items?: readonly Zod3[];
    values?: readonly string[] | Record<string, string | number>;
    value?: unknown;
    options?: readonly Zod3[] | ReadonlyMap<unknown, Zod3>;
    shape?: () => Record<string, Zod3>;
    getter?: () => Zod3;
    unknownKeys?: 'strip' | 'strict' | 'passthrough';
    checks?: readonly Check[];
    coerce?: boolean;
    minLength?: Length;
    maxLength?: Length;
    exactLength?: Length;
  };
  safeParse(value: unknown): { success: boolean };
}

type Length = { value: number } | null;

interface Check {
  kind: string;
  value?: unknown;
  inclusive?: boolean;
  regex?: RegExp;
  position?: number;
}

interface Part {
  name: string;
  schema: JsonSchema;
}

interface Zod3Reading {
  /** What no JSON can be: refused, or left open because zod itself looks at the value. */
  unrepresentable: 'throw' | 'any';
  /** What refers to itself stands here, once: a lazy by its getter, since what that gives may be a new schema each time. */
  defs: Map<unknown, Part>;
  /** The objects that are being read. */
  open: Set<Zod3>;
  depth: number;
  /** How many more schemas are read. */
  left: number;
}

const MAX_DEPTH = 200;
const MAX_SCHEMAS = 50_000;

/** Throws `invalid_config` for types that no JSON can be, and for what has no end. */
export function readZod3(name: string, schema: Zod3): JsonSchema {
  const reading = startReading('throw');
  const read = fromZod3(name, schema, reading);
  // The definitions are known only now.
  return { ...read, ...defsOf(reading) };
}

/** Fields that cannot be told are left open: zod itself looks at the value. */
export function readZod3Shape(shape: Record<string, Zod3>): JsonSchema {
  const reading = startReading('any');
  const read = fromZod3Shape(shape, reading, (name, field) => {
    const before = new Map(reading.defs);
    try {
      return fromZod3(name, field, reading);
    } catch (thrown) {
      // A getter of the caller's own may throw, too. What is no field at all is told.
      if (thrown instanceof HeddleError && !(thrown instanceof EndlessSchema)) throw thrown;
      Object.assign(reading, { defs: before, open: new Set(), depth: 0, left: MAX_SCHEMAS });
      return {};
    }
  });
  return { ...read, ...defsOf(reading) };
}

const startReading = (unrepresentable: Zod3Reading['unrepresentable']): Zod3Reading => ({
  unrepresentable,
  defs: new Map(),
  open: new Set(),
  depth: 0,
  left: MAX_SCHEMAS,
});

/** Fields that may be left out are not among the required ones. */
function fromZod3Shape(
  shape: Record<string, Zod3>,
  reading: Zod3Reading,
  read = (name: string, field: Zod3) => fromZod3(name, field, reading),
): JsonSchema {
  const entries = Object.entries(shape);
  const required = entries.flatMap(([key, field]) => (isOptional(field) ? [] : [key]));
  const properties = Object.fromEntries(entries.map(([key, field]) => [key, read(key, field)]));
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/** To stand at the root. */
const defsOf = ({ defs }: Zod3Reading): JsonSchema =>
  defs.size === 0 ? {} : { $defs: Object.fromEntries([...defs.values()].map(({ name, schema }) => [name, schema])) };

function fromZod3(name: string, field: Zod3, reading: Zod3Reading): JsonSchema {
  const def = field?._def;
  if (def?.typeName === undefined) {
    throw new HeddleError('invalid_config', `The field ${name} is no zod schema.`, {
      hint: 'Give zod fields: { name: z.string() }.',
    });
  }
  reading.depth += 1;
  reading.left -= 1;
  if (reading.depth > MAX_DEPTH || reading.left < 0) throw new EndlessSchema(name);
  const schema = def.typeName === 'ZodObject' ? readObject(name, field, reading) : convert(name, field, reading);
  reading.depth -= 1;
  return def.description === undefined ? schema : { ...schema, description: def.description };
}

function convert(name: string, { _def: def }: Zod3, reading: Zod3Reading): JsonSchema {
  const read = (part: Zod3 | null | undefined): JsonSchema => (part ? fromZod3(name, part, reading) : {});
  const { options = [], values = [] } = def;
  switch (def.typeName) {
    case 'ZodString':
      return readString(def.checks ?? []);
    case 'ZodNumber':
      return readNumber(def.checks ?? []);
    case 'ZodBoolean':
      return { type: 'boolean' };
    case 'ZodNull':
      return { type: 'null' };
    case 'ZodAny':
    case 'ZodUnknown':
      return {};
    case 'ZodNever':
      return { not: {} };
    case 'ZodEnum':
      return { type: 'string', enum: Object.values(values) };
    case 'ZodNativeEnum':
      return { enum: enumValues(values) };
    case 'ZodLiteral':
      return isJson(def.value) ? { const: def.value } : refuse(name, 'ZodLiteral', reading);
    case 'ZodArray':
      return { type: 'array', ...(def.type && { items: read(def.type) }), ...bounds(def) };
    case 'ZodTuple': {
      const items = def.items ?? [];
      const size = { minItems: items.length, ...(!def.rest && { maxItems: items.length }) };
      return { type: 'array', prefixItems: items.map(read), ...(def.rest && { items: read(def.rest) }), ...size };
    }
    case 'ZodRecord': {
      const key = def.keyType?._def;
      const isAny = key === undefined || (key.typeName === 'ZodString' && !key.checks?.length);
      const propertyNames = !isAny && { propertyNames: read(def.keyType) };
      return { type: 'object', additionalProperties: read(def.valueType), ...propertyNames };
    }
    case 'ZodUnion':
    case 'ZodDiscriminatedUnion':
      return { anyOf: [...options.values()].map(read) };
    case 'ZodIntersection':
      return { allOf: [read(def.left), read(def.right)] };
    case 'ZodNullable':
      return { anyOf: [read(def.innerType), { type: 'null' }] };
    case 'ZodLazy':
      return readLazy(name, def.getter, reading);
    case 'ZodDate':
      return def.coerce ? { type: 'string' } : refuse(name, def.typeName, reading);
    case 'ZodOptional':
    case 'ZodDefault':
    case 'ZodCatch':
    case 'ZodReadonly':
      return read(def.innerType);
    case 'ZodBranded':
      return read(def.type);
    // What they make of a value is theirs: a model gives what goes in.
    case 'ZodEffects':
      return read(def.schema);
    case 'ZodPipeline':
      return read(def.in);
    default:
      return refuse(name, def.typeName ?? 'unknown', reading);
  }
}

function refuse(name: string, type: string, { unrepresentable }: Zod3Reading): JsonSchema {
  if (unrepresentable === 'any') return {};
  throw new HeddleError('invalid_config', `The schema of ${name} (${type}) has no counterpart in JSON Schema.`, {
    hint: JSON_TYPES,
  });
}

/** It may be met again inside of itself, without a lazy between them too (`z.late.object`). */
function readObject(name: string, field: Zod3, reading: Zod3Reading): JsonSchema {
  const { _def: def } = field;
  const { open, defs } = reading;
  if (open.has(field)) return refTo(defs.get(field) ?? addPart(field, reading));
  open.add(field);
  const others = def.catchall?._def.typeName === 'ZodNever' ? undefined : def.catchall;
  const closed = def.unknownKeys === 'strict' && { additionalProperties: false };
  const schema = {
    ...fromZod3Shape(def.shape?.() ?? {}, reading),
    ...(others === undefined ? closed : { additionalProperties: fromZod3(name, others, reading) }),
  };
  open.delete(field);
  const part = defs.get(field);
  if (part !== undefined) part.schema = schema;
  return schema;
}

function readLazy(name: string, getter: (() => Zod3) | undefined, reading: Zod3Reading): JsonSchema {
  if (getter === undefined) return {};
  const known = reading.defs.get(getter);
  if (known !== undefined) return refTo(known);
  const part = addPart(getter, reading);
  part.schema = fromZod3(name, getter(), reading);
  return refTo(part);
}

function addPart(key: unknown, { defs }: Zod3Reading): Part {
  const part = { name: `part${defs.size + 1}`, schema: {} };
  defs.set(key, part);
  return part;
}

const refTo = ({ name }: Part): JsonSchema => ({ $ref: `#/$defs/${name}` });

const FORMATS: Readonly<Record<string, string>> = { email: 'email', uuid: 'uuid', date: 'date' };

/** Where the format of the name takes less than zod does. */
const FORM_PATTERNS: Readonly<Record<string, string>> = {
  url: URL_PATTERN,
  datetime: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}',
  duration: '^[-+]?P',
};

function readString(checks: readonly Check[]): JsonSchema {
  const schema: JsonSchema = { type: 'string' };
  const patterns: string[] = [];
  for (const { kind, value, regex, position } of checks) {
    const format = FORMATS[kind];
    if (format !== undefined) schema.format = format;
    if (kind === 'min' || kind === 'length') schema.minLength = value;
    if (kind === 'max' || kind === 'length') schema.maxLength = value;
    const form = FORM_PATTERNS[kind];
    if (form !== undefined) patterns.push(form);
    if (kind === 'regex' && regex && isPlainPattern(regex)) patterns.push(regex.source);
    if (kind === 'startsWith') patterns.push(`^${escape(String(value))}`);
    if (kind === 'endsWith') patterns.push(`${escape(String(value))}$`);
    if (kind === 'includes' && position === undefined) patterns.push(escape(String(value)));
  }
  if (patterns.length === 1) return { ...schema, pattern: patterns[0] };
  return patterns.length === 0 ? schema : { ...schema, allOf: patterns.map((pattern) => ({ pattern })) };
}

const escape = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

function readNumber(checks: readonly Check[]): JsonSchema {
  const schema: JsonSchema = { type: checks.some(({ kind }) => kind === 'int') ? 'integer' : 'number' };
  for (const { kind, value, inclusive } of checks) {
    if (kind === 'min') schema[inclusive ? 'minimum' : 'exclusiveMinimum'] = value;
    if (kind === 'max') schema[inclusive ? 'maximum' : 'exclusiveMaximum'] = value;
    if (kind === 'multipleOf') schema.multipleOf = value;
  }
  return schema;
}

function bounds({ minLength, maxLength, exactLength }: Zod3['_def']): JsonSchema {
  const least = exactLength ?? minLength;
  const most = exactLength ?? maxLength;
  return { ...(least && { minItems: least.value }), ...(most && { maxItems: most.value }) };
}

/** An enum of numbers also has its names as values, which do not count. */
function enumValues(values: NonNullable<Zod3['_def']['values']>): unknown[] {
  const table = values as Record<string, string | number>;
  const names = Object.keys(table).filter((key) => typeof table[table[key] as string] !== 'number');
  return names.map((key) => table[key]);
}

const isJson = (value: unknown): boolean =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);

/** A check of the caller's own may throw at nothing. */
function isOptional(field: Zod3): boolean {
  try {
    return field.safeParse(undefined).success;
  } catch {
    return false;
  }
}
