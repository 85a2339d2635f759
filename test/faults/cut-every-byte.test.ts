import { mkdtempSync, readFileSync, realpathSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toContext } from '../../src/engine/context.js';
import { currentTurn, nextAction, openCalls } from '../../src/engine/next-action.js';
import { readEntries, toChain } from '../../src/engine/sessions/chain.js';
import { type Entry, isChainEntry } from '../../src/engine/sessions/entry.js';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import { cutAnswers } from '../../src/engine/sessions/resume.js';
import type { MessageParam, ToolResultBlock } from '../../src/protocol/index.js';
import { createRandom } from '../soak/random.js';
import { faultsIn, unansweredIn } from './pairs.js';
import { cutAt, playRest, playWhole, type RealRun, reopen, SESSION, SIDE_EFFECTS, whatIsLeft } from './real-run.js';
import { removeFolder } from '../remove-folder.js';

const SEED = 20_260_301;
const UNKNOWN = /was started, and its result is not known here/;

let root: string;
let whole: RealRun;
/** Where each line ends, its newline included. */
let ends: number[];

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-cut-')));
  whole = await playWhole(root);
  ends = whole.lines.map((_, last) => Buffer.byteLength(`${whole.lines.slice(0, last + 1).join('\n')}\n`));
});

afterAll(() => removeFolder(root));

/** How many lines are whole in so many bytes: the last one may lack its newline. */
const wholeLines = (size: number): number => ends.filter((end) => end - 1 <= size).length;

describe('F1: the log of a real run, cut at every byte', () => {
  it('has everything in it that can be interrupted', () => {
    const text = whole.bytes.toString('utf8');
    for (const part of [
      '"thinking"',
      '"state":"requested"',
      '"behavior":"allow"',
      '"behavior":"deny"',
      '"state":"queued"',
      '"compact_boundary"',
      '"isCompactSummary":true',
      '"kind":"noted"',
      '"kind":"list"',
      '𝄞',
    ])
      expect(text).toContain(part);
    expect(whole.bytes.length).toBeGreaterThan(20_000);
  });

  it('gives exactly the lines that are whole, and the next line stands alone', async () => {
    const { path, bytes, cwd, configDir, lines } = whole;
    const store = createFileStore({ configDir });
    const next = '{"type":"heddle","kind":"later"}';
    const wrong: number[] = [];
    for (let size = bytes.length; size > 0; size -= 1) {
      truncateSync(path, size);
      const count = wholeLines(size);
      // The log is shorter than the head of it that a glance shows.
      const seen = (await store.glance?.(SESSION))?.head ?? [];
      if (!isStartOf(lines, seen, count)) wrong.push(size);
      const isSpecial = size % 50 === 0 || ends.includes(size) || ends.includes(size + 1) || ends.includes(size + 2);
      if (!isSpecial) continue;
      if (!isStartOf(lines, (await store.load(SESSION))?.lines ?? [], count)) wrong.push(size);
      await store.append({ sessionId: SESSION, cwd }, [next]);
      const added = readFileSync(path).subarray(size).toString('latin1');
      if (added !== (bytes[size - 1] === 0x0a ? `${next}\n` : `\n${next}\n`)) wrong.push(size);
      if ((await store.load(SESSION))?.lines.at(-1) !== next) wrong.push(size);
    }
    writeFileSync(path, bytes);
    expect(wrong).toEqual([]);
  });

  it('knows at every line what comes next, with every call paired or to be answered', async () => {
    const seen = new Set<string>();
    for (let count = 1; count <= whole.lines.length; count += 1) {
      const entries = toChain(await readEntries(whole.lines.slice(0, count)));
      expect(entries).toHaveLength(count);
      expect(linksOf(entries)).toEqual([]);
      const cut = cutAnswers(entries);
      const closed = [...entries, ...cut.map(toAborted)];
      const action = nextAction(closed);
      seen.add(action.do);
      const context = toContext(closed);
      const open = openCalls(currentTurn(closed) ?? []).map(({ block }) => block.id);
      const cutIds = cut.map(({ messageId }) => messageId);
      expect(
        unansweredIn(entries.filter((entry) => !(entry.type === 'assistant' && cutIds.includes(entry.message.id)))),
      ).toEqual(open);
      if (open.length === 0 && context.length > 0) expect(faultsIn(context)).toEqual([]);
      if (action.do === 'run-tools') expect(action.calls.map(({ block }) => block.id)).toEqual(open);
    }
    expect([...seen].toSorted()).toEqual(['call-model', 'finish', 'idle', 'run-tools']);
  });
});

const isStartOf = (lines: readonly string[], some: readonly string[], count: number): boolean =>
  some.length === count && some.every((line, place) => line === lines[place]);

