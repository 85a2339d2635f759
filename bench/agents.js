// What a subagent costs beside its model calls: from the call that starts it to its first request, and from its last answer
// to the next request of its parent. The floor is a tool call that does nothing.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { median } from './rounds.js';

const ROUNDS = 60;
const START_MS = 3;
/** On a machine where a call of any tool is slow, so is this one. */
const START_RATIO = 3;
const MANY = 50;
const MANY_MS = 500;

export async function measureAgents({ root, cwd, env }) {
  const kit = await bundle({ root, cwd });
  const place = join(cwd, 'agents');
  mkdirSync(place, { recursive: true });
  const starts = [];
  const floors = [];
  for (let round = -5; round < ROUNDS; round += 1) {
    const floor = await measureCall(kit, { place, env, isAgent: false });
    const start = await measureCall(kit, { place, env, isAgent: true });
    if (round < 0) continue;
    floors.push(floor);
    starts.push(start);
  }
  const [value, floor] = [median(starts), median(floors)];
  const limit = Math.max(START_MS, START_RATIO * floor);
  const many = median(await repeat(7, () => measureMany(kit, { place, env })));
  return [
    {
      what: 'a subagent, beside its model call',
      unit: 'ms',
      value,
      floor,
      aim: `<= ${limit.toFixed(0)} ms`,
      met: value <= limit,
    },
    { what: `${MANY} subagents at once`, unit: 'ms', value: many, aim: `<= ${MANY_MS} ms`, met: many <= MANY_MS },
    { what: '  for each of them', unit: 'ms', value: many / MANY },
  ];
}

const agentCall = (id) => ({ name: 'Task', id, input: { description: 'a task', prompt: 'Do it.' } });
const plainCall = { name: 'nothing', id: 'call', input: {} };
const NOTHING = {
  name: 'nothing',
  description: 'Does nothing.',
  inputSchema: { type: 'object' },
  isReadOnly: () => true,
  run: async () => ({ content: 'nothing' }),
};

/** The time that passes while no model answers, from the first answer to the last request. */
async function measureCall(kit, { place, env, isAgent }) {
  const script = [{ toolUse: isAgent ? agentCall('call') : plainCall }, ...(isAgent ? ['Done.'] : []), 'Over.'];
  const { spent, close } = await ask(kit, { script, place, env });
  await close();
  return spent;
}

/** From the answer that starts them to the request that has all their answers. */
async function measureMany(kit, { place, env }) {
  const calls = Array.from({ length: MANY }, (_, index) => agentCall(`call${index}`));
  const script = [{ toolUse: calls }, ...calls.map(() => 'Done.'), 'Over.'];
  const { whole, close } = await ask(kit, { script, place, env });
  await close();
  return whole;
}

async function ask({ createEngine, createFileStore, createScriptedModel, systemClock }, { script, place, env }) {
  const model = createScriptedModel(script);
  let [last, spent, first, whole] = [undefined, 0, undefined, 0];
  const provider = {
    ...model,
    async *stream(...args) {
      const now = performance.now();
      if (last !== undefined) spent += now - last;
      if (first !== undefined) whole = now - first;
      yield* model.stream(...args);
      last = performance.now();
      first ??= last;
    },
  };
  const store = createFileStore({ configDir: join(place, 'config') });
  const engine = createEngine({ clock: systemClock, store, provider, tools: [NOTHING] });
  const session = await engine.open({
    cwd: place,
    env: { ...env, IS_SANDBOX: '1' },
    configDir: join(place, 'config'),
    permissionMode: 'bypassPermissions',
    allowDangerouslySkipPermissions: true,
  });
  const over = Promise.withResolvers();
  session.attach({
    deliver(message) {
      if (message.type === 'result') over.resolve(message);
    },
  });
  session.submit({ type: 'user', message: { role: 'user', content: 'Go' }, parent_tool_use_id: null });
  const { result } = await over.promise;
  if (result !== 'Over.') throw new Error(`The turn ended with ${result}`);
  return { spent, whole, close: () => session.close() };
}

async function repeat(count, act) {
  const results = [];
  for (let round = 0; round < count; round += 1) results.push(await act());
  return results;
}

/** Inside the package the scripted model is behind another door, so they are put together here. */
async function bundle({ root, cwd }) {
  const outdir = join(root, 'node_modules/.cache/heddle-bench/agents');
  const contents = [
    "export { createEngine, createFileStore } from './engine/index.js';",
    "export { createScriptedModel } from './engine/model/scripted.js';",
    "export { systemClock } from './protocol/plain.js';",
  ].join('\n');
  await build({
    stdin: { contents, resolveDir: join(root, 'src'), loader: 'ts', sourcefile: 'agents.ts' },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    packages: 'external',
    logLevel: 'error',
    outExtension: { '.js': '.mjs' },
  });
  return import(`${pathToFileURL(join(outdir, 'stdin.mjs')).href}?${cwd}`);
}
