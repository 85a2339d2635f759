/** What every run needs, and nothing else: programs load this door, not all that the engine has to offer. */
export { systemClock } from '../protocol/plain.js';
export { createEngine, type Engine, type EngineParts } from './engine.js';
export type { HostOptions } from './host.js';
export { toToolOutput } from './mcp/tool.js';
export { serveHost } from './serve-host.js';
export { createFileStore } from './stores/file-store.js';
export { loadMirrorStore } from './stores/mirror.js';
export { loadSessionFunctions, type SessionFunctions } from './session-functions/load.js';
export { type ResolvedSetting, resolveSettings } from './settings/load.js';
export { openSettings, type SessionSettings } from './settings/session-settings.js';
