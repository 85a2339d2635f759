// What it takes to list the sessions that are kept, and to find something in them.
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from './child.js';

const LISTED = 1_000;
const SEARCHED = 10_000;
const LIST_MS = 100;
const LARGE_MS = 200;
const SEARCH_MS = 300;
const ROUNDS = 7;
const WORDS = 'session lease store worker queue first second result file change test build rule shell prompt'.split(
  ' ',
);

export async function measureSessionsList({ root, cwd, env }) {
  const run = (configDir, kind) => runProgram('sessions-list.js', [root, configDir, kind, ROUNDS], { cwd, env });
  const [small, large, many] = ['small', 'large', 'many'].map((name) => join(cwd, `sessions-${name}`));
  for (let at = 0; at < LISTED; at += 1) writeSession(small, { at, turns: 1 + (at % 40) });
  writeSession(large, { at: 0, turns: 1, pad: 100 * 1024 * 1024 });
  for (let at = 0; at < SEARCHED; at += 1) writeSession(many, { at, turns: 1 + (at % 12) });
  const listed = await run(small, 'list');
  const heavy = await run(large, 'list');
  const searched = await run(many, 'search');
  const count = (number) => number.toLocaleString('en-US');
  const tell = (what, value) => ({ what, unit: 'ms', value });
  return [
    row(`list of ${count(LISTED)} sessions`, listed.eachMs, LIST_MS),
    tell('  the first in a process', listed.firstMs),
    row('list with a session of 100 MB', heavy.eachMs, LARGE_MS),
    row(`search in ${count(SEARCHED)} sessions`, searched.eachMs, SEARCH_MS),
    tell('  longest that others wait meanwhile', searched.blockedMs),
    tell('  making its index, once', searched.firstMs),
    tell('  longest that others wait meanwhile', searched.firstBlockedMs),
  ];
}

const row = (what, value, aim) => ({ what, unit: 'ms', value, aim: `<= ${aim} ms`, met: value <= aim });

/** A session as it is after a few turns with a tool call each. */
function writeSession(configDir, { at, turns, pad = 0 }) {
  const sessionId = randomUUID();
  const cwd = `/home/user/project-${at % 20}`;
  const lines = [];
  let time = Date.UTC(2026, 0, 1) + at * 60_000;
  let parentUuid = null;
  const stamp = () => new Date((time += 1000)).toISOString();
  const life = (fields) => lines.push({ type: 'heddle', sessionId, timestamp: stamp(), ...fields });
  const chain = (fields) => {
    const uuid = randomUUID();
    const links = { uuid, parentUuid, sessionId, timestamp: stamp(), cwd, version: '2.1.50', userType: 'external' };
    lines.push({ ...links, isSidechain: false, writer: 'heddle', gitBranch: 'main', ...fields });
    parentUuid = uuid;
  };
  const say = (seed, length) => Array.from({ length }, (_, n) => WORDS[(seed * 7 + n * n) % WORDS.length]).join(' ');
  life({ kind: 'session', format: 2, heddleVersion: '0.1.0' });
  chain({ type: 'user', isMeta: true, message: { role: 'user', content: say(at, 200) } });
  for (let turn = 0; turn < turns; turn += 1) {
    const id = `msg_${at}_${turn}`;
    const usage = { input_tokens: 100, output_tokens: 50 };
    life({ kind: 'turn', state: 'started' });
    chain({ type: 'user', message: { role: 'user', content: `${say(at + turn, 20)} needle${at}` } });
    const answer = (content) =>
      chain({ type: 'assistant', message: { id, role: 'assistant', model: 'm', content, usage } });
    answer([{ type: 'text', text: say(at * turn, 60) }]);
    answer([{ type: 'tool_use', id: `t${turn}`, name: 'Bash', input: { command: `grep -rn ${say(turn, 3)} src` } }]);
    life({ kind: 'step', messageId: id, model: 'm', stopReason: 'tool_use', usage, microCents: 1, durationMs: 1 });
    const result = `${say(turn, 200)}${'x'.repeat(pad / turns)}`;
    chain({
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${turn}`, content: result }] },
    });
    life({ kind: 'turn', state: 'ended', subtype: 'success' });
  }
  const folder = join(configDir, 'projects', cwd.replace(/[^a-zA-Z0-9]/g, '-'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${sessionId}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