describe('F1: after a resume at every line', () => {
  it('the next requests are byte-identical to those of the uninterrupted run', async () => {
    let compared = 0;
    for (const [place, end] of ends.entries()) {
      const left = whatIsLeft(whole.lines.slice(0, place + 1));
      if (left.unknown.length > 0) continue;
      cutAt(whole, end);
      // Now and then to the end of the run, else to the end of the next turn.
      const prompts = place % 5 === 0 ? left.prompts : left.prompts.slice(0, 1);
      const sent = await playRest(whole, { ...left, prompts });
      const expected = whole.bodies.slice(left.answers).slice(0, place % 5 === 0 ? undefined : sent.length);
      expect(differences(sent, expected), `cut after line ${place + 1}`).toEqual([]);
      compared += sent.length;
    }
    expect(compared).toBeGreaterThan(100);
  });

  it('calls that had been started differ in one thing: the model is told that their end is not known', async () => {
    const told = new Set<string>();
    for (const [place, end] of ends.entries()) {
      const left = whatIsLeft(whole.lines.slice(0, place + 1));
      if (left.unknown.length === 0) continue;
      cutAt(whole, end);
      const [first = '{}'] = await playRest(whole, { ...left, prompts: [] });
      const sent = JSON.parse(first) as { messages: MessageParam[] };
      const expected = JSON.parse(whole.bodies[left.answers] ?? '{}') as typeof sent;
      for (const id of left.unknown) {
        const result = resultOf(sent.messages, id);
        expect(result.content).toMatch(UNKNOWN);
        expect(result.is_error).toBe(true);
        Object.assign(resultOf(expected.messages, id), { content: result.content, is_error: true });
        told.add(id);
      }
      expect(sent).toEqual(expected);
    }
    expect([...told]).toEqual(expect.arrayContaining(SIDE_EFFECTS));
  });
});

describe('F1: killed, resumed, killed and resumed again', () => {
  it('at random bytes: every request is whole, nothing said is lost, and only torn lines are', async () => {
    const random = createRandom(SEED);
    let lost = 0;
    for (let run = 0; run < 40; run += 1) {
      const size = 200 + random.below(whole.bytes.length - 200);
      cutAt(whole, size);
      await askAnew('What now?');
      const { length } = readFileSync(whole.path);
      const second = size + random.below(length - size);
      truncateSync(whole.path, second);
      const kept = wholeLinesOf(whole.path);
      const last = await askAnew('And now?');
      const where = `cut at ${size}, then at ${second}`;
      expect(last.includes('What now?'), where).toBe(kept.some((line) => line.includes('What now?')));
      lost += kept.some((line) => line.includes('What now?')) ? 0 : 1;
      const after = readFileSync(whole.path, 'utf8').trimEnd().split('\n');
      expect(after.length - wholeLinesOf(whole.path).length, where).toBeLessThanOrEqual(2);
      expect(wholeLinesOf(whole.path).slice(0, kept.length)).toEqual(kept);
    }
    expect(lost).toBeGreaterThan(0);
    expect(lost).toBeLessThan(40);
  });

  it('a new prompt gives each call without a result exactly one', async () => {
    const random = createRandom(SEED + 1);
    let answered = 0;
    for (let run = 0; run < 40; run += 1) {
      const size = 200 + random.below(whole.bytes.length - 200);
      cutAt(whole, size);
      const entries = toChain(await readEntries(whole.lines.slice(0, wholeLines(size))));
      const open = openCalls([...entries, ...cutAnswers(entries).map(toAborted)]);
      await askAnew('Stop. Something else.');
      const after = wholeLinesOf(whole.path).join('\n');
      for (const { block } of open) {
        const results = after.split(`"type":"tool_result","tool_use_id":"${block.id}"`).length - 1;
        expect(results, `${block.id}, cut at ${size}`).toBe(1);
      }
      answered += open.length;
    }
    expect(answered).toBeGreaterThan(10);
  });
});

/** Resumes, says something new and gives the request that the model got. */
async function askAnew(text: string): Promise<string> {
  const run = await reopen(whole, [{ id: crypto.randomUUID(), text: 'Yes.' }]);
  expect(await run.ask(text)).toMatchObject({ subtype: 'success', result: 'Yes.' });
  await run.session.close();
  const body = run.model.requests[0]?.body;
  expect(faultsIn(body?.messages ?? [])).toEqual([]);
  const sent = JSON.stringify(body);
  expect(sent).toContain(text);
  return sent;
}

const toAborted = (cut: ReturnType<typeof cutAnswers>[number]): Entry => ({
  type: 'heddle',
  sessionId: SESSION,
  timestamp: '',
  kind: 'aborted',
  microCents: null,
  reason: 'cut_off',
  ...cut,
});

/** Entries of the conversation that are not linked to the one before. */
function linksOf(entries: readonly Entry[]): string[] {
  const chain = entries.filter(isChainEntry);
  return chain.flatMap((entry, place) => {
    const parent = entry.type === 'system' ? entry.logicalParentUuid : entry.parentUuid;
    return parent === (chain[place - 1]?.uuid ?? null) ? [] : [entry.uuid];
  });
}

function resultOf(messages: readonly MessageParam[], id: string): ToolResultBlock {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  const found = blocks.filter((block) => block.type === 'tool_result' && block.tool_use_id === id);
  expect(found).toHaveLength(1);
  return found[0] as ToolResultBlock;
}

const wholeLinesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n').filter(isWhole);

function isWhole(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** Where two lists of texts differ, with a bit of both. */
function differences(got: readonly string[], wanted: readonly string[]): string[] {
  if (got.length !== wanted.length) return [`${got.length} instead of ${wanted.length}`];
  return got.flatMap((text, place) => {
    const other = wanted[place] ?? '';
    if (text === other) return [];
    let at = 0;
    while (text[at] === other[at]) at += 1;
    return [`${place}: ...${text.slice(at - 80, at + 80)}... instead of ...${other.slice(at - 80, at + 80)}...`];
  });
}
