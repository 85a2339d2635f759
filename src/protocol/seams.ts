/** The six places where Heddle touches the outside, and the only ones where tests put doubles. Types only. */
import type { ContentBlock, ToolResultContent } from './content.js';
import type { Frame } from './frame.js';
import type { RateLimitInfo } from './message.js';
import type { ModelEvent, ModelRequest } from './model-event.js';

// ---- Channel ---------------------------------------------------------------------------------------------------

/** Where a Channel delivers what it receives, in order. None of these functions may throw. */
export interface FrameSink {
  frame(frame: Frame): void;
  /** Several at once, for a carrier that has them so. Means the same as `frame` for each. */
  frames?(frames: readonly Frame[]): void;
  /** Called once. The other side will send nothing more: `error` is absent after a clean end. */
  end(error?: Error): void;
  /** Called once, after `end`: the carrier is gone both ways, and nothing sent from here on arrives. */
  closed?(reason?: Error): void;
  /** What was received and not yet consumed. A carrier without a buffer of its own reports it as `buffered`. */
  backlog?(): Backlog;
}

export interface Backlog {
  /** Estimated bytes. */
  readonly size: number;
  belowLimit(limit: number): Promise<void>;
}

/** Moves frames and knows no message types. */
export interface Channel {
  /** Both ends live in one process and were type-checked together: what arrives need not be parsed. */
  readonly trusted: boolean;
  /** Nobody can come back once this carrier is closed (memory, stdio), so open questions are denied then. */
  readonly final: boolean;
  /** Bytes sent that the other side has not taken yet; the engine pauses before its next model call past a limit. */
  readonly buffered: number;
  /** Starts delivery. Called once; frames that arrive earlier are kept. */
  receive(sink: FrameSink): void;
  send(frame: Frame): void;
  /** Where a carrier gains by taking several at once. Means the same as `send` for each. */
  sendAll?(frames: readonly Frame[]): void;
  /** Resolves when `buffered` is at or below `limit`, or the channel is closed. */
  drained(limit: number): Promise<void>;
  /** Half-close: nothing more will be sent, answers may still arrive. */
  end(): void;
  close(reason?: Error): void;
}

// ---- ModelProvider ---------------------------------------------------------------------------------------------

/** What is known of an answer before its first event. */
export interface ModelResponseInfo {
  requestId?: string;
  /** What the API says of the rate limit of the account. */
  rateLimit?: RateLimitInfo;
}

export interface ModelProvider {
  readonly name: string;
  /** `none` when this provider needs no key; otherwise where the key came from, as `apiKeySource` reports it. */
  readonly keySource: string;
  /** The API runs `web_search` itself when it is among the tools. */
  readonly searchesWeb?: boolean;
  /**
   * One model call. Yields events in the batches in which they arrived, up to and including `message_stop`.
   * Throws a HeddleError with a `model_*` code; honours the signal within a second; never retries.
   */
  stream(
    request: ModelRequest,
    options: { signal: AbortSignal; onResponse?: (info: ModelResponseInfo) => void },
  ): AsyncIterable<readonly ModelEvent[]>;
}

// ---- Tool ------------------------------------------------------------------------------------------------------

export interface ToolOutput {
  /** What the model sees. */
  content: ToolResultContent;
  isError?: boolean;
  /** What the consumer sees as `tool_use_result`. A string for errors. */
  structured?: unknown;
}

/** One place a call touches. `path` is absolute, links not yet resolved. */
export interface ToolAccess {
  path: string;
  access: 'read' | 'write';
}

export interface ToolContext {
  readonly workspace: Workspace;
  readonly clock: Clock;
  /** Aborts when the call must stop; the tool then returns or throws within a second. */
  readonly signal: AbortSignal;
  readonly toolUseId: string;
  /** Where relative paths start; Bash may move it for later calls. */
  readonly cwd: string;
  setCwd(path: string): void;
  /** Folders that tools may use without asking, the working directory first. */
  readonly roots: readonly string[];
  /** The environment of child processes. */
  readonly env: Readonly<Record<string, string>>;
  /** What has been read in this session, by content. */
  readonly ledger: ReadLedger;
  /** Says that the call has got on. That it is alive is told every few seconds by itself. */
  progress(): void;
  /**
   * Where permission found that a path leads, links resolved. Files are read and written there with `exact`, so that a
   * link that was put in the way since leads nowhere. A path that was not judged comes back unchanged.
   */
  judgedPath(path: string): string;
  /** What a search must leave out: absolute patterns, as in .gitignore. */
  readonly exclusions: readonly string[];
  /** Keeps what is too long to show; gives the path of the file that holds all of it. */
  keep(name: string, data: string | Uint8Array): Promise<string>;
}

