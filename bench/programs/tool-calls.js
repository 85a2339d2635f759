// One message with many calls of a tool, through the whole pipeline. The log is in memory: before a side effect a file
// would wait for the disk, and this is about the tools.
// Prints what a call took, beside what the same work takes without an engine.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [root, kind] = process.argv.slice(2);
const load = (door) => import(pathToFileURL(join(root, `dist/${door}/index.js`)).href);
const { createEngine, createMemoryStore, createScriptedModel, systemClock } = await load('engine');
const cwd = mkdtempSync(join(process.cwd(), 'tools-'));
const file = (name, text) => {
  writeFileSync(join(cwd, name), text);
  return join(cwd, name);
};
const lines = (bytes) => 'a line of forty characters and one more\n'.repeat(Math.ceil(bytes / 40)).slice(0, bytes);
const many = (count, input) => Array.from({ length: count }, (_, index) => input(index));

/** kind -> calls of each message; the last message is the one that counts. */
const KINDS = {
  pipeline: () => [many(1000, () => ['Nothing', {}])],
  'cached-read': () => {
    const file_path = file('small.txt', lines(4_000));
    return [[['Read', { file_path }]], many(500, () => ['Read', { file_path }])];
  },
  'first-read': () => [many(40, (n) => ['Read', { file_path: file(`big-${n}.txt`, lines(1_048_576)), limit: 2000 }])],
  write: () => [many(200, (n) => ['Write', { file_path: join(cwd, `new-${n}.txt`), content: lines(4_000) }])],
  edit: () => {
    const paths = many(200, (n) => file(`edit-${n}.txt`, `${lines(4_000)}the one\n`));
    return [
      paths.map((file_path) => ['Read', { file_path }]),
      paths.map((file_path) => ['Edit', { file_path, old_string: 'the one', new_string: 'another' }]),
    ];
  },
  bash: () => [1, 40].map((count) => many(count, () => ['Bash', { command: 'echo hello' }])),
  'many-reads': () => {
    const file_path = file('page.txt', lines(32_768));
    return [many(1000, () => ['Read', { file_path }])];
  },
};

const spawnEcho = () =>
  new Promise((resolve) => {
    const child = spawn('bash', ['-c', 'echo hello'], { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    child.stdout.resume();
    child.on('close', resolve);
  });

/** What the same takes by hand, in ms for each; undefined where there is no fair comparison. */
const FLOORS = {
  bash: async () => {
    await spawnEcho();
    const started = performance.now();
    for (let n = 0; n < 40; n += 1) await spawnEcho();
    return (performance.now() - started) / 40;
  },
};

const messages = KINDS[kind]();
const nothing = {
  name: 'Nothing',
  description: 'Does nothing.',
  inputSchema: { type: 'object' },
  parse: (input) => input,
  isReadOnly: () => true,
  run: async () => ({ content: 'nothing' }),
};
let started = 0;
const script = [
  ...messages.map((calls) => () => {
    started = performance.now();
    return { toolUse: calls.map(([name, input]) => ({ name, input })) };
  }),
  () => {
    ended = performance.now();
    return 'done';
  },
];
let ended = 0;
mkdirSync(join(cwd, 'config'));
const engine = createEngine({
  clock: systemClock,
  ...(kind !== 'many-reads' && { store: createMemoryStore() }),
  provider: createScriptedModel(script),
  tools: [nothing],
});
const config = { cwd, env: { PATH: process.env.PATH, IS_SANDBOX: '1' }, configDir: join(cwd, 'config') };
const session = await engine.open({
  ...config,
  permissionMode: 'bypassPermissions',
  allowDangerouslySkipPermissions: true,
});
const result = Promise.withResolvers();
let failed;
session.attach({
  deliver(message) {
    if (message.type === 'result') result.resolve(message);
    if (message.type === 'user' && message.message.content[0]?.is_error) failed ??= message.message.content[0].content;
  },
});
const floorMs = await FLOORS[kind]?.();
globalThis.gc?.();
const heapBefore = process.memoryUsage().heapUsed;
session.submit({ type: 'user', message: { role: 'user', content: 'go' }, parent_tool_use_id: null });
await result.promise;
if (failed) throw new Error(failed);
globalThis.gc?.();
const { length } = messages.at(-1);
const grownMb = (process.memoryUsage().heapUsed - heapBefore) / 1024 / 1024;
const keptMb = kind === 'many-reads' ? (length * (await readFile(messages[0][0][1].file_path)).length) / 1048576 : 0;
console.log(JSON.stringify({ eachMs: (ended - started) / length, floorMs, grownMb, keptMb }));
await session.close();
process.exit();
