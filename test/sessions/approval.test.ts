import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { outline, resultText, type RunOptions, start } from '../engine/kit.js';
import { diedWhileAsked, linesOf, storeWith } from './kit.js';

type Died = Awaited<ReturnType<typeof diedWhileAsked>>;

const goOn = ({ key, store }: Died, script: readonly ScriptStep[], options: RunOptions = {}) =>
  start(script, { store, cwd: key.cwd, config: { resume: key.sessionId }, ...options });

const answer = (died: Died, fields: object) =>
  died.store.append(died.key, [
    JSON.stringify({
      type: 'heddle',
      sessionId: died.key.sessionId,
      timestamp: new Date(0).toISOString(),
      kind: 'call',
      toolUseId: 't1',
      state: 'answered',
      ...fields,
    }),
  ]);

describe('C6: a request that was pending when the process died', () => {
  it('is asked again when its turn goes on, and what is approved runs once', async () => {
    const died = await diedWhileAsked();
    let asked = 0;
    const run = await goOn(died, ['done'], {
      ask: async () => {
        asked += 1;
        return { behavior: 'allow' };
      },
    });
    const result = run.nextResult();
    expect(run.session.resumeTurn()).toBe(true);
    expect(await result).toMatchObject({ subtype: 'success', result: 'done' });
    expect([asked, existsSync(died.made)]).toEqual([1, true]);
  });

  it('that was approved meanwhile runs without a question, with a new prompt as well', async () => {
    const died = await diedWhileAsked();
    await answer(died, { behavior: 'allow' });
    const run = await goOn(died, ['done'], {
      ask: () => Promise.reject(new Error('nobody must be asked')),
    });
    expect(await run.ask('and?')).toMatchObject({ subtype: 'success', result: 'done' });
    expect(existsSync(died.made)).toBe(true);
    expect(outline(run.messages).filter((line) => line.includes('t1'))).toHaveLength(1);
    expect(run.model.requests).toHaveLength(1);
    const again = await goOn({ ...died, store: await storeWith(died.key, await linesOf(run)) }, ['later']);
    await again.ask('once more');
    expect(JSON.stringify(again.model.requests[0]?.body.messages)).not.toContain('may have had its effect');
  });

  it('that was denied meanwhile gives one paired result, and nothing runs', async () => {
    const died = await diedWhileAsked();
    await answer(died, { behavior: 'deny', message: 'not on a Sunday' });
    const run = await goOn(died, ['ok']);
    await run.ask('and?');
    expect(existsSync(died.made)).toBe(false);
    expect(resultText(run.messages, 't1')).toContain('not on a Sunday');
    const results = JSON.stringify(run.model.requests[0]?.body.messages).match(/"tool_use_id":"t1"/g);
    expect(results).toHaveLength(1);
  });

  it('is denied aloud where nobody can be asked', async () => {
    const died = await diedWhileAsked();
    const run = await goOn(died, ['ok']);
    await run.ask('and?');
    expect(existsSync(died.made)).toBe(false);
    expect(resultText(run.messages, 't1')).toContain('nobody here who can be asked');
  });

  it('stays with the log when a run keeps nothing: it is run once, by one that does', async () => {
    const died = await diedWhileAsked();
    await answer(died, { behavior: 'allow' });
    const config = { resume: died.key.sessionId, persistSession: false };
    const unkept = await goOn(died, ['ok'], { config });
    await unkept.ask('and?');
    expect(existsSync(died.made)).toBe(false);
    await (await goOn(died, ['ok'])).ask('and?');
    expect(existsSync(died.made)).toBe(true);
  });

  it('is not run where that cannot be recorded', async () => {
    const died = await diedWhileAsked();
    await answer(died, { behavior: 'allow' });
    const append = () => {
      throw new Error('the disk is full');
    };
    const run = await goOn({ ...died, store: { ...died.store, append } }, ['ok']);
    await run.ask('and?');
    expect(existsSync(died.made)).toBe(false);
    expect(resultText(run.messages, 't1')).toContain('cannot be written');
  });

  it('of a turn that was interrupted is over', async () => {
    const died = await diedWhileAsked();
    const interrupted = { kind: 'turn', state: 'interrupted', type: 'heddle', sessionId: died.key.sessionId };
    await died.store.append(died.key, [JSON.stringify({ ...interrupted, timestamp: new Date(0).toISOString() })]);
    await answer(died, { behavior: 'allow' });
    const run = await goOn(died, ['ok'], { ask: async () => ({ behavior: 'allow' }) });
    expect(run.session.resumeTurn()).toBe(false);
    await run.ask('and?');
    expect(existsSync(died.made)).toBe(false);
  });
});

describe('what was granted for a session', () => {
  it('holds after a resume', async () => {
    const first = await start([{ toolUse: { id: 't1', name: 'Bash', input: { command: 'touch one' } } }, 'ok'], {
      ask: async () => ({
        behavior: 'allow',
        updatedPermissions: [
          {
            type: 'addRules',
            behavior: 'allow',
            destination: 'session',
            rules: [{ toolName: 'Bash', ruleContent: 'touch:*' }],
          },
        ],
      }),
    });
    await first.ask('go');
    const lines = await linesOf(first);
    const key = { sessionId: first.session.id, cwd: first.cwd };
    const again = await start([{ toolUse: { id: 't2', name: 'Bash', input: { command: 'touch two' } } }, 'ok'], {
      store: await storeWith(key, lines),
      cwd: first.cwd,
      config: { resume: key.sessionId },
    });
    await again.ask('more');
    expect(existsSync(join(first.cwd, 'two'))).toBe(true);
  });
});
