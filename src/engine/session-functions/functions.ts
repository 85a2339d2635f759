/** All that can be done with sessions that nobody runs. Loaded when the first of these is wanted. */
export {
  type AnsweredApproval,
  answerApproval,
  type ApprovalAnswer,
  type PendingApproval,
  pendingApprovals,
} from './answer-pending.js';
export { type ForkOptions, forkSession, type ImportOptions, importSessionToStore } from './copy.js';
export { type ExportedSession, type ExportFormat, type ExportOptions, exportSession } from './export.js';
export { importSessionFile } from './import-file.js';
export type { SessionInfo } from '../sessions/info.js';
export { getSessionInfo, type ListOptions, listSessions } from './list.js';
export { archiveSession, renameSession, tagSession } from './marks.js';
export {
  getSessionMessages,
  getSubagentMessages,
  listSubagents,
  type MessagesOptions,
  type SessionMessage,
} from './messages.js';
export { type DirOption, findNamed, type PageOptions, type SessionParts } from './named.js';
export { toSessionStore } from '../stores/remote-store.js';
export { deleteSession } from './remove.js';
export { type SearchOptions, type SearchResult, searchSessions } from './search.js';
