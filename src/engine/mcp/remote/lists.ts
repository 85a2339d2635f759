/** What a server has, read page by page and kept within bounds. */
import type { McpTool } from '../connection.js';
import type { McpList, McpPrompt, McpResource } from '../link.js';
import type { Note } from './carrier.js';
import { finiteLength, isRecord, jsonLength, toPlainText } from './text.js';

export interface Lists {
  tools: McpTool[];
  prompts: McpPrompt[];
  resources: McpResource[];
}

const MAX_ENTRIES = 10_000;
const MAX_PAGES = 1_000;
const NAME_CHARS = 256;
const DESCRIPTION_CHARS = 32_768;
const URI_CHARS = 4_096;
/** What a model may be given of one, and no more is kept of it. */
const SCHEMA_CHARS = 200_000;
/** All that is read of a list, page after page, whether it can be used or not. */
export const MAX_LIST_CHARS = 32 * 1024 * 1024;
const MAX_LEFT_OUT = 100;
const MAX_ARGUMENTS = 100;

/** Asks for one page. */
export type ReadPage = (method: string, params: Record<string, unknown>) => Promise<Record<string, unknown>>;

export interface ReadList<L extends McpList> {
  entries: Lists[L];
  /** What was left out because it cannot be used, in words. */
  leftOut: string[];
}

/** All pages of a list. Entries that cannot be used are left out with a note; of equal names the first stays. */
export async function readList<L extends McpList>(list: L, read: ReadPage, note: Note): Promise<ReadList<L>> {
  const { parse, keyOf } = KINDS[list];
  const found = new Map<string, Lists[L][number]>();
  const leftOut: string[] = [];
  let chars = 0;
  let cursor: string | undefined;
  const end = (why?: string): ReadList<L> => {
    if (why !== undefined) {
      leftOut.push(why);
      note(`Of its ${list}: ${why}.`);
    }
    return { entries: [...found.values()] as Lists[L], leftOut };
  };
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = await read(`${list}/list`, cursor === undefined ? {} : { cursor });
    const entries: unknown[] = Array.isArray(answer[list]) ? answer[list] : [];
    for (const entry of entries) {
      chars += finiteLength(entry);
      if (chars > MAX_LIST_CHARS)
        return end(`its ${list} are more than ${MAX_LIST_CHARS / 1024 ** 2} MB: the others are left out`);
      const parsed = parse(entry);
      if (typeof parsed === 'string') {
        note(`One of its ${list} was left out: ${parsed}`, { entry: glimpse(entry) });
        if (leftOut.length < MAX_LEFT_OUT) leftOut.push(`${nameIn(entry)}: ${parsed.replace(/\.$/, '')}`);
      } else if (found.has(keyOf(parsed)))
        note(`Two of its ${list} have one name; the first is used.`, { name: keyOf(parsed) });
      else if (found.size < MAX_ENTRIES) found.set(keyOf(parsed), parsed);
      else return end(`there are more than ${MAX_ENTRIES.toLocaleString('en-US')} ${list}: the others are left out`);
    }
    const { nextCursor } = answer;
    // An empty page that leads on leads nowhere.
    if (typeof nextCursor !== 'string' || nextCursor === cursor || entries.length === 0) break;
    cursor = nextCursor;
  }
  return end();
}

const nameIn = (entry: unknown): string =>
  (isRecord(entry) && typeof entry.name === 'string' && toPlainText(entry.name, 80)) || 'an entry';

function glimpse(entry: unknown): string {
  return jsonLength(entry) > 10_000 ? 'something large' : toPlainText(JSON.stringify(entry), 200);
}

interface Kind<Entry> {
  /** A text says why it cannot be used. */
  parse(entry: unknown): Entry | string;
  keyOf(entry: Entry): string;
}

const KINDS: { [L in McpList]: Kind<Lists[L][number]> } = {
  tools: { parse: parseTool, keyOf: ({ name }) => name },
  prompts: { parse: parsePrompt, keyOf: ({ name }) => name },
  resources: { parse: parseResource, keyOf: ({ uri }) => uri },
};

/** Names go back to the server as they came, so one that is too long cannot be cut. */
function nameProblem(entry: Record<string, unknown>): string | undefined {
  const { name } = entry;
  if (typeof name !== 'string' || name.trim() === '') return 'it has no name.';
  return name.length > NAME_CHARS ? `its name has more than ${NAME_CHARS} characters.` : undefined;
}

const textOf = (value: unknown, max: number): string | undefined =>
  typeof value === 'string' ? toPlainText(value, max) : undefined;

function parseTool(entry: unknown): McpTool | string {
  if (!isRecord(entry)) return 'it is not an object.';
  const problem = nameProblem(entry);
  if (problem !== undefined) return problem;
  const { inputSchema = { type: 'object' }, outputSchema, annotations } = entry;
  if (!isRecord(inputSchema)) return 'its inputSchema is not an object.';
  if (jsonLength([inputSchema, outputSchema, annotations]) > SCHEMA_CHARS) {
    return `its schema is longer than ${SCHEMA_CHARS / 1000} KB.`;
  }
  const title = textOf(entry.title, NAME_CHARS);
  const description = textOf(entry.description, DESCRIPTION_CHARS);
  return {
    name: entry.name as string,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema,
    ...(isRecord(outputSchema) && { outputSchema }),
    ...(isRecord(annotations) && { annotations }),
  };
}

function parsePrompt(entry: unknown): McpPrompt | string {
  if (!isRecord(entry)) return 'it is not an object.';
  const problem = nameProblem(entry);
  if (problem !== undefined) return problem;
  const description = textOf(entry.description, DESCRIPTION_CHARS);
  const args = Array.isArray(entry.arguments) ? entry.arguments.slice(0, MAX_ARGUMENTS).flatMap(toArgument) : undefined;
  return {
    name: entry.name as string,
    ...(description !== undefined && { description }),
    ...(args !== undefined && { arguments: args }),
  };
}

function toArgument(value: unknown): NonNullable<McpPrompt['arguments']> {
  if (!isRecord(value) || nameProblem(value) !== undefined) return [];
  const description = textOf(value.description, DESCRIPTION_CHARS);
  const { required } = value;
  return [
    {
      name: value.name as string,
      ...(description !== undefined && { description }),
      ...(typeof required === 'boolean' && { required }),
    },
  ];
}

function parseResource(entry: unknown): McpResource | string {
  if (!isRecord(entry)) return 'it is not an object.';
  const { uri } = entry;
  if (typeof uri !== 'string' || uri === '') return 'it has no uri.';
  if (uri.length > URI_CHARS) return `its uri has more than ${URI_CHARS} characters.`;
  const [name, title, mimeType] = [entry.name, entry.title, entry.mimeType].map((text) => textOf(text, NAME_CHARS));
  const description = textOf(entry.description, DESCRIPTION_CHARS);
  return {
    uri,
    ...(name !== undefined && { name }),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(mimeType !== undefined && { mimeType }),
  };
}
