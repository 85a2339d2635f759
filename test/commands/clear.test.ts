import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionConfig } from '../../src/protocol/index.js';
import { hookInto } from '../compaction/kit.js';
import { resultText, start } from '../engine/kit.js';
import { sent } from './kit.js';

const bypass: Partial<SessionConfig> = { permissionMode: 'bypassPermissions' };
const todos = [{ content: 'mend it', status: 'pending', activeForm: 'mending' }];

describe('/clear', () => {
  it('the next request holds nothing of before, and the log keeps everything', async () => {
    const run = await start(['one', 'two']);
    await run.ask('apples');
    const uuid = '10000000-0000-4000-8000-000000000001';
    const result = await run.ask('/clear', { uuid });
    expect(result).toMatchObject({ num_turns: 0, result: 'The conversation begins anew.' });
    expect(run.messages.find(({ type }) => type === 'conversation_reset')).toMatchObject({
      trigger: 'clear',
      user_message_uuid: uuid,
      new_conversation_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const { total_cost_usd } = await run.ask('pears');
    expect(total_cost_usd).toBeGreaterThan(result.total_cost_usd);
    expect(sent(run.model.requests[1])).toMatch(/Working directory.*pears/);
    expect(sent(run.model.requests[1])).not.toMatch(/apples|one/);
    const lines = (await run.store.load(run.session.id))?.lines.join('\n') ?? '';
    expect(lines).toMatch(/apples[\s\S]*one[\s\S]*"kind":"branch","at":null[\s\S]*pears/);
  });

  it.each([
    ['nothing was said since', []],
    ['something was', ['plums']],
  ])('after a resume it is the same, when %s', async (_, since) => {
    const run = await start(['one', 'two']);
    await run.ask('apples');
    await run.ask('/clear');
    for (const prompt of since) await run.ask(prompt);
    const cost = run.session.scope.spending.totalUsd;
    const again = await start(['three'], { store: run.store, cwd: run.cwd, config: { resume: run.session.id } });
    expect(again.session.scope.spending.totalUsd).toBe(cost);
    await again.ask('pears');
    expect(sent(again.model.requests[0])).not.toMatch(/apples|"one"/);
    for (const prompt of since) expect(sent(again.model.requests[0])).toContain(prompt);
    expect(again.model.requests[0]?.body.messages).toHaveLength(since.length * 2 + 1);
  });

  it('todos and knowledge of files are gone; what was chosen and granted stays, also after a resume', async () => {
    const run = await start(
      [
        () => ({
          toolUse: [
            { id: 't', name: 'TodoWrite', input: { todos } },
            { id: 'r', name: 'Read', input: { file_path: join(run.cwd, 'a.txt') } },
          ],
        }),
        'ok',
        () => ({ toolUse: { id: 'w', name: 'Write', input: { file_path: join(run.cwd, 'a.txt'), content: 'b' } } }),
        'ok',
      ],
      { config: bypass },
    );
    writeFileSync(join(run.cwd, 'a.txt'), 'a');
    await run.ask('go');
    await run.session.setModel('haiku');
    await run.session.scope.guard.update([]);
    void run.session.scope.recorder.life({
      kind: 'permissions',
      updates: [{ type: 'addRules', behavior: 'allow', destination: 'session', rules: [{ toolName: 'WebFetch' }] }],
    });
    await run.ask('/clear');
    expect(run.session.scope.commands.own.lists.todos).toEqual([]);
    await run.ask('write');
    expect(resultText(run.messages, 'w')).toContain('has not been read yet');
    const again = await start([], { store: run.store, cwd: run.cwd, config: { resume: run.session.id } });
    expect(again.session.scope.commands.own.lists.todos).toEqual([]);
    expect(again.session.scope.state.model.model).toMatch(/haiku/);
    expect(await again.ask('/permissions')).toMatchObject({ result: expect.stringContaining('WebFetch (session)') });
  });

  it('hooks are told of the end, and of the start when something is said', async () => {
    const run = await start(['one', 'two']);
    const told = await hookInto(run, { SessionStart: () => ({}), SessionEnd: () => ({}) });
    await run.ask('apples');
    await run.ask('/clear');
    expect(told.map(({ source, reason }) => source ?? reason)).toEqual(['startup', 'clear']);
    await run.ask('pears');
    await run.session.close();
    expect(told.map(({ source, reason }) => source ?? reason)).toEqual(['startup', 'clear', 'clear', 'other']);
  });

  it('there is nothing to compact afterwards, and back to before it everything is there again', async () => {
    const run = await start(['one']);
    await run.ask('apples');
    const at = run.messages.find(({ type }) => type === 'assistant')?.uuid;
    await run.ask('/clear');
    expect(await run.ask('/compact')).toMatchObject({ result: 'There is nothing to compact yet.' });
    const config = { resume: run.session.id, ...(at !== undefined && { resumeSessionAt: at }) };
    const back = await start(['two'], { store: run.store, cwd: run.cwd, config });
    await back.ask('pears');
    expect(sent(back.model.requests[0])).toMatch(/apples.*one.*pears/);
  });

  it('of a fork nothing from before the clear is known either', async () => {
    const run = await start(['one', 'two']);
    await run.ask('apples');
    await run.ask('/new');
    await run.ask('pears');
    const config = { resume: run.session.id, forkSession: true };
    const fork = await start(['three'], { store: run.store, cwd: run.cwd, config });
    await fork.ask('plums');
    expect(sent(fork.model.requests[0])).toMatch(/pears.*plums/);
    expect(sent(fork.model.requests[0])).not.toContain('apples');
    const again = await start(['four'], { store: run.store, cwd: run.cwd, config: { resume: fork.session.id } });
    await again.ask('figs');
    expect(sent(again.model.requests[0])).toMatch(/pears.*plums.*figs/);
    expect(sent(again.model.requests[0])).not.toContain('apples');
  });
});
