/** The JSON Schema of what a zod 4 schema takes: zod's own words, without those that refuse more than zod does. */
import type { z } from 'zod';
import { HeddleError } from '../protocol/plain.js';
import { EndlessSchema, JSON_TYPES } from './endless-schema.js';
import { isPattern, isPlainPattern, URL_PATTERN } from './pattern.js';

type JsonSchema = Record<string, unknown>;
type Zod = typeof z;
type Fields = Readonly<Record<string, z.ZodType>>;

/** Throws `invalid_config` for types that no JSON can be, and for what has no end. */
export async function fromZod4(name: string, schema: z.ZodType): Promise<JsonSchema> {
  const { z: own } = await import('zod');
  try {
    return convert(own, schema, 'throw');
  } catch (thrown) {
    if (thrown instanceof RangeError) throw new EndlessSchema(name);
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new HeddleError('invalid_config', `${name} has no counterpart in JSON Schema: ${why}.`, { hint: JSON_TYPES });
  }
}

function convert(own: Zod, schema: z.ZodType, unrepresentable: 'throw' | 'any'): JsonSchema {
  const { $schema: _, ...plain } = own.toJSONSchema(schema, {
    io: 'input',
    unrepresentable,
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'file') return openFile(jsonSchema, unrepresentable);
      loosen(own, zodSchema, jsonSchema);
    },
  });
  return inlineRoot(plain);
}

/** To zod it is a text in JSON, and yet takes none. */
function openFile(schema: JsonSchema, unrepresentable: 'throw' | 'any'): void {
  if (unrepresentable === 'throw') throw new Error('Files cannot be represented in JSON Schema');
  for (const key of Object.keys(schema)) delete schema[key];
}

/** A shape whose fields cannot all be told has those left open: zod itself looks at the value. */
export async function fromZod4Shape(shape: Fields): Promise<JsonSchema> {
  const { z: own } = await import('zod');
  const read = (fields: Fields): JsonSchema => convert(own, own.object(fields), 'any');
  try {
    return read(shape);
  } catch {
    const known = Object.entries(shape).map(([name, field]) => [
      name,
      isReadable(own, field) ? field : toOpen(own, field),
    ]);
    return read(Object.fromEntries(known));
  }
}

function isReadable(own: Zod, field: z.ZodType): boolean {
  try {
    convert(own, field, 'any');
    return true;
  } catch {
    return false;
  }
}

function toOpen(own: Zod, field: z.ZodType): z.ZodType {
  try {
    return field.safeParse(undefined).success ? own.any().optional() : own.any();
  } catch {
    return own.any();
  }
}

/** A pattern of zod's own says the same, and exactly what zod takes. */
const STRICTER_FORMATS: readonly unknown[] = ['date-time', 'duration', 'time'];

function loosen(own: Zod, { _zod }: z.core.$ZodTypes, schema: JsonSchema): void {
  if (typeof schema.patternProperties === 'object' && schema.patternProperties !== null) {
    const kept = Object.entries(schema.patternProperties).filter(([source]) => isPattern(source));
    schema.patternProperties = Object.fromEntries(kept);
  }
  if (schema.type !== 'string') return;
  const sources = takePatterns(schema);
  const flagged = new Set(regexesOf(_zod).flatMap((regex) => (isPlainPattern(regex) ? [] : [regex.source])));
  const plain = sources.filter((source) => !flagged.has(source) && isPattern(source));
  if (schema.format === 'uri') plain.push(URL_PATTERN);
  const isOfOwn = schema.format === 'email' && !sources.includes(own.core.regexes.email.source);
  if (schema.format === 'uri' || isOfOwn || (sources.length > 0 && STRICTER_FORMATS.includes(schema.format))) {
    delete schema.format;
  }
  if (plain.length === 1) schema.pattern = plain[0];
  else if (plain.length > 1) schema.allOf = plain.map((pattern) => ({ pattern }));
}

/** Those that a string has, which are gone then. */
function takePatterns(schema: JsonSchema): string[] {
  const { pattern, allOf } = schema;
  const listed = Array.isArray(allOf) ? allOf.map((part: JsonSchema) => part.pattern) : [];
  const all = [pattern, ...listed].filter((source) => typeof source === 'string');
  delete schema.pattern;
  if (listed.length > 0 && listed.every((source) => source !== undefined)) delete schema.allOf;
  return all;
}

interface Patterned {
  pattern?: unknown;
  checks?: readonly { _zod: { def: { pattern?: unknown } } }[];
}

function regexesOf({ def, bag }: { def: unknown; bag: Record<string, unknown> }): RegExp[] {
  const { pattern, checks = [] } = def as Patterned;
  const own = checks.map((check) => check._zod.def.pattern);
  const kept = (bag.patterns as Iterable<unknown> | undefined) ?? [];
  return [pattern, ...own, ...kept].filter((each) => each instanceof RegExp);
}

const ROOT = /^#\/\$defs\/([^/]+)$/;

/** A root with an id of its own is put among the definitions; a tool has to have its object at the root. */
function inlineRoot(schema: JsonSchema): JsonSchema {
  const { $ref, $defs, ...rest } = schema;
  const name = typeof $ref === 'string' ? ROOT.exec($ref)?.[1] : undefined;
  if (name === undefined || typeof $defs !== 'object' || $defs === null) return schema;
  const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
  const { [key]: root, ...others } = $defs as Record<string, JsonSchema>;
  if (root === undefined) return schema;
  const isUsed = JSON.stringify([root, others]).includes(JSON.stringify($ref));
  const defs = isUsed ? $defs : others;
  return { ...root, ...rest, ...(Object.keys(defs).length > 0 && { $defs: defs }) };
}