/** Remembers which content of a file the model has seen. */
export interface ReadLedger {
  /** Records that the model knows the file in this state. */
  note(path: string, content: Uint8Array): void;
  /** `unread`, `current` when the content is the one last noted, or `changed` by someone else since. */
  compare(path: string, content: Uint8Array): 'unread' | 'current' | 'changed';
}

/** How much of an output goes to the model and into the log; what is longer is cut, and kept in a file. */
export interface OutputLimits {
  /** Characters of text for the model. */
  text: number;
  /** Characters of each string in `structured`. */
  field: number;
  /** Characters of all of it as JSON. */
  structured: number;
}

export interface Tool<Input = Record<string, unknown>> {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input, as the model sees it. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /**
   * Checks unknown input. Throws an error whose message tells the model which field, why, and what is expected.
   * When absent, the input is checked against `inputSchema`.
   */
  parse?(input: unknown): Input | Promise<Input>;
  /** True when this very call changes nothing; such calls of one message run together. Must not guess. Absent: false. */
  isReadOnly?(input: Input, context: { cwd: string }): boolean;
  /** Fields of the input that only a host fills in: what the model puts there is dropped. */
  readonly hostFields?: readonly string[];
  /** JSON Schema of `structured`. A result that does not match it is an error. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly limits?: Partial<OutputLimits>;
  /** True for tools that change files through the workspace (`acceptEdits` covers them). */
  readonly edits?: boolean;
  /** The paths this call touches, for permission. */
  accesses?(input: Input, context: { cwd: string }): readonly ToolAccess[];
  /** Checks that need the world (read before write, uniqueness), after permission. A text refuses the call. */
  enforce?(input: Input, context: ToolContext): Promise<string | undefined>;
  /** May throw: the message becomes an error result. */
  run(input: Input, context: ToolContext): Promise<ToolOutput>;
}

/** A tool that leaves nothing open. */
export type WholeTool<Input = Record<string, unknown>> = Tool<Input> &
  Required<Pick<Tool<Input>, 'parse' | 'isReadOnly'>>;

// ---- SessionStore ----------------------------------------------------------------------------------------------

export interface SessionKey {
  sessionId: string;
  /** The folder the session belongs to. Resume finds a session by id alone; the folder only decides where it is kept. */
  cwd: string;
  /** A subagent of the session; its log is kept with that of the session. */
  agentId?: string;
}

export interface SessionSummary extends SessionKey {
  lastModified: number;
  /** Bytes of its log, where the store knows. */
  size?: number;
  /** What `archive` was told last. */
  archive?: SessionArchive;
}

/** Whether a session is in the archive. */
export interface SessionArchive {
  archived: boolean;
  /** ISO. A prompt that is younger took the session out. */
  at: string;
}

export interface LoadedSession {
  key: SessionKey;
  /** The lines as they are kept, without their newlines; a torn last line is not among them. */
  lines: string[];
}

/** The ends of a log, enough to name a session without reading all of it. */
export interface SessionGlance {
  key: SessionKey;
  /** Its first lines. */
  head: string[];
  /** Its last lines, of which none is in `head`. */
  tail: string[];
}

/** The right to write a session. It ends with its holder: what a dead process held is free. */
export interface Lease {
  /** Lets go, and closes whatever was open for the session. Never throws; a second call does nothing. */
  release(): void | Promise<void>;
}

/** Where sessions are kept. Whoever writes more than a mark (a title, a tag) holds the lease. */
export interface SessionStore {
  /**
   * Adds lines (no newlines inside). Returns nothing when they are written, a promise when that takes a while.
   * With `sync` they are on the disk before it returns or resolves. Lines of one session keep their order.
   */
  append(key: SessionKey, lines: readonly string[], options?: { sync?: boolean }): void | Promise<void>;
  load(sessionId: string, options?: { agentId?: string }): Promise<LoadedSession | undefined>;
  /** Newest first. With `cwd`, only sessions of that folder. */
  list(options?: { cwd?: string }): Promise<SessionSummary[]>;
  /** Removes the session with all that is kept for it. Throws `session_locked` while someone writes it. */
  delete(sessionId: string): Promise<void>;
  /** Throws `session_locked` when someone else who is alive holds it. */
  lease(key: SessionKey): Lease | Promise<Lease>;
  /** What `list` says of one session. Where absent, it is looked for in the list. */
  summary?(sessionId: string): Promise<SessionSummary | undefined>;
  /** Keeps whether a session is in the archive; `list` and `summary` tell. Where absent, it is a line of the log. */
  archive?(key: SessionKey, archive: SessionArchive): void | Promise<void>;
  /** Where absent, the whole log is loaded instead. */
  glance?(sessionId: string): Promise<SessionGlance | undefined>;
  /** The ids of the subagents of a session. */
  agents?(sessionId: string): Promise<string[]>;
  /** Where people and hooks find the log, if it is a file. */
  pathOf?(key: SessionKey): string | undefined;
}

