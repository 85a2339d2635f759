import type { z } from 'zod';
import { HeddleError } from '../protocol/plain.js';
import type { AnyZodRawShape, FieldSchema } from './tool-definition.js';
import type { Zod3 } from './zod3-schema.js';

/** The JSON Schema of a shape of zod fields, whichever version of zod they come from. What it leaves open, zod itself checks. */
export async function toJsonSchema(shape: AnyZodRawShape): Promise<Record<string, unknown>> {
  const fields = Object.entries(shape);
  if (fields.every(([, field]) => '_zod' in field)) {
    const { fromZod4Shape } = await import('./zod4-schema.js');
    return fromZod4Shape(shape as unknown as Record<string, z.ZodType>);
  }
  const { readZod3Shape } = await import('./zod3-schema.js');
  return readZod3Shape(shape as unknown as Record<string, Zod3>);
}

/** A JSON Schema, or a zod schema. */
export type OutputSchema = Record<string, unknown> | FieldSchema;

/**
 * The JSON Schema of an answer: it is one already, or that of what a zod schema of either version takes. Throws
 * `invalid_config` for types that no JSON can be.
 */
export async function toOutputSchema(schema: OutputSchema): Promise<Record<string, unknown>> {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    const given = schema === null || schema === undefined ? String(schema) : typeof schema;
    throw unusable(`outputFormat.schema is ${given}.`, 'Give a JSON Schema or a zod schema: { type: "object", ... }.');
  }
  if ('_zod' in schema) {
    const { fromZod4 } = await import('./zod4-schema.js');
    return fromZod4('outputFormat.schema', schema as unknown as z.ZodType);
  }
  if (!isZod(schema)) return { ...schema };
  const { readZod3 } = await import('./zod3-schema.js');
  return readZod3('outputFormat.schema', schema as unknown as Zod3);
}

/**
 * Why a value is no answer for the schema of the caller; undefined when it is. JSON Schema has no word for refinements and
 * other code of a zod schema, so it has the last word.
 */
export async function findFault(schema: OutputSchema, value: unknown): Promise<string | undefined> {
  if (!isZod(schema)) return undefined;
  try {
    // A copy: a preprocessing step may change what it gets.
    const { success, error } = await schema.safeParseAsync(structuredClone(value));
    if (success) return undefined;
    const issues = (error as { issues?: { path: PropertyKey[]; message: string }[] } | undefined)?.issues ?? [];
    return issues.map(({ path, message }) => `${path.map(String).join('.') || 'the value'}: ${message}`).join('; ');
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

interface ZodSchema {
  safeParseAsync(value: unknown): Promise<{ success: boolean; error?: unknown }>;
}

const isZod = (schema: OutputSchema): schema is OutputSchema & ZodSchema =>
  ('_zod' in schema || '_def' in schema) && 'safeParseAsync' in schema && typeof schema.safeParseAsync === 'function';

const unusable = (message: string, hint: string): HeddleError => new HeddleError('invalid_config', message, { hint });
