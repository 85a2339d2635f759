/** What a server says of a tool: whether a model can be given it, and what it is told by. */
import { createSha256 } from '../workspace/sha256.js';
import { cutText } from '../tools/bound.js';
import { findSchemaFault } from '../tools/schema-fault.js';
import type { McpTool } from './connection.js';

const MAX_DESCRIPTION = 2_048;
const MAX_SCHEMA = 200_000;
const MAX_TOOL_NAME = 256;
/** Deeper ones are no help to a model, and a danger to whoever walks them. */
const MAX_DEPTH = 100;

/** A tool whose definition can be sent to a model, and what was left out of it. */
export interface UsableTool {
  /** As the server said it: what the hash is made of, and what the server is called with. */
  given: McpTool;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown>;
}

/** One tool that the model API refuses makes it refuse every request: such a tool is left out, and the reason told. */
export function readDefinition(given: unknown): UsableTool | { fault: string } {
  if (!isTable(given) || typeof given.name !== 'string' || given.name === '') return { fault: 'it has no name' };
  if (given.name.length > MAX_TOOL_NAME) return { fault: `its name is longer than ${MAX_TOOL_NAME} characters` };
  const { description, inputSchema = { type: 'object' }, outputSchema } = given;
  const fault = faultOfSchema(inputSchema);
  if (fault !== undefined) return { fault };
  const tool = given as unknown as McpTool;
  return {
    given: tool,
    description: describe(typeof description === 'string' ? description : '', tool),
    inputSchema: flatten(inputSchema as Record<string, unknown>),
    // A schema that cannot be used must not make every result an error.
    ...(isTable(outputSchema) && faultOfAny(outputSchema) === undefined && { outputSchema }),
  };
}

/** What the server claims stands behind the rest, and is called a claim. */
function describe(text: string, { annotations }: McpTool): string {
  const shown = text.toWellFormed();
  const cut = shown.length <= MAX_DESCRIPTION ? shown : `${cutText(shown, MAX_DESCRIPTION)} [cut]`;
  const claims = claimsOf(annotations);
  return claims.length === 0 ? cut : `${cut}${cut === '' ? '' : '\n'}(The server says: ${claims.join(', ')}.)`;
}

function claimsOf(annotations: unknown): string[] {
  const { readOnlyHint, destructiveHint } = isTable(annotations) ? annotations : {};
  if (readOnlyHint === true) return ['read-only'];
  return destructiveHint === true ? ['may destroy'] : [];
}

/** As a status shows them. */
export function showAnnotations(annotations: unknown): Record<string, boolean> | undefined {
  if (!isTable(annotations)) return undefined;
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations;
  const shown = { readOnly: readOnlyHint, destructive: destructiveHint, openWorld: openWorldHint };
  const known = Object.entries(shown).filter((entry): entry is [string, boolean] => typeof entry[1] === 'boolean');
  return known.length === 0 ? undefined : Object.fromEntries(known);
}

const BRANCHES = ['allOf', 'anyOf', 'oneOf'] as const;

function faultOfSchema(schema: unknown): string | undefined {
  if (!isTable(schema)) return 'its input schema is no object';
  const { type } = schema;
  if (type !== undefined && type !== 'object') return 'the type of its input schema is not "object"';
  const fault = faultOfAny(schema);
  if (fault !== undefined) return fault;
  const names = [schema, ...branchesOf(schema)].flatMap((part) =>
    isTable(part.properties) ? Object.keys(part.properties) : [],
  );
  const bad = names.find((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name));
  return bad === undefined ? undefined : `the model API does not take the field ${JSON.stringify(bad.slice(0, 80))}`;
}

function faultOfAny(schema: Record<string, unknown>): string | undefined {
  if (isDeeper(schema, MAX_DEPTH)) return 'its schema is nested too deep';
  if (JSON.stringify(schema).length > MAX_SCHEMA) return `its schema is longer than ${MAX_SCHEMA / 1000} KB`;
  const fault = findSchemaFault(schema);
  return fault === undefined ? undefined : `its schema cannot be used: ${fault}`;
}

function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((part) => isDeeper(part, depth - 1));
}

const branchesOf = (schema: Record<string, unknown>): Record<string, unknown>[] =>
  BRANCHES.flatMap((keyword) => (Array.isArray(schema[keyword]) ? (schema[keyword] as unknown[]) : [])).filter(isTable);

/** The model API takes no alternatives at the top: their fields are all named, and the server says which go together. */
function flatten(schema: Record<string, unknown>): Record<string, unknown> {
  const branches = branchesOf(schema);
  const { allOf, anyOf: _, oneOf: __, ...rest } = schema;
  if (branches.length === 0 && BRANCHES.every((keyword) => schema[keyword] === undefined)) {
    return { ...schema, type: 'object' };
  }
  const all = Array.isArray(allOf) ? allOf.filter(isTable) : [];
  const required = [schema, ...all].flatMap((part) =>
    Array.isArray(part.required) ? (part.required as string[]) : [],
  );
  const properties = Object.assign(
    {},
    ...branches.map((branch) => (isTable(branch.properties) ? branch.properties : {})),
    isTable(schema.properties) ? schema.properties : {},
  ) as Record<string, unknown>;
  return { ...rest, type: 'object', properties, ...(required.length > 0 && { required: [...new Set(required)] }) };
}

const hashes = new WeakMap<McpTool, string>();

/** Equal for tools that say the same of themselves: name, description and schemas, in whatever order. */
export function definitionHash(tool: McpTool): string {
  const known = hashes.get(tool);
  if (known !== undefined) return known;
  const { name, description = '', inputSchema, outputSchema } = tool;
  const said = JSON.stringify([name, description, ordered(inputSchema), ordered(outputSchema) ?? null]);
  const hash = `sha256:${createSha256().update(said).digest('hex')}`;
  hashes.set(tool, hash);
  return hash;
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return ['list', ...value.map(ordered)];
  if (!isTable(value)) return value;
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return ['table', ...fields.map(([key, part]) => [key, ordered(part)])];
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
