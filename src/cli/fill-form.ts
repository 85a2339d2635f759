/** What an MCP server wants to know, put to the person at the terminal: field by field, and nothing is sent unseen. */
import type { ParamsOf, ResultOf } from '../protocol/index.js';
import type { AskOptions } from './ask.js';
import { marksFor, paintFor } from './paint.js';
import { toVisible, toVisibleLine } from './visible.js';

type Form = ParamsOf<'elicitation'>;
type Answer = ResultOf<'elicitation'>;

interface Field {
  name: string;
  schema: Record<string, unknown>;
  isRequired: boolean;
}

/** So often a value that does not fit is asked for again; then the form is cancelled. */
const MAX_RETRIES = 3;

export async function fillForm(form: Form, options: AskOptions): Promise<Answer> {
  const { write, readLine } = options;
  const paint = paintFor(options);
  const server = toVisibleLine(form.mcp_server_name);
  write(
    `\n${paint.yellow(`${marksFor(options).call} MCP server ${paint.bold(server)} asks`)}\n  ${toVisible(form.message)}\n`,
  );
  if (form.mode === 'url') return visitPage(form, options);
  const fields = readFields(form.requested_schema ?? {});
  const first = (await readLine('Answer it? y / n: '))?.trim();
  if (first === undefined) return { action: 'cancel' };
  if (!/^y(es)?$/i.test(first)) return { action: 'decline' };
  const content: Record<string, unknown> = {};
  for (const field of fields) {
    const value = await readField(field, options);
    if (value === CANCELLED) return { action: 'cancel' };
    if (value !== undefined) content[field.name] = value;
  }
  write(`  ${paint.dim(`to ${server}:`)} ${toVisibleLine(JSON.stringify(content))}\n`);
  const sure = (await readLine('Send this? y / n: '))?.trim();
  return sure !== undefined && /^y(es)?$/i.test(sure) ? { action: 'accept', content } : { action: 'cancel' };
}

/** The page is shown whole and never opened by itself. */
async function visitPage({ url = '' }: Form, { write, readLine }: AskOptions): Promise<Answer> {
  write(`  Open this page yourself, if you trust it:\n  ${toVisibleLine(url)}\n`);
  const done = (await readLine('Done? y when you have been there, n to refuse: '))?.trim();
  if (done === undefined) return { action: 'cancel' };
  return /^y(es)?$/i.test(done) ? { action: 'accept' } : { action: 'decline' };
}

function readFields({ properties, required }: Record<string, unknown>): Field[] {
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries((properties ?? {}) as Record<string, Record<string, unknown>>).map(([name, schema]) => ({
    name,
    schema,
    isRequired: needed.has(name),
  }));
}

const CANCELLED = Symbol('cancelled');

async function readField({ name, schema, isRequired }: Field, { write, readLine }: AskOptions): Promise<unknown> {
  const { title, description, default: preset } = schema;
  const choices = choicesOf(schema);
  const label = toVisibleLine(typeof title === 'string' ? title : name);
  const hints = [
    ...(typeof description === 'string' ? [toVisibleLine(description)] : []),
    ...(choices.length > 0 ? [`one of ${choices.map(toVisibleLine).join(', ')}`] : []),
    ...(preset !== undefined ? [`nothing for ${toVisibleLine(JSON.stringify(preset))}`] : []),
    ...(preset === undefined && !isRequired ? ['may be left empty'] : []),
  ];
  if (hints.length > 0) write(`  ${hints.join('; ')}\n`);
  for (let retries = 0; retries <= MAX_RETRIES; retries += 1) {
    const line = await readLine(`  ${label}: `);
    if (line === undefined) return CANCELLED;
    const text = line.trim();
    if (text === '' && preset !== undefined) return preset;
    if (text === '' && !isRequired) return undefined;
    const read = readValue(text, schema, choices);
    if ('value' in read) return read.value;
    write(`  ${read.problem}\n`);
  }
  return CANCELLED;
}

function choicesOf(schema: Record<string, unknown>): string[] {
  const { enum: names, oneOf, items } = schema;
  const listed = Array.isArray(names) ? names : Array.isArray(oneOf) ? oneOf.map((each) => each?.const) : [];
  const own = listed.filter((each): each is string => typeof each === 'string');
  if (own.length > 0 || typeof items !== 'object' || items === null) return own;
  const { anyOf, ...rest } = items as Record<string, unknown>;
  return choicesOf(anyOf === undefined ? rest : { oneOf: anyOf });
}

type Read = { value: unknown } | { problem: string };

function readValue(text: string, { type }: Record<string, unknown>, choices: readonly string[]): Read {
  if (type === 'boolean') {
    if (/^(y(es)?|true)$/i.test(text)) return { value: true };
    return /^(no?|false)$/i.test(text) ? { value: false } : { problem: 'Say yes or no.' };
  }
  if (type === 'number' || type === 'integer') {
    const number = Number(text);
    const fits = text !== '' && Number.isFinite(number) && (type === 'number' || Number.isInteger(number));
    return fits
      ? { value: number }
      : { problem: type === 'integer' ? 'It must be a whole number.' : 'It must be a number.' };
  }
  if (type === 'array') {
    const parts = text.split(',').map((part) => part.trim());
    const unknown = parts.find((part) => choices.length > 0 && !choices.includes(part));
    return unknown === undefined ? { value: parts } : { problem: `${toVisibleLine(unknown)} is none of them.` };
  }
  if (text === '') return { problem: 'It is needed.' };
  if (choices.length > 0 && !choices.includes(text)) return { problem: `It must be one of ${choices.join(', ')}.` };
  return { value: text };
}
