// Models: scripted, recorded and replayed, and the real one to record from.
export {
  type ApiProviderOptions,
  createApiProvider,
  createRecorder,
  createReplay,
  createScriptedModel,
  type CassetteSink,
  type Mask,
  type RecorderOptions,
  type Replay,
  type ReplayOptions,
  type ScriptAnswer,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptStep,
} from '../engine/index.js';
export {
  type FakeAnswer,
  type FakeApi,
  type FakeApiOptions,
  type FakeRequest,
  type Malformed,
  startFakeApi,
} from './fake-api.js';
// The world around the agent: sessions, files and processes, time.
export { createMemoryStore } from '../engine/index.js';
export {
  createMemoryWorkspace,
  type MemoryWorkspace,
  type MemoryWorkspaceOptions,
  type RunCall,
  type RunProcess,
  type RunResult,
} from './memory-workspace.js';
export { createFakeClock, type FakeClock, type FakeClockOptions } from './fake-clock.js';
export { type CreateStore, type StoreCheck, storeConformance } from './store-conformance.js';
// What happened.
export { collect, lastResult, toolResult, type ToolResultFacts, toolResults } from './messages.js';
export { expectTranscript, transcript, type TranscriptOptions } from './transcript.js';
