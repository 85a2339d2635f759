export { createScriptedModel, type ScriptAnswer, type ScriptedModel, type ScriptStep } from '../engine/index.js';
export { createMemoryStore } from '../engine/index.js';
export { type FakeAnswer, type FakeApi, type FakeApiOptions, type FakeRequest, startFakeApi } from './fake-api.js';
export { createFakeClock, type FakeClock } from './fake-clock.js';
