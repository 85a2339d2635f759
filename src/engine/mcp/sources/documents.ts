/** The texts in which servers are written: values of `--mcp-config`, `.mcp.json`, and settings that are parsed already. */
import { resolve } from 'node:path';
import { parseJsonc, type ParsedText, type Place, type TextFault } from '../../settings/jsonc.js';
import type { SettingsLayerName } from '../../settings/problem.js';
import { readText } from '../../settings/read.js';
import { isTable } from '../../settings/table.js';

/** A table of servers, and where it stands. */
export interface ServerTable {
  layer: SettingsLayerName;
  /** The path of the file, or what stands for it. */
  file: string;
  /** The keys that lead to the table. */
  at: readonly string[];
  entries: Readonly<Record<string, unknown>>;
  /** Keys that stand there twice and the like; `(root)` when nothing could be read at all. */
  faults: readonly TextFault[];
  placeOf(path: string): Place | Promise<Place>;
}

/** What `--mcp-config` names: JSON, or the path of a file. A bare table of servers is one as well. */
export async function readFlag(value: string, options: { cwd: string; label: string }): Promise<ServerTable> {
  if (value.trimStart().startsWith('{')) {
    return toTable(readPlainly(value) ?? (await parseJsonc(value)), { layer: 'flag', file: options.label });
  }
  const file = resolve(options.cwd, value);
  return (
    (await readFile(file, 'flag')) ?? unreadable({ layer: 'flag', file }, 'the file of --mcp-config was not found')
  );
}

type ReadText = Pick<ParsedText, 'value' | 'faults'> & Pick<ServerTable, 'placeOf'>;

/** What programs write is JSON. Where something stands in it is looked up when it has to be told. */
function readPlainly(text: string): ReadText | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return { value, faults: [], placeOf: async (path) => (await parseJsonc(text)).placeOf(path) };
  } catch {
    return undefined;
  }
}

/** Undefined when there is no such file. */
export async function readFile(file: string, layer: SettingsLayerName): Promise<ServerTable | undefined> {
  const read = await readText(file);
  if ('fault' in read) return unreadable({ layer, file }, read.fault);
  if (read.text === undefined) return undefined;
  return toTable(await parseJsonc(read.text.replace(/^\uFEFF/, '')), { layer, file });
}

/** A table of settings that are read and checked: the file is looked at again only to say where something stands. */
export function fromSettings(
  entries: Readonly<Record<string, unknown>>,
  { layer, file }: { layer: SettingsLayerName; file: string },
): ServerTable {
  const placeOf = async (path: string): Promise<Place> => {
    const read = await readText(file);
    if ('fault' in read || read.text === undefined) return { line: 0, column: 0 };
    return (await parseJsonc(read.text.replace(/^\uFEFF/, ''))).placeOf(path);
  };
  return { layer, file, at: ['mcpServers'], entries, faults: [], placeOf };
}

const unreadable = (place: Pick<ServerTable, 'layer' | 'file'>, text: string): ServerTable => ({
  ...place,
  at: [],
  entries: {},
  faults: [{ path: '(root)', text, line: 0, column: 0 }],
  placeOf: () => ({ line: 0, column: 0 }),
});

/** Where the shape of the file is described is no server. */
function withoutSchema(value: unknown): unknown {
  if (!isTable(value) || typeof value.$schema !== 'string') return value;
  const { $schema: _, ...servers } = value;
  return servers;
}

async function toTable(
  { value, faults, placeOf }: ReadText,
  place: Pick<ServerTable, 'layer' | 'file'>,
): Promise<ServerTable> {
  const at = isTable(value) && Object.hasOwn(value, 'mcpServers') ? ['mcpServers'] : [];
  const entries = isTable(value) && at.length > 0 ? value.mcpServers : withoutSchema(value);
  if (isTable(entries)) return { ...place, at, entries, faults, placeOf };
  if (value === undefined) return { ...place, at, entries: {}, faults, placeOf };
  const [path, text] =
    at.length > 0
      ? ['mcpServers', 'it must be an object: { "name": { ... } }']
      : ['(root)', 'it must be one JSON object: { "mcpServers": { ... } }'];
  return { ...place, at, entries: {}, faults: [...faults, { path, text, ...(await placeOf(path)) }], placeOf };
}
