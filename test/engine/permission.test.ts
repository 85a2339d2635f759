import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Question } from '../../src/engine/index.js';
import { outline, resultText, start, stillClock } from './kit.js';

const touch = (name: string, id?: string) => ({
  toolUse: { name: 'Bash', input: { command: `touch ${name}` }, ...(id && { id }) },
});

describe('asking', () => {
  it('asks once, after the tool_use message, and runs what was allowed', async () => {
    const asked: Question[] = [];
    const run = await start([touch('made'), 'ok'], {
      ask: async (question) => {
        expect(outline(run.messages).at(-1)).toMatch(/^assistant Bash/);
        asked.push(question);
        return { behavior: 'allow' };
      },
    });
    expect(await run.ask('go')).toMatchObject({ permission_denials: [] });
    expect(asked).toMatchObject([{ tool_name: 'Bash', tool_use_id: 'toolu_1', input: { command: 'touch made' } }]);
    expect(existsSync(join(run.cwd, 'made'))).toBe(true);
  });

  it('says which questions only a person can answer', async () => {
    const asked: Question[] = [];
    const options = [
      { label: 'A', description: 'a' },
      { label: 'B', description: 'b' },
    ];
    const input = { questions: [{ question: 'Which?', header: 'H', multiSelect: false, options }] };
    const run = await start([touch('made'), { toolUse: { name: 'AskUserQuestion', input } }, 'ok'], {
      ask: async (question) => {
        asked.push(question);
        return { behavior: 'deny', message: 'no' };
      },
    });
    await run.ask('go');
    expect(asked.map((question) => [question.tool_name, question.requires_user_interaction])).toEqual([
      ['Bash', undefined],
      ['AskUserQuestion', true],
    ]);
  });

  it('C2: runs the changed input when one is returned', async () => {
    const run = await start([touch('a'), 'ok'], {
      ask: async () => ({ behavior: 'allow', updatedInput: { command: 'echo REPLACED' } }),
    });
    await run.ask('go');
    expect(resultText(run.messages, 'toolu_1')).toBe('REPLACED');
    expect(existsSync(join(run.cwd, 'a'))).toBe(false);
  });

  it('denies with the reason, lists the denial and lets the model go on', async () => {
    const run = await start([touch('a'), 'ok denied'], {
      ask: async () => ({ behavior: 'deny', message: 'Not today' }),
    });
    expect(await run.ask('go')).toMatchObject({
      result: 'ok denied',
      permission_denials: [{ tool_name: 'Bash', tool_use_id: 'toolu_1', tool_input: { command: 'touch a' } }],
    });
    expect(resultText(run.messages, 'toolu_1')).toBe('Not today');
  });

  it('a denial that interrupts ends the turn', async () => {
    const run = await start([touch('a'), 'never'], {
      ask: async () => ({ behavior: 'deny', message: 'Stop', interrupt: true }),
    });
    expect(await run.ask('go')).toMatchObject({ terminal_reason: 'aborted_tools', is_error: false });
    expect(run.model.requests).toHaveLength(1);
  });

  it('C3: a callback that throws denies', async () => {
    const run = await start([touch('a'), 'ok'], { ask: () => Promise.reject(new Error('boom')) });
    expect((await run.ask('go')).permission_denials).toMatchObject([{ tool_use_id: 'toolu_1' }]);
    const message = 'Tool permission request failed: boom';
    expect(resultText(run.messages, 'toolu_1')).toBe(message);
    expect(run.messages).toContainEqual(expect.objectContaining({ subtype: 'permission_denied', message }));
    expect(existsSync(join(run.cwd, 'a'))).toBe(false);
  });

  it('C3: an answer that does not come in time denies, one that does counts', async () => {
    const clock = stillClock();
    const late = { clock, config: { maxQuestionSeconds: 60 } };
    const asked: AbortSignal[] = [];
    const run = await start([touch('a'), touch('b'), 'ok'], {
      ...late,
      ask: (_, { signal }) => {
        asked.push(signal);
        clock.advance(asked.length === 1 ? 60_000 : 59_999);
        return asked.length === 1 ? new Promise(() => {}) : Promise.resolve({ behavior: 'allow' });
      },
    });
    expect((await run.ask('go')).permission_denials).toMatchObject([{ tool_use_id: 'toolu_1' }]);
    const message = 'Tool permission request failed: Nobody answered within 60 s.';
    expect(resultText(run.messages, 'toolu_1')).toBe(message);
    expect(run.messages).toContainEqual(expect.objectContaining({ subtype: 'permission_denied', message }));
    expect(asked[0]?.aborted).toBe(true);
    expect(['a', 'b'].map((name) => existsSync(join(run.cwd, name)))).toEqual([false, true]);
  });

  it.each<[string, Record<string, unknown>, string | undefined]>([
    ['Write', { file_path: 'w/x.txt', content: 'w' }, 'w/x.txt'],
    ['Read', { file_path: '/etc/hostname' }, '/etc/hostname'],
    ['Bash', { command: 'touch a', description: 'Marks it' }, 'Marks it'],
    ['Bash', { command: 'touch a' }, undefined],
  ])('says what a call of %s is about: %j', async (name, input, description) => {
    const asked: unknown[] = [];
    const run = await start([{ toolUse: { name, input } }, 'ok'], {
      ask: async (question) => {
        asked.push(question.description);
        return { behavior: 'deny', message: 'no' };
      },
    });
    await run.ask('go');
    expect(asked).toEqual([description]);
  });

  it('C2: an answer of the wrong shape denies and names the field', async () => {
    const run = await start([touch('a'), 'ok'], { ask: async () => ({ behavior: 'allow', updatedInput: 'x' }) });
    await run.ask('go');
    expect(resultText(run.messages, 'toolu_1')).toMatch(/updatedInput/);
    expect(existsSync(join(run.cwd, 'a'))).toBe(false);
  });

  it('C5: several questions are open at once and can be answered in any order', async () => {
    const open = new Map<string, (answer: unknown) => void>();
    const all = Promise.withResolvers<void>();
    const run = await start(
      [
        { toolUse: ['a', 'b', 'c'].map((name) => ({ name: 'Bash', input: { command: `touch ${name}` }, id: name })) },
        'ok',
      ],
      {
        ask: (question) =>
          new Promise((resolve) => {
            open.set(question.tool_use_id, resolve);
            if (open.size === 3) all.resolve();
          }),
      },
    );
    const result = run.ask('go');
    await all.promise;
    open.get('c')?.({ behavior: 'allow' });
    open.get('b')?.({ behavior: 'deny', message: 'no b' });
    open.get('a')?.({ behavior: 'allow' });
    await result;
    expect(['a', 'b', 'c'].map((name) => existsSync(join(run.cwd, name)))).toEqual([true, false, true]);
  });

  it('the first of two watchers to answer wins, and the other is told', async () => {
    const cancelled = Promise.withResolvers<void>();
    const run = await start([touch('a'), 'ok'], {
      ask: (_, { signal }) =>
        new Promise(() => signal.addEventListener('abort', () => cancelled.resolve(), { once: true })),
    });
    run.session.attach({ deliver() {}, ask: async () => ({ behavior: 'allow' }) });
    await run.ask('go');
    await cancelled.promise;
    expect(existsSync(join(run.cwd, 'a'))).toBe(true);
  });

  it('who attaches later is asked what is still open', async () => {
    const asked = Promise.withResolvers<void>();
    const run = await start([touch('a'), 'ok'], {
      ask: () => {
        asked.resolve();
        return new Promise(() => {});
      },
    });
    const result = run.ask('go');
    await asked.promise;
    expect(run.session.scope.questions.pending).toHaveLength(1);
    run.session.attach({ deliver() {}, ask: async () => ({ behavior: 'deny', message: 'late no' }) });
    await result;
    expect(resultText(run.messages, 'toolu_1')).toBe('late no');
  });
});

