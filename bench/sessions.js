// What it takes to keep a session in a file: a line, the right to write, going on with one, and 100 MB while others work.
import { closeSync, fdatasyncSync, linkSync, mkdirSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { median } from './rounds.js';

const ROUNDS = 9;
const APPENDS = 1_000;
const SYNCS = 20;
const LEASES = 100;
const APPEND_US = 60;
const SYNC_RATIO = 1.5;
const LEASE_US = 300;
const LOAD_MS = 2_000;
const BLOCK_MS = 50;
const LARGE_BYTES = 100 * 1024 * 1024;
const MESSAGES = 5_000;
const RESUME_MS = 150;
const RESUMES = 5;

/** An entry of ordinary length. */
const LINE = JSON.stringify({ type: 'user', cwd: '/home/user/project', text: 'a line of the log '.repeat(35) });

export async function measureSessions({ root, cwd }) {
  const folder = join(cwd, 'sessions');
  mkdirSync(folder, { recursive: true });
  const createFileStore = await bundle({ root, folder });
  const store = createFileStore({ configDir: join(folder, 'config') });
  return [
    ...(await measureAppends({ store, folder })),
    measureLeases({ store, folder }),
    ...(await measureLoad({ store })),
    ...(await measureResume({ root, folder })),
  ];
}

/** As a program has it: from the call to the first request, and what opening a large one takes from other sessions. */
async function measureResume({ root, folder }) {
  const engine = await import(pathToFileURL(join(root, 'dist/engine/index.js')).href);
  const configDir = join(folder, 'resumed');
  const store = engine.createFileStore({ configDir });
  const small = writeTalk(store, { cwd: folder, messages: MESSAGES, chars: 300 });
  const times = [];
  for (let round = 0; round < RESUMES; round += 1)
    times.push(await timeOf(() => resume({ engine, configDir, key: small })));
  const large = writeTalk(store, { cwd: folder, messages: LARGE_BYTES / 50_000, chars: 49_500 });
  const blocks = [];
  const opens = [];
  for (let round = 0; round < RESUMES - 2; round += 1) {
    const act = () => resume({ engine, configDir, key: large, isOpenedOnly: true });
    opens.push(await timeOf(async () => blocks.push(await longestBlock(act))));
  }
  const [first] = times;
  const each = median(times.slice(1));
  const block = median(blocks);
  return [
    { what: 'resume of 5,000 messages', unit: 'ms', value: each, aim: `<= ${RESUME_MS} ms`, met: each <= RESUME_MS },
    { what: '  the first in a process', unit: 'ms', value: first },
    { what: 'opening a session of 100 MB', unit: 'ms', value: median(opens) },
    { what: '  longest that others wait', unit: 'ms', value: block, aim: `<= ${BLOCK_MS} ms`, met: block <= BLOCK_MS },
  ];
}

/** A store of its own each time: nothing is known of the session beforehand. */
async function resume({ engine, configDir, key, isOpenedOnly = false }) {
  const requested = Promise.withResolvers();
  const model = engine.createScriptedModel(['x']);
  const provider = {
    ...model,
    stream(...args) {
      requested.resolve();
      return model.stream(...args);
    },
  };
  const running = engine.createEngine({
    clock: engine.systemClock,
    store: engine.createFileStore({ configDir }),
    provider,
  });
  const env = { PATH: process.env.PATH, HOME: configDir };
  const session = await running.open({ cwd: key.cwd, configDir, env, resume: key.sessionId, settingSources: [] });
  if (!isOpenedOnly) {
    session.submit({ type: 'user', message: { role: 'user', content: 'go on' }, parent_tool_use_id: null });
    await requested.promise;
  }
  await session.close();
}

/** Prompts and answers in turn, as a session writes them. */
function writeTalk(store, { cwd, messages, chars }) {
  const key = { sessionId: crypto.randomUUID(), cwd };
  const { sessionId } = key;
  const timestamp = new Date(0).toISOString();
  const life = (fields) => JSON.stringify({ type: 'heddle', sessionId, timestamp, ...fields });
  const usage = { input_tokens: 10, output_tokens: 5 };
  const content = [{ type: 'text', text: 'a word of it '.repeat(Math.ceil(chars / 13)) }];
  let parentUuid = null;
  const link = (fields) => {
    const uuid = crypto.randomUUID();
    const line = { uuid, parentUuid, sessionId, timestamp, cwd, version: '2.1.50', userType: 'external' };
    parentUuid = uuid;
    return JSON.stringify({ ...line, isSidechain: false, writer: 'heddle', ...fields });
  };
  store.append(key, [life({ kind: 'session', format: 2, heddleVersion: '0' })]);
  for (let count = 0; count < messages; count += 2) {
    const id = `msg_${count}`;
    const message = { id, type: 'message', role: 'assistant', model: 'm', content, stop_reason: null, usage };
    store.append(key, [
      life({ kind: 'turn', state: 'started' }),
      link({ type: 'user', message: { role: 'user', content } }),
      link({ type: 'assistant', message }),
      life({ kind: 'step', messageId: id, model: 'm', stopReason: 'end_turn', usage, microCents: 1, durationMs: 1 }),
      life({ kind: 'turn', state: 'ended', subtype: 'success' }),
    ]);
  }
  return key;
}

async function measureAppends({ store, folder }) {
  const key = newKey();
  const lease = await store.lease(key);
  const floor = openSync(join(folder, 'floor'), 'a');
  const bare = () => writeSync(floor, `${LINE}\n`);
  const bareSync = () => {
    bare();
    fdatasyncSync(floor);
  };
  const write = inTurn({ own: () => store.append(key, [LINE]), bare }, APPENDS);
  const sync = inTurn({ own: () => store.append(key, [LINE], { sync: true }), bare: bareSync }, SYNCS);
  await lease.release();
  const mark = inTurn({ own: () => store.append(key, [LINE]), bare }, APPENDS);
  closeSync(floor);
  return [
    { ...row('append', write, 'us'), aim: `<= ${APPEND_US} us`, met: write.own <= APPEND_US },
    {
      ...row('append that reaches the disk', sync, 'us'),
      aim: `<= ${SYNC_RATIO}x of fdatasync`,
      met: sync.own <= SYNC_RATIO * sync.bare,
    },
    {
      ...row('append without a lease, as a title is', mark, 'us'),
      aim: `<= ${APPEND_US} us`,
      met: mark.own <= APPEND_US,
    },
  ];
}

/** The floor is what the disk takes for the file of a lease alone. */
function measureLeases({ store, folder }) {
  const place = join(folder, 'lease');
  const bare = () => {
    const file = openSync(`${place}.draft`, 'wx');
    writeSync(file, LINE.slice(0, 200));
    closeSync(file);
    linkSync(`${place}.draft`, place);
    unlinkSync(`${place}.draft`);
    unlinkSync(place);
  };
  const times = inTurn({ own: () => store.lease(newKey()).release(), bare }, LEASES);
  const limit = Math.max(LEASE_US, 2 * times.bare);
  return { ...row('lease, taken and let go', times, 'us'), aim: `<= ${LEASE_US} us, or 2x`, met: times.own <= limit };
}

async function measureLoad({ store }) {
  const key = newKey();
  const lines = Array.from({ length: 1_000 }, () => LINE);
  for (let bytes = 0; bytes < LARGE_BYTES; bytes += lines.length * (LINE.length + 1)) store.append(key, lines);
  const path = store.pathOf(key);
  const own = [];
  const bare = [];
  const blocks = [];
  for (let round = 0; round < 4; round += 1) {
    own.push(await timeOf(async () => blocks.push(await longestBlock(() => store.load(key.sessionId)))));
  }
  // Afterwards: what it leaves behind would be cleared away in the time of ours.
  for (let round = 0; round < 4; round += 1) {
    bare.push(await timeOf(async () => (await readFile(path, 'utf8')).split('\n')));
  }
  const times = { own: median(own.slice(1)), bare: median(bare.slice(1)) };
  const block = median(blocks.slice(1));
  return [
    { ...row('reading a log of 100 MB', times, 'ms'), aim: `<= ${LOAD_MS} ms`, met: times.own <= LOAD_MS },
    { what: '  longest that others wait', unit: 'ms', value: block, aim: `<= ${BLOCK_MS} ms`, met: block <= BLOCK_MS },
  ];
}

const newKey = () => ({ sessionId: crypto.randomUUID(), cwd: '/home/user/project' });
const row = (what, { own, bare }, unit) => ({ what, unit, value: own, floor: bare });

/** Microseconds of one call, of our own and of the bare one, in rounds that take turns. */
function inTurn(calls, count) {
  const rounds = Object.fromEntries(Object.keys(calls).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, call] of Object.entries(calls)) {
      const started = performance.now();
      for (let n = 0; n < count; n += 1) call();
      if (round > 0) rounds[name].push(((performance.now() - started) * 1_000) / count);
    }
  }
  return Object.fromEntries(Object.entries(rounds).map(([name, times]) => [name, median(times)]));
}

async function timeOf(act) {
  const started = performance.now();
  await act();
  return performance.now() - started;
}

/** The longest time in which nothing else of the process had its turn. */
async function longestBlock(act) {
  let longest = 0;
  let last = performance.now();
  let isWatching = true;
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (isWatching) setImmediate(tick);
  };
  setImmediate(tick);
  await act();
  isWatching = false;
  return longest;
}

/** The store without the rest of the engine. */
async function bundle({ root, folder }) {
  const outfile = join(folder, 'file-store.mjs');
  const entry = join(root, 'src/engine/stores/file-store.ts');
  await build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' });
  return (await import(pathToFileURL(outfile).href)).createFileStore;
}
