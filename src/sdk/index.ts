export type { AssistantMessage, Message, ResultMessage, StreamEventMessage, UserMessage } from '../protocol/index.js';
export { AbortError, HeddleError, HOOK_EVENTS, EXIT_REASONS } from '../protocol/plain.js';
export type { CanUseTool, CanUseToolOptions, HeddleParts, Options } from './options.js';
export { query } from './query.js';
export type { Query } from './query-handle.js';
