/** Checks values against JSON Schema: what users' tools and MCP servers say of inputs and results. */
import { createContext, Script } from 'node:vm';
import type { OutputUnit, Schema, SchemaDraft } from '@cfworker/json-schema';
import { HeddleError, PROBLEM_TEXTS } from '../../protocol/plain.js';
import { findSchemaFault } from './schema-fault.js';
import { describeUnits } from './schema-problem.js';

type Checker = typeof import('@cfworker/json-schema');

interface Compiled {
  /** A copy: the checker leaves marks in what it is given. */
  schema: Schema;
  draft: SchemaDraft;
  lookup: Record<string, Schema | boolean>;
  /** What it takes to check a value may grow faster than the value. */
  costly: boolean;
}

/** Longer than this nobody waits for a check; the process has other sessions. */
const CHECK_MS = 500;
/** A schema of the plain kind takes microseconds for a value of this length. */
const WATCHED_LENGTH = 16 * 1024;
/** Of larger values only the first problems are looked for. */
const THOROUGH_LENGTH = 64 * 1024;
/** Patterns can explode, and so can references that split in two again and again. */
const COSTLY = /"(?:pattern|patternProperties|format|uniqueItems|\$ref|\$recursiveRef)":/;

const compiled = new WeakMap<object, Compiled>();

/**
 * The problems in words, one for each wrong field; none when the value matches. Throws `invalid_config` when the schema
 * itself cannot be used. References are resolved inside the schema only; nothing is fetched.
 */
export async function checkAgainst(
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
  about: keyof typeof PROBLEM_TEXTS = 'input',
): Promise<string[]> {
  const checker = await import('@cfworker/json-schema');
  const known = compiled.get(schema) ?? compile(checker, schema);
  compiled.set(schema, known);
  const texts = PROBLEM_TEXTS[about];
  const json = toJson(value);
  if ('problem' in json) return [texts.notValid([], json.problem)];
  const plain: unknown = JSON.parse(json.text);
  const found = findUnits(checker, known, { plain, length: json.text.length });
  if (typeof found === 'string') return [texts.notValid([], found)];
  return describeUnits(found, { value: plain, texts, schema: known.schema, lookup: known.lookup });
}

function compile({ dereference }: Checker, given: Readonly<Record<string, unknown>>): Compiled {
  const json = toJson(given);
  if ('problem' in json) throw unusable(json.problem);
  const schema = JSON.parse(json.text) as Schema;
  let lookup: Compiled['lookup'];
  try {
    lookup = dereference(schema);
  } catch (thrown) {
    throw unusable(findSchemaFault(schema) ?? messageOf(thrown));
  }
  const fault = findSchemaFault(schema, (node) => {
    const { __absolute_ref__: absolute, $ref } = node as Schema;
    return lookup[absolute ?? $ref ?? ''] !== undefined;
  });
  if (fault !== undefined) throw unusable(fault);
  return { schema, lookup, draft: draftOf(schema.$schema), costly: COSTLY.test(json.text) };
}

const unusable = (fault: string): HeddleError =>
  new HeddleError('invalid_config', `A JSON Schema cannot be used: ${fault}.`, {
    hint: 'Correct the schema where the tool is defined.',
  });

function draftOf(uri: unknown): SchemaDraft {
  const known = /draft-0(\d)|draft\/(2019-09|2020-12)/.exec(typeof uri === 'string' ? uri : '');
  if (known?.[1] !== undefined) return Number(known[1]) <= 4 ? '4' : '7';
  return known?.[2] === '2019-09' ? '2019-09' : '2020-12';
}

/** As JSON has it: that is what others will see of the value. */
function toJson(value: unknown): { text: string } | { problem: string } {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? { problem: 'there is none' } : { text };
  } catch (thrown) {
    return { problem: `it is not JSON (${messageOf(thrown).split('\n', 1)[0]})` };
  }
}

/** What the checker finds, or why it could not look. */
function findUnits(
  { validate }: Checker,
  { schema, draft, lookup, costly }: Compiled,
  { plain, length }: { plain: unknown; length: number },
): OutputUnit[] | string {
  const stopsEarly = length > THOROUGH_LENGTH;
  const check = () => validate(plain, schema, draft, lookup, stopsEarly).errors;
  try {
    return costly || length > WATCHED_LENGTH ? runWithin(CHECK_MS, check) : check();
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      return `it could not be checked within ${CHECK_MS} ms, because the schema is too costly for it`;
    }
    if (thrown instanceof RangeError) return 'it has too many problems, or is nested too deeply, to be checked';
    return `it could not be checked (${messageOf(thrown)})`;
  }
}

let box: { work: () => void } | undefined;
const script = new Script('work()');

/** Runs something synchronous that may never end. Only V8's own watchdog can stop an exploding pattern. */
function runWithin<T>(timeout: number, work: () => T): T {
  const outcome: T[] = [];
  box ??= createContext({ work: () => {} }) as { work: () => void };
  box.work = () => void outcome.push(work());
  try {
    script.runInContext(box, { timeout });
  } finally {
    box.work = () => {};
  }
  return outcome[0] as T;
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
