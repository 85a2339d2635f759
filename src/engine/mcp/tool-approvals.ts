/**
 * Ties what a rule allows of servers' tools to what these tools were when it was given: a server that makes something else
 * of a tool that was allowed does not get it run unasked.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Logger } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { readText } from '../settings/read.js';
import { isTable } from '../settings/table.js';

/** A tool by its name, and what it is: see `definitionHash`. */
export interface DefinedTool {
  name: string;
  hash: string;
}

export interface RuleReach {
  /** The rule is kept in a settings file, and so is what it is tied to. Otherwise that lasts as long as the session. */
  kept: boolean;
}

export interface ToolApprovals {
  /**
   * Whether a rule that lets the tool run may do so: true when the tool is what it was when a rule first let it run, or
   * what someone approved since. The first time is noted. Throws `invalid_settings` when the record cannot be read.
   */
  stillHolds(tool: DefinedTool, reach: RuleReach): Promise<boolean>;
  /** Someone has seen the tool as it is now, and says always. */
  approve(tool: DefinedTool, reach: RuleReach): Promise<void>;
}

const FILE = 'mcp-tools.json';
const MAX_RECORD_BYTES = 16 * 1024 * 1024;
const MAX_TOOLS = 20_000;
/** Versions of a tool that are in use side by side, in several projects; the oldest is forgotten first. */
const MAX_HASHES = 16;

type Hashes = ReadonlyMap<string, readonly string[]>;

export function createToolApprovals(options: { configDir: string; clock: Clock; logger: Logger }): ToolApprovals {
  const { configDir, clock, logger } = options;
  const file = join(configDir, FILE);
  const session = new Map<string, readonly string[]>();
  const record = createRecord(file);

  /** What cannot be kept still holds for the session. */
  const keep = async ({ name, hash }: DefinedTool): Promise<void> => {
    try {
      const { editSettings } = await import('../settings/edit.js');
      const edit = (known: Readonly<Record<string, unknown>>) => {
        const tools = isTable(known.tools) ? known.tools : {};
        const hashes = toHashes(Object.hasOwn(tools, name) ? tools[name] : undefined);
        if (hashes.includes(hash) || (hashes.length === 0 && Object.keys(tools).length >= MAX_TOOLS)) return [];
        return [{ path: ['tools', name], value: [...hashes, hash].slice(-MAX_HASHES) }];
      };
      await editSettings(file, edit, { clock, maxBytes: MAX_RECORD_BYTES });
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown.message : String(thrown);
      logger('warn', 'what an MCP tool was when it was allowed could not be kept', { tool: name, error });
    }
  };
  const remember = ({ name, hash }: DefinedTool): void => {
    session.set(name, [...(session.get(name) ?? []), hash].slice(-MAX_HASHES));
  };

  return {
    async stillHolds(tool, { kept }) {
      const { name, hash } = tool;
      const now = session.get(name);
      if (now?.includes(hash)) return true;
      if (now !== undefined) return false;
      const known = kept ? (await record.read()).get(name) : undefined;
      if (known !== undefined && !known.includes(hash)) return false;
      remember(tool);
      if (kept && known === undefined) await keep(tool);
      return true;
    },
    async approve(tool, { kept }) {
      remember(tool);
      if (kept) await keep(tool);
    },
  };
}

/** Reads the file again only when it is another. */
function createRecord(file: string): { read(): Promise<Hashes> } {
  let seen = '';
  let hashes: Hashes = new Map();
  return {
    async read() {
      const stat = statSync(file, { throwIfNoEntry: false });
      const mark = stat === undefined ? '' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
      if (mark === seen) return hashes;
      hashes = stat === undefined ? new Map() : await readHashes(file);
      seen = mark;
      return hashes;
    },
  };
}

async function readHashes(file: string): Promise<Hashes> {
  const read = await readText(file, MAX_RECORD_BYTES);
  if ('fault' in read) throw broken(file, read.fault);
  const { parseJsonc } = await import('../settings/jsonc.js');
  const { value, faults } = await parseJsonc(read.text ?? '{}');
  if (faults.length > 0 || !isTable(value)) throw broken(file, faults[0]?.text ?? 'it must be one JSON object');
  const tools = isTable(value.tools) ? value.tools : {};
  return new Map(Object.entries(tools).map(([name, given]) => [name, toHashes(given)]));
}

const toHashes = (given: unknown): string[] =>
  Array.isArray(given) ? given.filter((hash): hash is string => typeof hash === 'string') : [];

const broken = (file: string, fault: string): HeddleError =>
  new HeddleError('invalid_settings', `${file} says which MCP tools were allowed, and cannot be used: ${fault}.`, {
    hint: 'Correct the file, or delete it: then what is allowed next is noted anew.',
  });
