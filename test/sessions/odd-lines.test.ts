import { describe, expect, it } from 'vitest';
import { grantedUpdates } from '../../src/engine/sessions/resume.js';
import { parseEntry } from '../../src/engine/sessions/entry.js';
import { createMemoryStore } from '../../src/engine/index.js';
import { start } from '../engine/kit.js';
import { linesOf } from './kit.js';

const bypass = { permissionMode: 'bypassPermissions' as const };
const life = (fields: object): string => JSON.stringify({ type: 'heddle', ...fields });
const usage = { input_tokens: 1, output_tokens: 1 };

const ODD: Record<string, string> = {
  'permissions that are a text': life({ kind: 'permissions', updates: 'x' }),
  'permissions of no known shape': life({
    kind: 'permissions',
    updates: [{ type: 'x' }, null, { type: 'addRules' }, { type: 'addRules', rules: [{}], behavior: 'allow' }],
  }),
  'directories that are none': life({
    kind: 'permissions',
    updates: [{ type: 'addDirectories', directories: [5], destination: 'session' }],
  }),
  'a trim without calls': life({ kind: 'trim' }),
  'a trim of numbers': life({ kind: 'trim', toolUseIds: [1, null] }),
  'a task without a name': life({ kind: 'task', taskId: 'a', state: 'started' }),
  'a task that ended in silence': life({ kind: 'task', taskId: 'a', state: 'ended' }),
  'an aside of no cost': life({ kind: 'aside', messageId: 'q', model: 'm', usage, microCents: 'NaN' }),
  'an aside without end': `${life({ kind: 'aside', messageId: 'q', model: 'm', usage }).slice(0, -1)},"microCents":1e999}`,
  'a step without its output': life({ kind: 'step', messageId: 'q', model: 'm', usage: { input_tokens: 1 } }),
  'usage of texts': life({
    kind: 'step',
    messageId: 'q',
    model: 'm',
    usage: { ...usage, cache_read_input_tokens: 'x' },
  }),
  'a choice of odd things': life({ kind: 'set', model: 5, mode: {}, cwd: 7 }),
  'a call in no state': life({ kind: 'call', toolUseId: 't', state: 'lost' }),
  'an answer that is none': life({ kind: 'call', toolUseId: 't', state: 'answered', behavior: 'maybe' }),
  'a note of no file': life({ kind: 'noted', path: 5, hash: null }),
  'a file without a path': life({ kind: 'file', promptUuid: 'p' }),
  'a list of nothing': life({ kind: 'list', todos: [null], tasks: [null] }),
  'a branch from a number': life({ kind: 'branch', at: 5 }),
  'a turn in no state': life({ kind: 'turn' }),
  'a queue of no prompt': life({ kind: 'queue', state: 'queued' }),
  'a fallback to nothing': life({ kind: 'fallback' }),
  'a mark that says neither': life({ kind: 'mark' }),
  'no kind': life({ kind: 5 }),
  'told tasks that are a number': JSON.stringify({
    type: 'user',
    uuid: 'tt',
    parentUuid: null,
    toldTasks: 5,
    message: { role: 'user', content: 'x' },
  }),
};

describe('lines that are JSON and still wrong', () => {
  it.each(Object.entries(ODD))('%s: the session goes on', async (_, line) => {
    const first = await start(['one'], { config: bypass });
    const before = await first.ask('p1');
    await first.session.close();
    const store = createMemoryStore();
    const key = { sessionId: first.session.id, cwd: first.cwd };
    await store.append(key, [...(await linesOf(first)), line]);
    const run = await start(['two', 'three'], { store, cwd: first.cwd, config: { ...bypass, resume: key.sessionId } });
    const result = await run.ask('p2');
    expect(result).toMatchObject({ subtype: 'success', is_error: false, result: 'two' });
    expect(result.total_cost_usd).toBeGreaterThanOrEqual(before.total_cost_usd);
    for (const sum of Object.values(result.modelUsage)) {
      for (const count of [sum.inputTokens, sum.outputTokens, sum.costUSD]) expect(count).toBeGreaterThanOrEqual(0);
    }
  });

  it('what is whole among permissions counts, the rest does not', () => {
    const good = {
      type: 'addRules',
      rules: [{ toolName: 'Bash', ruleContent: 'ls' }],
      behavior: 'deny',
      destination: 'session',
    };
    const entry = parseEntry(life({ kind: 'permissions', updates: [null, good, { ...good, rules: 'all' }] }));
    expect(grantedUpdates(entry ? [entry] : [])).toEqual([good]);
  });

  it('a kind of a later version is left as it is', () => {
    const line = life({ kind: 'weather', sky: 'blue' });
    expect(parseEntry(line)).toEqual(JSON.parse(line));
  });
});
