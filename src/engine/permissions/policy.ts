import type { PermissionMode, PermissionUpdate, ToolAccess } from '../../protocol/index.js';
import type { RuleLayerName } from './layers.js';
import type { RuleBook } from './rules/book.js';
import type { Seen } from './seen.js';
import type { CommandTables } from './tables.js';

/** One place a call touches, with its links resolved. */
export interface JudgedAccess extends ToolAccess {
  /** As the tool names it; absent when that is the same. */
  given?: string;
  /** What is there: neither a file nor a folder may be opened. */
  kind?: 'file' | 'directory' | 'other';
  /** Its links cannot be followed, by permissions or because they go round: `path` is only what it is called. */
  isUnknown?: true;
  /** The pattern of a shell line that it was found for, behind a link. */
  matches?: string;
}

/** A call as it is judged: its input is parsed and the links in its paths are resolved. */
export interface PermissionCall {
  tool: string;
  input: Readonly<Record<string, unknown>>;
  /** What the tool says of this very call. */
  readOnly: boolean;
  /** The tool changes files through the workspace. */
  edits: boolean;
  /** Every path the call touches; for a shell line those of `commandAccesses`. */
  accesses: readonly JudgedAccess[];
  /** What of it was looked for on the disk, to know whether rules are about it; absent: nothing was. */
  seen?: readonly Seen[];
  /** Links behind the patterns of the line are among the accesses. */
  knowsLinks?: boolean;
  /** The shell line of a Bash call; of other tools it is not looked at. */
  command?: string;
  /** The tool belongs to an MCP server. */
  mcp?: boolean;
  /** The tool is not the one that was allowed once: its definition has changed since. */
  changed?: boolean;
}

export interface PermissionPolicy {
  mode: PermissionMode;
  /** What would be asked is denied, as in the mode for that: an agent may plan where nobody is asked. */
  asksNobody?: boolean;
  book: RuleBook;
  /** Folders that may be used without asking, links resolved, the first one that of the project. */
  roots: readonly string[];
  /** More places that calls may read, and never write, links resolved: skills, plugins, output that is kept. */
  readable?: readonly string[];
  /** The file of the plan, links resolved: calls may read it, and those of its owner may write it in plan mode. */
  plan?: { file: string; isOwn: boolean };
  /** Files and folders that the session's settings come from, links resolved and not: protected under any name. */
  ownPlaces?: readonly string[];
  home: string;
  /** Where relative paths of a shell line start. */
  cwd: string;
  /** Someone has said that what is in the project may be run. */
  trusted: boolean;
  /** Commands run in a sandbox; with `autoAllow` those that no rule is about run unasked. */
  sandboxed?: { autoAllow: boolean };
  /** `host` or `host:port` on this machine or a private network that may be fetched from. */
  privateHosts?: readonly string[];
  /** The system whose names for files count: win32, darwin, else linux. */
  platform?: string;
  /** What is known of programs; for tests that take something away. */
  tables?: CommandTables;
}

export const isSilent = ({ mode, asksNobody }: Pick<PermissionPolicy, 'mode' | 'asksNobody'>): boolean =>
  mode === 'dontAsk' || asksNobody === true;

export interface Decision {
  verdict: 'allow' | 'deny' | 'ask';
  /** For the person who is asked, and for the model when nobody can be. */
  reason: string;
  reasonType: 'mode' | 'rule' | 'workingDir' | 'hook' | 'other';
  /** The rule that decided, as it was written, and where it was. */
  rule?: string;
  layer?: RuleLayerName;
  /** What a shell line was taken to run. */
  segments?: readonly string[];
  blockedPath?: string;
  /** What a search must leave out: absolute patterns, as in .gitignore. */
  exclusions?: readonly string[];
  /** What an answer may carry so that the same is not asked again. */
  suggestions?: PermissionUpdate[];
}
