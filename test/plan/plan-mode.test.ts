import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outline, resultText, start } from '../engine/kit.js';
import { call, exit, fileOf, modes, PLAN, plan, told, write } from './plan-kit.js';

const STEPS = '# Weave\n1. warp\n2. weft';

describe('plan mode from its beginning to its end', () => {
  it('asks to begin, lets the model read, puts the rest and the plan to the person, and goes back to the mode before', async () => {
    const run = await plan(
      [
        call('EnterPlanMode', 'enter'),
        call('Glob', 'look', { pattern: '*' }),
        write('early', 'made.txt'),
        exit('first', { plan: STEPS }),
        exit('second', { plan: `${STEPS}\n3. hem`, allowedPrompts: [{ tool: 'Bash', prompt: 'run the tests' }] }),
        write('late', 'made.txt'),
        'Woven.',
      ],
      {
        config: { permissionMode: 'acceptEdits' },
        answers: ({ tool_use_id }) =>
          ['early', 'first'].includes(tool_use_id) ? { behavior: 'deny', message: `Not ${tool_use_id}.` } : undefined,
      },
    );
    const result = await run.ask('Weave a towel.');
    expect(outline(run.messages).filter((line) => !line.startsWith('tool_use_summary'))).toEqual([
      'system/init',
      'assistant EnterPlanMode({})',
      'system/status',
      'user ok enter',
      'assistant Glob({"pattern":"*"})',
      'user ok look',
      'assistant Write({"file_path":"made.txt","content":"x"})',
      'user error early',
      'assistant ExitPlanMode({"plan":"# Weave\\n1. warp\\n2. weft"})',
      'user error first',
      expect.stringMatching(/^assistant ExitPlanMode.*"prompt":"run the tests"/),
      'system/status',
      'user ok second',
      'assistant Write({"file_path":"made.txt","content":"x"})',
      'user ok late',
      'assistant "Woven."',
      'result success turns=7',
    ]);
    expect(run.asked.map(({ tool_name, tool_use_id, input }) => [tool_name, tool_use_id, input.plan])).toEqual([
      ['EnterPlanMode', 'enter', undefined],
      ['Write', 'early', undefined],
      ['ExitPlanMode', 'first', STEPS],
      ['ExitPlanMode', 'second', `${STEPS}\n3. hem`],
    ]);
    expect(result.permission_denials.map(({ tool_use_id }) => tool_use_id)).toEqual(['early', 'first']);
    expect(modes(run)).toEqual(['plan', 'acceptEdits']);
    expect(run.session.scope.state.mode).toBe('acceptEdits');
    expect(existsSync(join(run.cwd, 'made.txt'))).toBe(true);
    expect(resultText(run.messages, 'first')).toBe('Not first.');
  });

  it('keeps one list of tools whatever the mode is, so that the prompt cache holds', async () => {
    const run = await plan([call('EnterPlanMode', 'enter'), exit('exit', { plan: STEPS }), 'one', 'two', 'three']);
    await run.ask('1');
    run.session.setPermissionMode('plan');
    await run.ask('2');
    run.session.setPermissionMode('acceptEdits');
    await run.ask('3');
    const [first, ...others] = run.model.requests.map(({ body }) => JSON.stringify([body.tools, body.system]));
    expect(first).toContain('ExitPlanMode');
    expect(others).toHaveLength(4);
    for (const other of others) expect(other).toBe(first);
  });

  it('tells the model at the start of every turn in it, and once that someone has ended it', async () => {
    const run = await plan(['a', 'b', 'c', 'd'], { config: PLAN });
    await run.ask('1');
    await run.ask('2');
    run.session.setPermissionMode('default');
    await run.ask('3');
    await run.ask('4');
    const count = (text: string) => told(run, 3).split(text).length - 1;
    expect([count('Plan mode is on'), count('Plan mode is off'), count(fileOf(run))]).toEqual([2, 1, 3]);
  });

  it('uses the words of the host on how to plan', async () => {
    const run = await plan(['a'], { config: { ...PLAN, planModeInstructions: 'Plan in rhymes.' } });
    await run.ask('1');
    expect(told(run)).toContain('Plan in rhymes.');
    expect(told(run)).not.toContain('Keep the plan short');
    expect(told(run)).toContain(fileOf(run));
  });
});

