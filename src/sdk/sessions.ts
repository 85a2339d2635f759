/** What an app can do with the sessions that are kept, without running one. */
import type { PublicSessionStore, SessionStore } from '../protocol/index.js';
import { configDirOf, readAmbient } from './ambient.js';
import type {
  AnsweredApproval,
  ApprovalAnswer,
  ExportFormat,
  OpenedSessions,
  PendingApproval,
  SearchResult,
  SessionInfo,
  SessionMessage,
} from './in-process.js';

/** Where sessions are looked for. */
export interface SessionPlaceOptions {
  /** Only sessions of this project: its folder, and the work trees of its git repository. Absent: of all projects. */
  dir?: string;
  /** Instead of the configuration folder that the environment names. */
  configDir?: string;
}

interface StoreOption {
  /** Instead of the files of this machine: a store of Heddle, or one of the public shape. */
  sessionStore?: SessionStore | PublicSessionStore;
}

interface Page {
  limit?: number;
  /** How many are left out at the start. */
  offset?: number;
}

export interface ListSessionsOptions extends SessionPlaceOptions, StoreOption, Page {
  /** With `dir`: also the other work trees of its git repository. True when absent. */
  includeWorktrees?: boolean;
  /** Sessions of programs are always listed; the option is known so that programs that pass it compile. */
  includeProgrammatic?: boolean;
}

export interface GetSessionInfoOptions extends SessionPlaceOptions, StoreOption {}

export interface GetSessionMessagesOptions extends SessionPlaceOptions, StoreOption, Page {
  /** Also where the conversation was compacted. */
  includeSystemMessages?: boolean;
}

export interface ListSubagentsOptions extends SessionPlaceOptions, StoreOption {}

export interface GetSubagentMessagesOptions extends SessionPlaceOptions, StoreOption, Page {}

export interface SessionMutationOptions extends SessionPlaceOptions, StoreOption {}

export interface ForkSessionOptions extends SessionMutationOptions {
  /** The `uuid` of the last message that the fork has. Absent: all of them. */
  upToMessageId?: string;
  /** Absent: that of the other session, with " (fork)". */
  title?: string;
}

export interface ForkSessionResult {
  sessionId: string;
}

export interface ImportSessionToStoreOptions extends SessionPlaceOptions {
  /** True when absent. */
  includeSubagents?: boolean;
  /** Lines for each `append()`: 500 when absent. */
  batchSize?: number;
}

export interface SearchSessionsOptions extends SessionPlaceOptions {
  /** 20 when absent. */
  limit?: number;
}

export interface ExportSessionOptions extends SessionPlaceOptions, StoreOption {
  /** `markdown` when absent. */
  format?: ExportFormat;
}

async function open({ dir, configDir, sessionStore }: SessionPlaceOptions & StoreOption): Promise<OpenedSessions> {
  const { openSessions } = await import('./in-process.js');
  const ambient = readAmbient();
  return openSessions({ cwd: dir ?? ambient.cwd, configDir: configDir ?? configDirOf(ambient.env), sessionStore });
}

/** Sessions, newest first. Archived ones are among them, with `archived: true`. */
export async function listSessions(options: ListSessionsOptions = {}): Promise<SessionInfo[]> {
  const { functions, parts } = await open(options);
  return functions.listSessions(parts, options);
}

/** Undefined when there is no such session, or nothing was said in it. */
export async function getSessionInfo(
  sessionId: string,
  options: GetSessionInfoOptions = {},
): Promise<SessionInfo | undefined> {
  const { functions, parts } = await open(options);
  return functions.getSessionInfo(parts, sessionId, options);
}

/** The whole conversation, oldest first, also what came before it was compacted. Empty when there is no such session. */
export async function getSessionMessages(
  sessionId: string,
  options: GetSessionMessagesOptions = {},
): Promise<SessionMessage[]> {
  const { functions, parts } = await open(options);
  return functions.getSessionMessages(parts, sessionId, options);
}

/** The ids of the agents that a session started. */
export async function listSubagents(sessionId: string, options: ListSubagentsOptions = {}): Promise<string[]> {
  const { functions, parts } = await open(options);
  return functions.listSubagents(parts, sessionId, options);
}

export async function getSubagentMessages(
  sessionId: string,
  agentId: string,
  options: GetSubagentMessagesOptions = {},
): Promise<SessionMessage[]> {
  const { functions, parts } = await open(options);
  return functions.getSubagentMessages(parts, { sessionId, agentId }, options);
}

/** Gives a session a title. Works while it is being run. */
export async function renameSession(
  sessionId: string,
  title: string,
  options: SessionMutationOptions = {},
): Promise<void> {
  const { functions, parts } = await open(options);
  await functions.renameSession(parts, { sessionId, title }, options);
}

/** Gives a session a tag; null takes it away. Works while it is being run. */
export async function tagSession(
  sessionId: string,
  tag: string | null,
  options: SessionMutationOptions = {},
): Promise<void> {
  const { functions, parts } = await open(options);
  await functions.tagSession(parts, { sessionId, tag }, options);
}

/** Puts a session into the archive. The next prompt takes it out. */
export async function archiveSession(sessionId: string, options: SessionMutationOptions = {}): Promise<void> {
  const { functions, parts } = await open(options);
  await functions.archiveSession(parts, { sessionId, archived: true }, options);
}

export async function unarchiveSession(sessionId: string, options: SessionMutationOptions = {}): Promise<void> {
  const { functions, parts } = await open(options);
  await functions.archiveSession(parts, { sessionId, archived: false }, options);
}

/** Removes a session with all that is kept for it. Throws `session_locked` while someone runs it. */
export async function deleteSession(sessionId: string, options: SessionMutationOptions = {}): Promise<void> {
  const { functions, parts } = await open(options);
  await functions.deleteSession(parts, sessionId, options);
}

/** A new session that begins with the conversation of another, under ids of its own. */
export async function forkSession(sessionId: string, options: ForkSessionOptions = {}): Promise<ForkSessionResult> {
  const { functions, parts } = await open(options);
  return functions.forkSession(parts, sessionId, options);
}

/** Copies a session of this machine into another store. Called again, it adds what is missing there. */
export async function importSessionToStore(
  sessionId: string,
  store: SessionStore | PublicSessionStore,
  options: ImportSessionToStoreOptions = {},
): Promise<void> {
  const { functions, parts } = await open(options);
  await functions.importSessionToStore(parts, { sessionId, target: store }, options);
}

/** Sessions in which all the words were said; what stands in "quotes" is meant exactly. */
export async function searchSessions(query: string, options: SearchSessionsOptions = {}): Promise<SearchResult[]> {
  const { functions, parts } = await open(options);
  return functions.searchSessions(parts, query, options);
}

/** A session as a document: Markdown for people, JSON for programs. */
export async function exportSession(sessionId: string, options: ExportSessionOptions = {}): Promise<string> {
  const { functions, parts } = await open(options);
  return functions.exportSession(parts, sessionId, options);
}

/** The tool calls of an unfinished turn that still wait for an answer. */
export async function pendingApprovals(
  sessionId: string,
  options: SessionMutationOptions = {},
): Promise<PendingApproval[]> {
  const { functions, parts } = await open(options);
  return functions.pendingApprovals(parts, sessionId, options);
}

/** Writes an answer down for the run that resumes the session. Throws `session_locked` while someone runs it. */
export async function answerApproval(
  sessionId: string,
  answer: ApprovalAnswer,
  options: SessionMutationOptions = {},
): Promise<AnsweredApproval> {
  const { functions, parts } = await open(options);
  return functions.answerApproval(parts, { sessionId, answer }, options);
}
