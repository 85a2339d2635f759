import { describe, expect, it } from 'vitest';
import { outline, start } from '../engine/kit.js';
import { bodiesOf, linesOf, storeWith } from './kit.js';

const SUMMARY = '<summary>They spoke of apples.</summary>';

describe('/compact', () => {
  it('ends in a result of its own, and what follows starts from the summary', async () => {
    const run = await start(['one', SUMMARY, 'two']);
    await run.ask('apples');
    const from = run.messages.length;
    const result = await run.ask('/compact keep names');
    expect(result).toMatchObject({ subtype: 'success', is_error: false });
    expect(
      outline(run.messages.slice(from)).filter((line) => /^system|^result|^user/.test(line)).length,
    ).toBeGreaterThan(4);
    expect(JSON.stringify(run.model.requests[1]?.body.messages.at(-1))).toContain('keep names');
    await run.ask('and pears?');
    const sent = JSON.stringify(run.model.requests[2]?.body.messages);
    expect(sent).toContain('They spoke of apples.');
    expect(sent).not.toContain('"one"');
  });

  it('twice, then back to before the first: the whole conversation is there again', async () => {
    const run = await start(['one', SUMMARY, 'two', SUMMARY, 'three']);
    await run.ask('apples');
    const at = run.messages.find((message) => message.type === 'assistant')?.uuid;
    await run.ask('/compact');
    await run.ask('pears');
    await run.ask('/compact');
    await run.ask('plums');
    const before = await linesOf(run);
    const back = await start(['other'], {
      store: run.store,
      cwd: run.cwd,
      config: { resume: run.session.id, resumeSessionAt: at },
    });
    await back.ask('cherries');
    const sent = JSON.stringify(back.model.requests[0]?.body.messages);
    expect(sent).toContain('apples');
    expect(sent).toContain('one');
    expect(sent).not.toContain('pears');
    expect(sent).not.toContain('They spoke');
    expect((await linesOf(back)).slice(0, before.length)).toEqual(before);
  });

  it('after a resume the next request is the one of the uninterrupted run', async () => {
    const run = await start(['one', SUMMARY, 'two']);
    await run.ask('apples');
    await run.ask('/compact');
    const lines = await linesOf(run);
    await run.ask('pears');
    const key = { sessionId: run.session.id, cwd: run.cwd };
    const again = await start(['two'], {
      store: await storeWith(key, lines),
      cwd: run.cwd,
      config: { resume: key.sessionId },
    });
    await again.ask('pears');
    expect(bodiesOf(again)).toEqual(bodiesOf(run).slice(2));
  });
});