describe('where nobody can be asked', () => {
  it('denies what is not plainly read-only, aloud', async () => {
    const run = await start([touch('a'), { toolUse: { name: 'Bash', input: { command: 'ls' } } }, 'ok']);
    const result = await run.ask('go');
    expect(existsSync(join(run.cwd, 'a'))).toBe(false);
    expect(result.permission_denials).toHaveLength(1);
    expect(outline(run.messages)).toContain('system/permission_denied');
    expect(outline(run.messages)).toContain('user ok toolu_2');
  });

  it.each([
    ['acceptEdits', 'made', true],
    ['default', 'made', false],
    ['dontAsk', 'made', false],
    ['plan', 'made', false],
    ['bypassPermissions', 'made', true],
  ] as const)('mode %s: Write runs: %s', async (permissionMode, name, runs) => {
    const run = await start([{ toolUse: { name: 'Write', input: { file_path: name, content: 'x' } } }, 'ok'], {
      config: { permissionMode },
    });
    await run.ask('go');
    expect(existsSync(join(run.cwd, name))).toBe(runs);
  });

  it('allowedTools allow without asking, disallowedTools take the tool away', async () => {
    const run = await start(
      [touch('a'), { toolUse: { name: 'Write', input: { file_path: 'b', content: 'x' } } }, 'ok'],
      {
        config: { allowedTools: ['Bash'], disallowedTools: ['Write'] },
      },
    );
    await run.ask('go');
    expect(existsSync(join(run.cwd, 'a'))).toBe(true);
    expect(resultText(run.messages, 'toolu_2')).toContain('No such tool available');
    expect(run.model.requests[0]?.body.tools?.map((tool) => tool.name)).not.toContain('Write');
  });

  it('bypass cannot be switched on in a session that was not opened for it', async () => {
    const run = await start(['ok']);
    expect(() => run.session.setPermissionMode('bypassPermissions')).toThrow(/not launched/);
    run.session.setPermissionMode('acceptEdits');
    await run.ask('go');
    expect(run.messages).toContainEqual(expect.objectContaining({ subtype: 'init', permissionMode: 'acceptEdits' }));
  });
});