describe('EnterPlanMode', () => {
  it('does nothing when the person does not want it', async () => {
    const run = await plan([call('EnterPlanMode', 'enter'), 'ok'], {
      answers: () => ({ behavior: 'deny', message: 'Just do it.' }),
    });
    await run.ask('go');
    expect([run.session.scope.state.mode, resultText(run.messages, 'enter')]).toEqual(['default', 'Just do it.']);
  });

  it('asks nobody when it is on already, and keeps the mode before', async () => {
    const run = await plan([call('EnterPlanMode', 'again'), exit('exit', { plan: STEPS }), 'ok']);
    run.session.setPermissionMode('acceptEdits');
    run.session.setPermissionMode('plan');
    run.session.setPermissionMode('plan');
    await run.ask('go');
    expect(run.asked.map(({ tool_name }) => tool_name)).toEqual(['ExitPlanMode']);
    expect(run.session.scope.state.mode).toBe('acceptEdits');
  });

  it('holds for the calls behind it in the same answer, which were judged before', async () => {
    const both = [
      { name: 'EnterPlanMode', id: 'enter', input: {} },
      { name: 'Write', id: 'w', input: { file_path: 'made.txt', content: 'x' } },
    ];
    const run = await plan([{ toolUse: both }, 'ok'], {
      config: { permissionMode: 'acceptEdits' },
      answers: ({ tool_name }) => (tool_name === 'Write' ? { behavior: 'deny', message: 'no' } : undefined),
    });
    await run.ask('go');
    expect(run.asked.map(({ tool_name }) => tool_name)).toEqual(['EnterPlanMode', 'Write']);
    expect(existsSync(join(run.cwd, 'made.txt'))).toBe(false);
  });
});

