// Agents that can be tested: a scripted model, then a recording that is replayed. See docs/testing.md.
import { type HeddleOptions, query } from 'heddle';
import {
  collect,
  createMemoryStore,
  createMemoryWorkspace,
  createRecorder,
  createReplay,
  createScriptedModel,
  expectTranscript,
  transcript,
} from 'heddle/testing';

// The agent under test. The program itself calls it without `heddle`.
const release = (version: string, heddle?: HeddleOptions) =>
  query({
    prompt: `Set the version in version.txt to ${version}.`,
    options: { cwd: '/project', permissionMode: 'acceptEdits', heddle },
  });

const world = () => ({
  store: createMemoryStore(),
  workspace: createMemoryWorkspace({ 'version.txt': '1.9\n' }),
});

const model = createScriptedModel([
  { toolUse: { name: 'Read', input: { file_path: 'version.txt' } } },
  { toolUse: { name: 'Edit', input: { file_path: 'version.txt', old_string: '1.9', new_string: '2.0' } } },
  'The version is 2.0.',
]);

// In a real test the recorder stands before the real model, once: createRecorder(await createApiProvider(...), ...).
const cassette: string[] = [];
const provider = createRecorder(model, { sink: (line) => void cassette.push(line) });
const { workspace, store } = world();
const recorded = await collect(release('2.0', { provider, workspace, store }));
model.assertDone();
console.log(transcript(recorded));
console.log(`version.txt: ${workspace.read('version.txt').trim()}`);

const replay = createReplay(cassette);
expectTranscript(await collect(release('2.0', { provider: replay, ...world() })), transcript(recorded));
replay.assertDone();
console.log(`replayed ${cassette.length - 1} model calls, equal`);

// A request that has changed misses loudly, and says where.
const missed = createReplay(cassette);
await collect(release('3.0', { provider: missed, ...world() }));
try {
  missed.assertDone();
} catch (thrown) {
  console.log(thrown instanceof Error ? thrown.message : thrown);
}
