export { systemClock } from './clock.js';
export { createEngine, type Engine, type EngineParts } from './engine.js';
export { type HostOptions, serveHost } from './host.js';
export { exitCodeOf, type Manners } from './manners.js';
export { type Catalog, type CatalogTable, createCatalog, type ModelFacts, type Price } from './model/catalog.js';
export {
  createStepIds,
  pauseIndex,
  readStep,
  type ScriptAnswer,
  type ScriptStep,
  stepEvents,
} from './model/script-step.js';
export { createScriptedModel, type ScriptedModel } from './model/scripted.js';
export { type Action, nextAction } from './next-action.js';
export type { Ask, Question } from './questions.js';
export type { Attachment, Session } from './session.js';
export { createFileStore } from './sessions/file-store.js';
export { createMemoryStore } from './sessions/memory-store.js';
export { FOLLOWED_VERSION, HEDDLE_VERSION } from './version.js';