// ---- Workspace -------------------------------------------------------------------------------------------------

export interface FileStat {
  kind: 'file' | 'directory' | 'other';
  size: number;
  mtimeMs: number;
  mode: number;
}

export interface ProcessSpec {
  /** A program and its arguments; a shell line is `['bash', '-c', line]`. */
  argv: readonly [string, ...string[]];
  cwd: string;
  /** It starts in this very folder or, when a link leads elsewhere, not at all (ELOOP). */
  exact?: boolean;
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** The whole process group is ended after this long: TERM, two seconds, KILL. */
  timeoutMs?: number;
  /** What it reads on its standard input, which then ends; closed when absent. It need not read it. */
  input?: Uint8Array;
  /** An ordinary file that it reads there instead. Refused (ELOOP) when a link, at its end or on the way, leads elsewhere. */
  inputFile?: string;
  /**
   * Keeps its standard input open, instead of `input`: called once, as soon as the process has started. What such a
   * process leaves running when it ends is ended as well.
   */
  onStart?(input: ProcessInput): void;
  /** Output as it comes, both streams in order. Must return quickly. */
  onOutput(chunk: Uint8Array, stream: 'stdout' | 'stderr'): void;
}

/** The standard input of a running process. Nothing of it throws; what a process that has ended was sent is lost. */
export interface ProcessInput {
  /** Bytes that the process has not taken yet. */
  readonly buffered: number;
  write(data: string | Uint8Array): void;
  end(): void;
}

export interface ProcessExit {
  code: number | null;
  signal: string | null;
  timedOut: boolean;
  aborted: boolean;
  /**
   * With `exact`: what was at paths below the folder while the process ran. `stayed`: what is there now, reached through
   * no link. `changed`: maybe something else, also a link. `gone`: there is nothing now, or only through a link.
   */
  look?(paths: readonly string[]): ('stayed' | 'changed' | 'gone')[];
}

/** Files and processes the tools act on. All paths are absolute. */
export interface Workspace {
  /**
   * Throws an error with the `code` of the system (ENOENT, EISDIR, ...). Refuses files larger than `maxBytes`, and with
   * `exact` (ELOOP) a path that a link, at its end or on the way, leads elsewhere.
   */
  readFile(path: string, options?: { maxBytes?: number; exact?: boolean }): Promise<Uint8Array>;
  /**
   * Replaces the file whole or not at all; makes missing folders; keeps the mode of an existing file. With `exact` it
   * writes at this very path or, when a link leads elsewhere, nowhere (ELOOP).
   */
  writeFile(path: string, data: Uint8Array, options?: { exact?: boolean }): Promise<void>;
  /** Undefined when there is nothing. Follows links. */
  stat(path: string): Promise<FileStat | undefined>;
  /** The path with every link resolved; for what does not exist yet, that of its nearest existing parent plus the rest. */
  realPath(path: string): Promise<string>;
  /**
   * What is in a folder, links not followed; undefined when there is none. Without this, links that only the patterns of
   * a command match (`cat *`) are not known when it is judged, and whatever a rule may be about is asked about.
   */
  list?(folder: string): Promise<{ name: string; kind: 'file' | 'directory' | 'link' }[] | undefined>;
  /** Runs a process, without `input` with its standard input closed, until it and its group have ended or been ended. */
  run(spec: ProcessSpec): Promise<ProcessExit>;
  /** The ripgrep program. Throws `ripgrep_missing`. */
  ripgrep(): Promise<string>;
}

// ---- Clock -----------------------------------------------------------------------------------------------------

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds that never go back. */
  monotonic(): number;
  uuid(): string;
  /** A random number in [0, 1): jitter only. */
  random(): number;
  /** Calls back once. The returned function cancels. A pending timer keeps the process alive unless it is `background`. */
  after(ms: number, callback: () => void, options?: { background?: boolean }): () => void;
}

// ---- Diagnostics -----------------------------------------------------------------------------------------------

/** Library code never prints; what only a developer wants to know goes here. */
export type Logger = (level: 'debug' | 'info' | 'warn' | 'error', text: string, data?: Record<string, unknown>) => void;

export type { ContentBlock };
