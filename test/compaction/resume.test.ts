import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/engine/index.js';
import type { ScriptAnswer, ScriptStep } from '../../src/engine/model/script-step.js';
import { isBoundary } from '../../src/engine/sessions/entry.js';
import { type Run, start } from '../engine/kit.js';
import { asksForSummary, bodyOf, chainOf, compactBy, hookInto, linesOf, sentIn } from './kit.js';

const SESSION = '99999999-2222-4333-8444-555555555556';
const config = { permissionMode: 'bypassPermissions' as const };
const FULL = { input_tokens: 170_000 };

const bash = (id: string, command: string, extra: ScriptAnswer = {}): ScriptStep => ({
  id: `m-${id}`,
  toolUse: { id, name: 'Bash', input: { command } },
  ...extra,
});

/** The session again, from so much of its log. */
async function resume(run: Run, lines: readonly string[], script: readonly ScriptStep[]): Promise<Run> {
  const store = createMemoryStore();
  await store.append({ sessionId: SESSION, cwd: run.cwd }, lines);
  return start(script, { store, cwd: run.cwd, config: { ...config, resume: SESSION } });
}

const hooks = {
  SessionStart: ({ source }: Record<string, unknown>) => ({
    hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: `said at ${String(source)}` },
  }),
};

describe('F1: after a resume the next request is the one that would have been sent', () => {
  it('cut at every entry of a turn that was summed up by itself', async () => {
    const script: ScriptStep[] = [
      bash('t1', 'echo one'),
      bash('t2', 'echo two', { usage: FULL }),
      { id: 'sum', text: '<summary>THE-SUMMARY</summary>' },
      bash('t3', 'echo three'),
      { id: 'end', text: 'done' },
    ];
    const whole = await start(script, { config: { ...config, sessionId: SESSION } });
    await hookInto(whole, hooks);
    await whole.ask('THE-PROMPT');
    const lines = await linesOf(whole);
    const bodies = whole.model.requests.map(bodyOf);
    expect(bodies).toHaveLength(5);
    let compared = 0;
    for (let cut = 1; cut < lines.length; cut += 1) {
      const kept = lines.slice(0, cut);
      if (endsInsideCall(kept)) continue;
      const hasSummary = kept.some((line) => line.includes('"isCompactSummary":true'));
      const steps = kept.filter((line) => line.includes('"kind":"step"')).length;
      // A summary that was paid for and not yet taken over is asked for again.
      const done = steps + (hasSummary ? 1 : 0);
      const run = await resume(whole, kept, script.slice(done));
      await hookInto(run, hooks);
      const result = run.nextResult();
      run.session.resumeTurn();
      if (!run.session.busy) continue;
      await result;
      const requests = run.model.requests.map(bodyOf);
      expect(requests, `cut after ${cut} lines`).toEqual(bodies.slice(done, done + requests.length));
      compared += requests.length;
    }
    expect(compared).toBeGreaterThan(25);
  });

  it('after each kind: by hand, by itself, twice, shortened results, one that failed', async () => {
    const long = `printf 'x%.0s' $(seq 20000)`;
    const cases: { script: ScriptStep[]; logs: RegExp; play: (run: Run) => Promise<unknown> }[] = [
      {
        logs: /isCompactSummary/,
        script: ['one', '<summary>A</summary>'],
        play: async (run) => [await run.ask('p1'), await compactBy(run, 'keep names')],
      },
      {
        logs: /isCompactSummary.*isCompactSummary/s,
        script: ['one', '<summary>A</summary>', 'two', '<summary>B</summary>'],
        play: async (run) => [await run.ask('p1'), await compactBy(run), await run.ask('p2'), await compactBy(run)],
      },
      {
        logs: /"trigger":"auto"/,
        script: [bash('t1', 'echo 1', { usage: FULL }), '<summary>A</summary>', 'two'],
        play: (run) => run.ask('p1'),
      },
      {
        logs: /"kind":"trim"/,
        script: [
          ...Array.from({ length: 17 }, (_, n) =>
            bash(`t${n}`, long, n === 16 ? { usage: { input_tokens: 167_500 } } : {}),
          ),
          'two',
        ],
        play: (run) => run.ask('p1'),
      },
      {
        logs: /"purpose":"compact"(?!.*isCompactSummary)/s,
        script: ['one', '<summary></summary>', '<summary></summary>'],
        play: async (run) => [await run.ask('p1'), await compactBy(run)],
      },
    ];
    for (const { script, logs, play } of cases) {
      const env = { PATH: process.env.PATH ?? '', IS_SANDBOX: '1' };
      const whole = await start([...script, 'next'], { config: { ...config, sessionId: SESSION, env } });
      await play(whole);
      const lines = await linesOf(whole);
      expect(lines.join('\n')).toMatch(logs);
      await whole.ask('p-next');
      const resumed = await resume(whole, lines, ['next']);
      await resumed.ask('p-next');
      expect(bodyOf(resumed.model.requests.at(-1))).toBe(bodyOf(whole.model.requests.at(-1)));
      whole.model.assertDone();
    }
  });

  it('F4: what was before two boundaries can be read and gone on from', async () => {
    const script = ['one', '<summary>A</summary>', 'two', '<summary>B</summary>'];
    const whole = await start(script, { config: { ...config, sessionId: SESSION } });
    await whole.ask('p1');
    const before = await linesOf(whole);
    await compactBy(whole);
    await whole.ask('p2');
    await compactBy(whole);
    const lines = await linesOf(whole);
    const entries = chainOf(lines);
    expect(entries.filter(isBoundary)).toHaveLength(2);
    expect(JSON.stringify(entries)).toMatch(/p1.*one.*"A"|p1.*one.*A.*p2.*two.*B/s);

    const at = chainOf(before).findLast((entry) => entry.type === 'assistant')?.uuid ?? '';
    const store = createMemoryStore();
    await store.append({ sessionId: SESSION, cwd: whole.cwd }, lines);
    const earlier = { ...config, resume: SESSION, resumeSessionAt: at };
    const run = await start(['three'], { store, cwd: whole.cwd, config: earlier });
    await run.ask('p3');
    expect(run.model.requests.some(asksForSummary)).toBe(false);
    expect(sentIn(run.model.requests[0])).toMatch(/p1.*one.*p3/s);
    expect(sentIn(run.model.requests[0])).not.toMatch(/ran out of room|p2/);
  });

  it('a log that another program has summed up is taken over', async () => {
    const line = (uuid: string, parentUuid: string | null, fields: object) =>
      JSON.stringify({
        uuid,
        parentUuid,
        sessionId: SESSION,
        timestamp: '2026-01-01T00:00:00Z',
        cwd: '/',
        version: '2.1.50',
        userType: 'external',
        isSidechain: false,
        ...fields,
      });
    const user = (content: string) => ({ type: 'user', message: { role: 'user', content } });
    const lines = [
      line('a', null, user('old words')),
      line('b', 'a', {
        type: 'assistant',
        message: { id: 'm', role: 'assistant', content: [{ type: 'text', text: 'x' }] },
      }),
      line('c', null, {
        type: 'system',
        subtype: 'compact_boundary',
        logicalParentUuid: 'b',
        content: 'Conversation compacted',
        compactMetadata: { trigger: 'manual', preTokens: 9 },
      }),
      line('d', 'c', {
        ...user('This session is being continued: IN-SHORT'),
        isCompactSummary: true,
        isVisibleInTranscriptOnly: true,
      }),
    ];
    const run = await resume(await start([]), lines, ['ok']);
    await run.ask('go on');
    expect(sentIn(run.model.requests[0])).toMatch(/IN-SHORT.*go on/s);
    expect(sentIn(run.model.requests[0])).not.toContain('old words');
  });
});

/** A call that was started and not finished gets another result than in the whole run, by design. */
function endsInsideCall(lines: readonly string[]): boolean {
  const open = new Set<string>();
  for (const line of lines) {
    const entry = JSON.parse(line) as { kind?: string; state?: string; toolUseId?: string };
    if (entry.kind === 'call' && entry.state === 'started' && entry.toolUseId) open.add(entry.toolUseId);
    for (const id of line.matchAll(/"tool_use_id":"(\w+)"/g)) open.delete(id[1] ?? '');
  }
  return open.size > 0;
}
