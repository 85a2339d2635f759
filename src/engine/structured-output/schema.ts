/** The schema that a caller wants answers to match, looked at before anything is asked. */
import { HeddleError } from '../../protocol/plain.js';
import { modernize } from './dialect.js';

/** A larger one would not fit into a request beside anything else. */
const MAX_BYTES = 1024 * 1024;

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * A copy of the schema as the model API takes it. Throws `invalid_config` for what is no schema, what has no object at its
 * root, what refers to something elsewhere, what cannot be judged, and what is too large.
 */
export async function parseOutputSchema(given: unknown): Promise<JsonSchema> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw unusable(`it is ${nameOf(given)}, not an object`);
  }
  const schema = toPlain(given);
  if (schema.type === undefined && isTable(schema.properties)) schema.type = 'object';
  const fault = rootFault(schema);
  if (fault !== undefined) throw unusable(fault, 'Give it an object at its root: {type: "object", properties: {...}}.');
  const unjudged = findUnjudged(schema);
  if (unjudged !== undefined) throw unusable(unjudged);
  const { checkAgainst } = await import('../tools/json-schema.js');
  try {
    await checkAgainst(schema, {}, 'output');
  } catch (thrown) {
    throw unusable(faultOf(thrown));
  }
  return schema;
}

function toPlain(given: object): Record<string, unknown> {
  let text: string;
  try {
    text = JSON.stringify(given);
  } catch (thrown) {
    // The stack is what ends first.
    if (thrown instanceof RangeError) throw unusable('it is nested too deep', 'Make it flatter.');
    throw unusable(`it is not JSON (${messageOf(thrown).split('\n', 1)[0]})`);
  }
  const bytes = Buffer.byteLength(text ?? '');
  if (bytes > MAX_BYTES) {
    throw unusable(`it has ${bytes.toLocaleString('en-US')} bytes, and at most 1 MB can be used`, 'Make it smaller.');
  }
  const plain: unknown = JSON.parse(text ?? 'null');
  if (!isTable(plain)) throw unusable('it is not an object once it is written as JSON');
  return plain;
}

function findUnjudged(schema: Record<string, unknown>): string | undefined {
  try {
    return modernize(schema);
  } catch (thrown) {
    if (thrown instanceof RangeError) return 'it is nested too deep';
    throw thrown;
  }
}

/** The input of a tool is an object, and the API takes no choice between several. */
function rootFault({ type, $ref, ...rest }: Record<string, unknown>): string | undefined {
  const choice = ['anyOf', 'oneOf', 'allOf'].find((keyword) => rest[keyword] !== undefined);
  if (choice !== undefined) return `it has ${choice} at its root, which the model API does not take`;
  if (type === 'object') return undefined;
  if ($ref !== undefined) return 'it has a $ref at its root, and must have the type "object" there';
  return `the type at its root is ${JSON.stringify(type) ?? 'missing'}, and must be "object"`;
}

/** Without the words that are about tools. */
const faultOf = (thrown: unknown): string =>
  messageOf(thrown)
    .replace(/^A JSON Schema cannot be used: /, '')
    .replace(/\.$/, '');

const unusable = (fault: string, hint = 'Correct outputFormat.schema (--json-schema).'): HeddleError =>
  new HeddleError('invalid_config', `The schema of the answer cannot be used: ${fault}.`, {
    hint,
    data: { path: 'jsonSchema' },
  });

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const nameOf = (value: unknown): string => {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
};

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
