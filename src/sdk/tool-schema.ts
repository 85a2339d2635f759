import type { z } from 'zod';
import { HeddleError } from '../protocol/plain.js';
import type { AnyZodRawShape, FieldSchema } from './tool-definition.js';

/** The JSON Schema of a shape of zod fields, whichever version of zod they come from. */
export async function toJsonSchema(shape: AnyZodRawShape): Promise<Record<string, unknown>> {
  const fields = Object.entries(shape);
  if (fields.every(([, field]) => '_zod' in field)) {
    const { z: own } = await import('zod');
    const { $schema: _, ...schema } = own.toJSONSchema(own.object(shape as unknown as z.ZodRawShape), {
      io: 'input',
      unrepresentable: 'any',
    });
    return schema;
  }
  const properties = Object.fromEntries(
    fields.map(([name, field]) => [name, fromZod3(name, field as unknown as Zod3)]),
  );
  const required = fields.flatMap(([name, field]) => (field.safeParse(undefined).success ? [] : [name]));
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/** The JSON Schema of an answer: it is one already, or a zod schema of either version. */
export async function toOutputSchema(schema: OutputSchema): Promise<Record<string, unknown>> {
  if ('_zod' in schema) {
    const { z: own } = await import('zod');
    const { $schema: _, ...plain } = own.toJSONSchema(schema as unknown as z.ZodType, { unrepresentable: 'any' });
    return plain;
  }
  return '_def' in schema ? fromZod3('outputFormat', schema as unknown as Zod3) : { ...schema };
}

/** A JSON Schema, or a zod schema. */
export type OutputSchema = Record<string, unknown> | FieldSchema;

/** What a zod 3 schema tells about itself. */
interface Zod3 {
  _def: {
    typeName?: string;
    description?: string;
    innerType?: Zod3;
    schema?: Zod3;
    type?: Zod3;
    valueType?: Zod3;
    values?: readonly string[];
    value?: unknown;
    options?: readonly Zod3[];
    shape?: () => Record<string, Zod3>;
    checks?: readonly { kind: string }[];
  };
  safeParse(value: unknown): { success: boolean };
}

function fromZod3(name: string, field: Zod3): Record<string, unknown> {
  const def = field._def;
  if (def?.typeName === undefined) {
    throw new HeddleError('invalid_config', `The field ${name} of a tool input is no zod schema.`, {
      hint: 'Give tool() a shape of zod fields: { name: z.string() }.',
    });
  }
  const described = def.description === undefined ? {} : { description: def.description };
  const inner = def.innerType ?? def.schema;
  switch (def.typeName) {
    case 'ZodString':
      return { type: 'string', ...described };
    case 'ZodNumber':
      return { type: def.checks?.some((check) => check.kind === 'int') ? 'integer' : 'number', ...described };
    case 'ZodBoolean':
      return { type: 'boolean', ...described };
    case 'ZodEnum':
      return { type: 'string', enum: [...(def.values ?? [])], ...described };
    case 'ZodLiteral':
      return { const: def.value, ...described };
    case 'ZodArray':
      return { type: 'array', ...(def.type && { items: fromZod3(name, def.type) }), ...described };
    case 'ZodRecord':
      return {
        type: 'object',
        ...(def.valueType && { additionalProperties: fromZod3(name, def.valueType) }),
        ...described,
      };
    case 'ZodUnion':
      return { anyOf: (def.options ?? []).map((option) => fromZod3(name, option)), ...described };
    case 'ZodObject': {
      const shape = def.shape?.() ?? {};
      const required = Object.keys(shape).filter((key) => !shape[key]?.safeParse(undefined).success);
      const properties = Object.fromEntries(Object.entries(shape).map(([key, part]) => [key, fromZod3(key, part)]));
      return { type: 'object', properties, ...(required.length > 0 && { required }), ...described };
    }
    case 'ZodNullable':
      return { anyOf: [inner ? fromZod3(name, inner) : {}, { type: 'null' }], ...described };
    default:
      return inner ? { ...fromZod3(name, inner), ...described } : described;
  }
}