describe('the file of the plan', () => {
  it('may be written and read without a question while planning, and nothing beside it', async () => {
    const run = await plan(['ok'], { config: PLAN });
    await run.ask('look');
    const path = fileOf(run);
    expect(existsSync(path)).toBe(false);
    const next = await plan(
      [
        write('own', path, STEPS),
        call('Edit', 'edit', { file_path: path, old_string: 'weft', new_string: 'weave' }),
        call('Read', 'read', { file_path: path }),
        write('beside', path.replace('.md', '2.md')),
        call('Bash', 'shell', { command: `echo x > ${path}` }),
        exit(),
        call('Read', 'later', { file_path: path }),
        write('after', path, 'other'),
        'ok',
      ],
      {
        store: run.store,
        cwd: run.cwd,
        config: { resume: run.session.id },
        answers: ({ tool_name }) => (tool_name === 'ExitPlanMode' ? undefined : { behavior: 'deny', message: 'no' }),
      },
    );
    await next.ask('go');
    expect(next.asked.map(({ tool_use_id }) => tool_use_id)).toEqual(['beside', 'shell', 'exit', 'after']);
    expect(next.asked[2]?.input).toEqual({ plan: STEPS.replace('weft', 'weave') });
    expect(readFileSync(path, 'utf8')).toBe(STEPS.replace('weft', 'weave'));
  });

  it('holds what was shown, and then what was approved', async () => {
    const seen: string[] = [];
    const run = await plan([exit('one', { plan: 'mine' }), exit('two', { plan: 'mine, better' }), 'ok'], {
      config: PLAN,
      answers: ({ tool_use_id, input }) => {
        seen.push(readFileSync(fileOf(run), 'utf8'));
        if (tool_use_id === 'one') return { behavior: 'deny', message: 'More.' };
        return { behavior: 'allow', updatedInput: { ...input, plan: 'theirs' } };
      },
    });
    await run.ask('go');
    expect(seen).toEqual(['mine', 'mine, better']);
    expect(readFileSync(fileOf(run), 'utf8')).toBe('theirs');
    expect(resultText(run.messages, 'two')).toMatch(/approved the plan[\s\S]*\n\ntheirs$/);
    expect(run.messages).toContainEqual(
      expect.objectContaining({ tool_use_result: { plan: 'theirs', isAgent: false, filePath: fileOf(run) } }),
    );
  });

  it('stays with the session that is resumed, with the modes', async () => {
    const run = await plan(['ok']);
    run.session.setPermissionMode('acceptEdits');
    run.session.setPermissionMode('plan');
    await run.ask('look');
    const again = await plan([exit('exit', { plan: STEPS }), 'ok'], {
      store: run.store,
      cwd: run.cwd,
      config: { resume: run.session.id },
    });
    expect(again.session.scope.state).toMatchObject({ mode: 'plan', modeBefore: 'acceptEdits' });
    await again.ask('go');
    expect(fileOf(again)).toBe(fileOf(run));
    expect(modes(again)).toEqual(['acceptEdits']);
    const mode = async (config = {}) => {
      const next = await plan(['ok'], {
        store: run.store,
        cwd: run.cwd,
        config: { resume: run.session.id, ...config },
      });
      return next.session.scope.state.mode;
    };
    expect([await mode(), await mode(PLAN)]).toEqual(['acceptEdits', 'plan']);
  });

  it('a session that begins in plan mode has no mode of earlier plans to go back to', async () => {
    const run = await plan(['ok']);
    run.session.setPermissionMode('acceptEdits');
    run.session.setPermissionMode('plan');
    run.session.setPermissionMode('default');
    await run.ask('look');
    const next = { store: run.store, cwd: run.cwd };
    const begun = await plan(['ok'], { ...next, config: { resume: run.session.id, ...PLAN } });
    await begun.ask('plan');
    const again = await plan([exit('exit', { plan: STEPS }), 'ok'], { ...next, config: { resume: run.session.id } });
    await again.ask('go');
    expect(modes(again)).toEqual(['default']);
  });

  it('is the own one of a fork, begun from that of the other', async () => {
    const run = await plan([exit('exit', { plan: STEPS }), 'ok'], {
      config: PLAN,
      answers: () => ({ behavior: 'deny', message: 'no' }),
    });
    await run.ask('go');
    const fork = await plan([exit('fork', { plan: 'other' }), 'ok'], {
      store: run.store,
      cwd: run.cwd,
      config: { resume: run.session.id, forkSession: true },
    });
    expect(fork.session.scope.state.mode).toBe('plan');
    await fork.ask('go');
    const [own] = /[^\s"]*\/plans\/[a-z-]+\.md/.exec(resultText(fork.messages, 'fork')) ?? [];
    expect(own).not.toBe(fileOf(run));
    expect([readFileSync(fileOf(run), 'utf8'), readFileSync(own ?? '', 'utf8')]).toEqual([STEPS, 'other']);
    expect(told(fork)).toContain('Your plan so far');
  });

  it('goes with a session of which nothing is kept', async () => {
    const run = await plan(['ok', exit('exit', { plan: STEPS }), 'ok'], { config: { ...PLAN, persistSession: false } });
    await run.ask('look');
    const path = run.session.scope.state.planFile ?? '';
    expect(path.startsWith(run.cwd)).toBe(false);
    await run.ask('go');
    expect(readFileSync(path, 'utf8')).toBe(STEPS);
    expect(existsSync(join(run.cwd, '.config', 'plans'))).toBe(false);
    await run.session.close();
    expect(existsSync(path)).toBe(false);
  });

  it('is none that a log names: a name leads nowhere else', async () => {
    const run = await plan(['ok'], { config: PLAN });
    await run.ask('look');
    const { lines } = (await run.store.load(run.session.id)) ?? { lines: [] };
    const name = fileOf(run).replace(/^.*\/|\.md$/g, '');
    const planted = lines.map((line) => line.replaceAll(`"plan":"${name}"`, '"plan":"../../home"'));
    expect(planted).not.toEqual(lines);
    await run.session.close();
    await run.store.delete(run.session.id);
    await run.store.append({ sessionId: run.session.id, cwd: run.cwd }, planted);
    const again = await plan(['ok'], { store: run.store, cwd: run.cwd, config: { resume: run.session.id } });
    expect(again.session.scope.state).toMatchObject({ mode: 'plan' });
    expect(again.session.scope.state.planFile).toBeUndefined();
  });

  it('can be in the folder of the project that settings name, but not where files decide what may run', async () => {
    const folder = async (plansDirectory: string) => {
      const config = { ...PLAN, settings: JSON.stringify({ plansDirectory }) };
      const run = await plan(['ok'], { config });
      await run.ask('look');
      return run.session.scope.state.planFile?.replace(run.cwd, '').replace(/\/[a-z-]+\.md$/, '');
    };
    const usual = '/.config/plans';
    expect(await folder('docs/plans')).toBe('/docs/plans');
    expect([await folder('../out'), await folder('.claude/agents'), await folder('/etc')]).toEqual([
      usual,
      usual,
      usual,
    ]);
  });

  it('is not needed: where none can be written the plan is approved all the same', async () => {
    const run = await plan([exit('exit', { plan: STEPS }), 'ok'], {
      config: { ...PLAN, configDir: '/dev/null/config' },
    });
    await run.ask('go');
    expect(resultText(run.messages, 'exit')).toContain(STEPS);
    expect(resultText(run.messages, 'exit')).not.toContain('kept in');
    expect(run.session.scope.state.mode).toBe('default');
  });
});

describe('ExitPlanMode', () => {
  it('H: allowedPrompts are shown to the person and allow nothing by themselves', async () => {
    const allowedPrompts = [{ tool: 'Bash', prompt: 'run the tests' }];
    const run = await plan(
      [exit('exit', { plan: STEPS, allowedPrompts }), call('Bash', 'b', { command: 'npm test' }), 'ok'],
      {
        config: PLAN,
        answers: ({ tool_name }) => (tool_name === 'Bash' ? { behavior: 'deny', message: 'no' } : undefined),
      },
    );
    await run.ask('go');
    expect(run.asked.map(({ tool_name }) => tool_name)).toEqual(['ExitPlanMode', 'Bash']);
    expect(run.asked[0]?.input.allowedPrompts).toEqual(allowedPrompts);
    expect(resultText(run.messages, 'exit')).toContain('run the tests');
    expect(resultText(run.messages, 'exit')).toContain('allows nothing');
  });

  it('goes to the mode that the answer sets, with the rules that it gives', async () => {
    const run = await plan(
      [exit('exit', { plan: STEPS }), write('w', 'made.txt'), call('Bash', 'b', { command: 'echo a > b' }), 'ok'],
      {
        config: PLAN,
        answers: () => ({
          behavior: 'allow',
          updatedPermissions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
        }),
      },
    );
    await run.ask('go');
    expect(run.asked).toHaveLength(1);
    expect(modes(run)).toEqual(['acceptEdits']);
    expect(resultText(run.messages, 'exit')).toContain('permission mode is acceptEdits');
    expect(existsSync(join(run.cwd, 'made.txt'))).toBe(true);
  });

  it('a mode that the session may not have is refused, and it goes on planning', async () => {
    const run = await plan([exit('exit', { plan: STEPS }), 'ok'], {
      config: PLAN,
      answers: () => ({
        behavior: 'allow',
        updatedPermissions: [{ type: 'setMode', mode: 'bypassPermissions', destination: 'session' }],
      }),
    });
    await run.ask('go');
    expect(resultText(run.messages, 'exit')).toContain('bypassPermissions');
    expect(run.session.scope.state.mode).toBe('plan');
  });

  it('stays in plan mode when the answer sets that, and says so', async () => {
    const run = await plan([exit('exit', { plan: STEPS }), write('w', 'made.txt'), 'ok'], {
      config: PLAN,
      answers: ({ tool_name }) =>
        tool_name === 'ExitPlanMode'
          ? { behavior: 'allow', updatedPermissions: [{ type: 'setMode', mode: 'plan', destination: 'session' }] }
          : { behavior: 'deny', message: 'no' },
    });
    await run.ask('go');
    expect(run.session.scope.state.mode).toBe('plan');
    expect(resultText(run.messages, 'exit')).toContain('do not carry the plan out yet');
    expect(run.asked.map(({ tool_use_id }) => tool_use_id)).toEqual(['exit', 'w']);
  });

  it('a plan that was denied is no plan to approve once the host has left plan mode', async () => {
    const run = await plan([exit('one', { plan: STEPS }), 'ok', exit('two', { plan: STEPS }), 'ok'], {
      config: PLAN,
      answers: () => ({ behavior: 'deny', message: 'no' }),
    });
    await run.ask('go');
    run.session.setPermissionMode('acceptEdits');
    await run.ask('on');
    expect(resultText(run.messages, 'two')).toContain('Plan mode is not on');
    expect(run.asked.map(({ tool_use_id }) => tool_use_id)).toEqual(['one']);
  });

  it('takes an approval of a host that has left plan mode before it answers', async () => {
    const run = await plan([exit('exit', { plan: STEPS }), 'ok'], {
      config: PLAN,
      answers: () => {
        run.session.setPermissionMode('acceptEdits');
        return { behavior: 'allow', updatedInput: {} };
      },
    });
    await run.ask('go');
    expect(resultText(run.messages, 'exit')).toContain(STEPS);
    expect(run.session.scope.state.mode).toBe('acceptEdits');
  });

  it.each([
    ['outside of plan mode', {}, { plan: STEPS }, 'Plan mode is not on'],
    ['without a plan', PLAN, {}, 'There is no plan yet'],
    ['with an empty plan', PLAN, { plan: ' \n' }, 'There is no plan yet'],
    ['with a plan of a megabyte', PLAN, { plan: 'x'.repeat(1_000_000) }, 'longer than 256 KB'],
    ['for a remote session', PLAN, { plan: STEPS, pushToRemote: true }, 'unsupported'],
    ['with the id of one', PLAN, { plan: STEPS, remoteSessionId: 's' }, 'remoteSessionId'],
    [
      'with prompts of another tool',
      PLAN,
      { plan: STEPS, allowedPrompts: [{ tool: 'Write', prompt: 'x' }] },
      'allowedPrompts',
    ],
  ])('is refused %s, and nobody is asked', async (_, config, input, text) => {
    const run = await plan([exit('exit', input), 'ok'], { config });
    await run.ask('go');
    expect(resultText(run.messages, 'exit')).toContain(text);
    expect(run.asked).toEqual([]);
    expect(run.session.scope.state.mode).toBe(config === PLAN ? 'plan' : 'default');
  });

  it('an answer that wants it to be carried out elsewhere is refused aloud; fields that say no are no reason', async () => {
    const run = await plan([exit('exit', { plan: STEPS, pushToRemote: false }), 'ok'], {
      config: PLAN,
      answers: ({ input }) => ({ behavior: 'allow', updatedInput: { ...input, pushToRemote: true } }),
    });
    await run.ask('go');
    expect(resultText(run.messages, 'exit')).toContain('unsupported');
    expect(run.messages).toContainEqual(expect.objectContaining({ subtype: 'informational', level: 'error' }));
    expect(run.session.scope.state.mode).toBe('plan');
  });

  it('C6: an approval outlives the process that heard it', async () => {
    const run = await plan([exit('exit', { plan: STEPS }), 'ok'], { config: PLAN });
    await run.ask('go');
    const path = fileOf(run);
    rmSync(path);
    const { lines } = (await run.store.load(run.session.id)) ?? { lines: [] };
    const cut = lines.findIndex((line) => line.includes('"state":"answered"'));
    await run.session.close();
    await run.store.delete(run.session.id);
    await run.store.append({ sessionId: run.session.id, cwd: run.cwd }, lines.slice(0, cut + 1));
    const again = await plan(['ok'], { store: run.store, cwd: run.cwd, config: { resume: run.session.id } });
    expect(again.session.scope.state.mode).toBe('plan');
    const over = again.nextResult();
    again.session.resumeTurn();
    await over;
    expect(again.asked).toEqual([]);
    expect(readFileSync(path, 'utf8')).toBe(STEPS);
    expect(again.session.scope.state.mode).toBe('default');
  });
});

describe('where nobody can be asked', () => {
  it('there are no such tools, the model is told to answer with the plan, and a change is denied with the reason', async () => {
    const run = await start([write('w', 'made.txt'), call('Glob', 'g', { pattern: '*' }), exit(), 'The plan.'], {
      config: PLAN,
    });
    await run.ask('go');
    const names = run.model.requests[0]?.body.tools?.map(({ name }) => name) ?? [];
    expect(names.filter((name) => name.includes('Plan'))).toEqual([]);
    expect(told(run)).toContain('end with the plan as your answer');
    expect(told(run)).not.toContain('ExitPlanMode');
    expect(resultText(run.messages, 'w')).toMatch(
      /Cannot write to .*made\.txt while in plan mode\. There is nobody here/,
    );
    expect(resultText(run.messages, 'g')).not.toContain('Cannot');
    expect(resultText(run.messages, 'exit')).toContain('No such tool available');
  });

  it('the file of the plan may still be written', async () => {
    const first = await start(['ok'], { config: PLAN });
    await first.ask('look');
    const path = fileOf(first);
    const run = await start([write('w', path, STEPS), 'ok'], {
      store: first.store,
      cwd: first.cwd,
      config: { resume: first.session.id },
    });
    await run.ask('go');
    expect(readFileSync(path, 'utf8')).toBe(STEPS);
  });
});
