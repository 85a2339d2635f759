import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCalls } from '../../src/engine/next-action.js';
import type { Entry } from '../../src/engine/sessions/entry.js';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import { listSessions } from '../../src/engine/session-functions/list.js';
import { scratch, start } from '../engine/kit.js';
import { createRandom, type Random } from '../soak/random.js';
import { faultsIn } from './pairs.js';
import { cutAt, playWhole, type RealRun, reopen } from './real-run.js';
import { removeFolder } from '../remove-folder.js';

let root: string;
let whole: RealRun;

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-damage-')));
  whole = await playWhole(root);
});

afterAll(() => removeFolder(root));

const toBytes = (lines: readonly string[]): Buffer => Buffer.from(`${lines.join('\n')}\n`);

const DAMAGES: Record<string, (random: Random) => Buffer> = {
  'bytes that were changed': (random) => {
    const bytes = Buffer.from(whole.bytes);
    for (let count = 0; count < 15; count += 1) bytes[random.below(bytes.length)] = random.below(256);
    return bytes;
  },
  'a stretch that is missing': (random) => {
    const from = random.below(whole.bytes.length);
    return Buffer.concat([whole.bytes.subarray(0, from), whole.bytes.subarray(from + random.below(3_000))]);
  },
  'a stretch of zeros': (random) => {
    const from = random.below(whole.bytes.length);
    return Buffer.concat([whole.bytes.subarray(0, from), Buffer.alloc(4_096), whole.bytes.subarray(from + 500)]);
  },
  'lines that are missing': (random) =>
    toBytes(whole.lines.toSpliced(random.below(whole.lines.length), random.below(4))),
  'a line that is elsewhere': (random) => {
    const from = random.below(whole.lines.length);
    const rest = whole.lines.toSpliced(from, 1);
    return toBytes(rest.toSpliced(random.below(rest.length), 0, whole.lines[from] ?? ''));
  },
  'a line that is there again': (random) =>
    toBytes(whole.lines.toSpliced(random.below(whole.lines.length), 0, random.pick(whole.lines))),
  'a field that is something else': (random) => {
    const place = random.below(whole.lines.length);
    const entry: unknown = JSON.parse(whole.lines[place] ?? '');
    const [holder, key] = random.pick(fieldsOf(entry));
    holder[key] = random.pick<unknown>([null, 0, 'x', [], {}, [null], true]);
    return toBytes(whole.lines.toSpliced(place, 1, JSON.stringify(entry)));
  },
};

type Holder = Record<string, unknown>;

const fieldsOf = (value: unknown): [Holder, string][] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.keys(value).flatMap((key) => [
        [value as Holder, key] as [Holder, string],
        ...fieldsOf((value as Holder)[key]),
      ]);

describe('F1: damage in the middle of a log', () => {
  it.each(Object.keys(DAMAGES))('%s: the session goes on, with requests that are whole', async (name) => {
    for (let seed = 0; seed < 40; seed += 1) {
      cutAt(whole, whole.bytes.length);
      writeFileSync(whole.path, DAMAGES[name]?.(createRandom(seed)) ?? '');
      const run = await reopen(whole, [{ id: crypto.randomUUID(), text: 'Yes.' }]);
      expect(await run.ask('Well?'), `seed ${seed}`).toMatchObject({ subtype: 'success', result: 'Yes.' });
      expect(faultsIn(run.model.requests[0]?.body.messages ?? []), `seed ${seed}`).toEqual([]);
      await run.session.close();
    }
  });
});

describe('B4: what is in the place of a log and has no end', () => {
  it.each([
    ['a pipe', (path: string) => void spawnSync('mkfifo', [path])],
    ['a device', (path: string) => symlinkSync('/dev/zero', path)],
  ])('%s is a typed error, and is not waited for', async (_, make) => {
    const cwd = scratch();
    const store = createFileStore({ configDir: join(cwd, 'config') });
    const sessionId = crypto.randomUUID();
    const path = store.pathOf?.({ sessionId, cwd }) ?? '';
    mkdirSync(dirname(path), { recursive: true });
    make(path);
    await expect(start([], { store, cwd, config: { resume: sessionId } })).rejects.toMatchObject({
      code: 'session_unreadable',
      message: expect.stringMatching(/not an ordinary file/),
    });
    expect(await listSessions({ store }, { dir: cwd })).toBeInstanceOf(Array);
  });
});

describe('C6: an answer that was given, and then asked for again', () => {
  it('holds no more', () => {
    const life = (fields: object) => ({
      type: 'heddle',
      sessionId: 's',
      timestamp: '',
      kind: 'call',
      toolUseId: 't1',
      ...fields,
    });
    const block = { type: 'tool_use', id: 't1', name: 'Bash', input: {} };
    const entries = [
      { type: 'assistant', uuid: 'a', message: { id: 'm1', content: [block] } },
      life({ state: 'requested', questionId: 'q1' }),
      life({ state: 'answered', behavior: 'allow' }),
      life({ state: 'requested', questionId: 'q2' }),
    ] as unknown as Entry[];
    const [call, ...more] = openCalls(entries);
    expect(more).toEqual([]);
    expect(call).toMatchObject({ block, life: 'requested', shown: { questionId: 'q2' } });
    expect(call).not.toHaveProperty('answer');
  });
});
