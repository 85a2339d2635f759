import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { resultText } from '../engine/kit.js';
import { MANAGED, PROJECT, USER } from '../settings/place.js';
import { bash, BYPASS, call, createStage, listen, notices, person, type Stage } from './stage.js';

const command = (line: string, more: object = {}) => ({ type: 'command', command: line, ...more });
const on = (event: string, ...hooks: object[]) => ({ hooks: { [event]: [{ hooks }] } });
const says = (answer: object): string => `echo '${JSON.stringify(answer)}'`;
const pre = (fields: object): object => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } });

/** A session under these settings of the user. */
async function play(settings: object, script: readonly ScriptStep[], config: Partial<SessionConfig> = {}) {
  const stage = createStage();
  stage.write(USER, settings);
  const { ask, ids, asked } = person();
  const run = await stage.open(script, { ask, config });
  const result = await run.ask('go');
  return { stage, run, result, asked, ids, denied: result.permission_denials.map(({ tool_use_id }) => tool_use_id) };
}

const touch = bash('touch made');

describe('a command', () => {
  it('gets the event on standard input and the folder of the project in its environment', async () => {
    const { stage } = await play(on('PreToolUse', command('cat > seen; printenv CLAUDE_PROJECT_DIR > where')), [
      bash('echo hi'),
      'ok',
    ]);
    expect(JSON.parse(stage.text('home/shop/seen'))).toMatchObject({
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'echo hi' },
      tool_use_id: 't1',
      cwd: stage.project,
      permission_mode: 'default',
    });
    expect(stage.text('home/shop/where')).toBe(`${stage.project}\n`);
  });

  it('E4: never sees the credentials of the engine', async () => {
    const stage = createStage();
    stage.write(USER, on('PreToolUse', command('env > seen')));
    const run = await stage.open([bash('echo hi'), 'ok'], {
      config: { env: { ...stage.env, ANTHROPIC_API_KEY: 'sk-mine', PLAIN: '1' } },
    });
    await run.ask('go');
    expect(stage.text('home/shop/seen')).toContain('PLAIN=1');
    expect(stage.text('home/shop/seen')).not.toContain('sk-mine');
  });

  it.each<[string, string, { made: boolean; asked: number; text: RegExp }]>([
    ['exit 0 without a word: the call is judged as ever', 'exit 0', { made: false, asked: 1, text: /^no$/ }],
    ['exit 0 with plain text blocks nothing', 'echo all good', { made: false, asked: 1, text: /^no$/ }],
    [
      'exit 2 denies, with what it said on standard error',
      'echo stop >&2; exit 2',
      { made: false, asked: 0, text: /stop/ },
    ],
    ['another exit code warns', 'echo hm >&2; exit 1', { made: false, asked: 1, text: /^no$/ }],
    ['JSON that allows', says(pre({ permissionDecision: 'allow' })), { made: true, asked: 0, text: /no output/ }],
    [
      'JSON that denies',
      says(pre({ permissionDecision: 'deny', permissionDecisionReason: 'not now' })),
      { made: false, asked: 0, text: /^not now$/ },
    ],
    [
      'the old word for a block',
      says({ decision: 'block', reason: 'old way' }),
      { made: false, asked: 0, text: /^old way$/ },
    ],
  ])('%s', async (_, line, expected) => {
    const { stage, run, asked } = await play(on('PreToolUse', command(line)), [touch, 'ok']);
    expect(stage.exists('home/shop/made')).toBe(expected.made);
    expect(asked).toHaveLength(expected.asked);
    expect(resultText(run.messages, 't1')).toMatch(expected.text);
  });

  it('a warning is told to the person, also where every call is allowed, and stops nothing', async () => {
    const { stage, run } = await play(on('PreToolUse', command('echo hm >&2; exit 1')), [touch, 'ok'], BYPASS);
    expect(stage.exists('home/shop/made')).toBe(true);
    expect(notices(run.messages)).toEqual([expect.stringMatching(/exited with code 1: hm/)]);
  });

  it('changes the input, which is judged as it then is', async () => {
    const rewrite = says(pre({ permissionDecision: 'allow', updatedInput: { command: 'touch other' } }));
    const { stage } = await play(on('PreToolUse', command(rewrite)), [touch, 'ok']);
    expect([stage.exists('home/shop/made'), stage.exists('home/shop/other')]).toEqual([false, true]);
    const denied = await play({ ...on('PreToolUse', command(rewrite)), permissions: { deny: ['Bash(touch other)'] } }, [
      touch,
      'ok',
    ]);
    expect(denied.denied).toEqual(['t1']);
  });

  it('what it allows no rule may deny or ask about', async () => {
    const allow = on('PreToolUse', command(says(pre({ permissionDecision: 'allow' }))));
    expect((await play({ ...allow, permissions: { deny: ['Bash(touch:*)'] } }, [touch, 'ok'])).denied).toEqual(['t1']);
    expect((await play({ ...allow, permissions: { ask: ['Bash(touch:*)'] } }, [touch, 'ok'])).ids()).toEqual(['t1']);
  });

  it('of several the strictest counts, in whatever layer it stands', async () => {
    const stage = createStage();
    stage.write(MANAGED, on('PreToolUse', command('echo policy says no >&2; exit 2')));
    stage.write(USER, {
      ...on('PreToolUse', command(says(pre({ permissionDecision: 'allow' })))),
      disableAllHooks: true,
    });
    stage.write(PROJECT, { disableAllHooks: true });
    const run = await stage.open([touch, 'ok'], { config: BYPASS });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain('policy says no');
  });
});

describe('which calls it is about', () => {
  const gate = (matcher: string, more: object = {}) => ({
    hooks: { PreToolUse: [{ matcher, hooks: [command('echo gate >&2; exit 2', more)] }] },
  });
  const calls = [
    bash('touch a', 'bash'),
    call('Write', { file_path: 'w', content: 'x' }, 'write'),
    call('Glob', { pattern: '*' }, 'glob'),
  ];

  it.each([
    ['', ['bash', 'write', 'glob']],
    ['*', ['bash', 'write', 'glob']],
    ['Bash', ['bash']],
    ['Write|Glob', ['write', 'glob']],
    ['^(Wri|Glo)', ['write', 'glob']],
    ['bash', []],
  ])('the matcher %j', async (matcher, expected) => {
    expect((await play(gate(matcher), [...calls, 'ok'], BYPASS)).denied).toEqual(expected);
  });

  it.each([
    ['Bash(touch:*)', ['t1', 't3', 't4']],
    ['Bash(rm:*)', ['t2', 't4']],
    ['Write', []],
  ])('the rule %s, also inside of longer lines', async (rule, expected) => {
    const lines = ['touch a', 'rm -f a', 'echo x && touch b', 'touch c; rm c'].map((line, at) =>
      bash(line, `t${at + 1}`),
    );
    expect((await play(gate('Bash', { if: rule }), [...lines, 'ok'], BYPASS)).denied).toEqual(expected);
  });

  it('a rule about places', async () => {
    const script = [
      call('Write', { file_path: 'src/a', content: 'x' }, 't1'),
      call('Write', { file_path: 'doc/a', content: 'x' }, 't2'),
      'ok',
    ];
    expect((await play(gate('Write', { if: 'Edit(./src/**)' }), script, BYPASS)).denied).toEqual(['t1']);
  });

  it('a rule that cannot be used lets the gate run for everything, and is told', async () => {
    const { denied, run } = await play(gate('Bash', { if: 'Bash(touch' }), [bash('echo hi'), 'ok'], BYPASS);
    expect(denied).toEqual(['t1']);
    expect(notices(run.messages).join('\n')).toMatch(/`if` that cannot be used/);
  });
});

/** A hook that reads from it goes on when someone writes. */
function makePipe(stage: Stage): string {
  const path = stage.path('home/shop/over');
  execFileSync('mkfifo', [path]);
  return path;
}

describe('other kinds', () => {
  it('http: the event is posted, the answer counts', async () => {
    const listener = await listen((body, { headers }) =>
      JSON.stringify(
        pre({
          permissionDecision: body.includes('bad') ? 'deny' : 'allow',
          permissionDecisionReason: `by ${String(headers['x-who'])}`,
        }),
      ),
    );
    const hook = {
      type: 'http',
      url: `${listener.url}/judge?token=t`,
      headers: { 'X-Who': '$WHO and $SECRET_X' },
      allowedEnvVars: ['WHO'],
    };
    const stage = createStage();
    stage.write(USER, on('PreToolUse', hook));
    const run = await stage.open([bash('touch bad'), bash('touch good', 't2'), 'ok'], {
      config: { env: { ...stage.env, WHO: 'me', SECRET_X: 'planted' } },
    });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toBe('by me and');
    expect(stage.exists('home/shop/good')).toBe(true);
    expect(listener.requests.map((body) => (JSON.parse(body) as { tool_use_id: string }).tool_use_id)).toEqual([
      't1',
      't2',
    ]);
  });

  it.each<[string, () => { status: number; body: string }]>([
    ['a status that is no success', () => ({ status: 500, body: '' })],
    ['an answer that is no JSON', () => ({ status: 200, body: '<html>' })],
  ])('http: %s does not open the gate', async (_, answer) => {
    const listener = await listen(answer);
    const { denied, run } = await play(on('PreToolUse', { type: 'http', url: listener.url }), [touch, 'ok'], BYPASS);
    expect(denied).toEqual(['t1']);
    expect(notices(run.messages).join('\n')).toMatch(/failed/);
  });

  it('prompt: a model judges', async () => {
    const { stage, run } = await play(
      on('PreToolUse', { type: 'prompt', prompt: 'May this run? $ARGUMENTS' }),
      [
        bash('touch bad'),
        '{"ok": false, "reason": "I would not"}',
        bash('touch good', 't2'),
        '```json\n{"ok": true}\n```',
        bash('touch odd', 't3'),
        'Certainly!',
        'ok',
      ],
      BYPASS,
    );
    expect(resultText(run.messages, 't1')).toBe('I would not');
    expect(JSON.stringify(run.model.requests[1]?.body)).toMatch(/May this run\? .*touch bad/);
    const made = ['bad', 'good', 'odd'].filter((name) => stage.exists(`home/shop/${name}`));
    expect(made).toEqual(['good']);
  });

  it('async: nobody waits, and what it says later is told', async () => {
    const stage = createStage();
    const over = makePipe(stage);
    const late = says({ systemMessage: 'late news', decision: 'block' });
    stage.write(USER, on('PreToolUse', command(`read -r _ < over; ${late}`, { async: true })));
    const run = await stage.open([touch, 'ok'], { config: BYPASS });
    expect(await run.ask('go')).toMatchObject({ result: 'ok', permission_denials: [] });
    await writeFile(over, '\n');
    await run.seen((message) => message.type === 'system' && message.subtype === 'informational');
    expect(notices(run.messages)).toEqual([
      expect.stringContaining('late news'),
      expect.stringContaining('it objects, too late to change anything'),
    ]);
  });

  it('async: a command may say so itself', async () => {
    const stage = createStage();
    const over = makePipe(stage);
    const line = `echo '{"async": true}'; read -r _ < over; ${says({ systemMessage: 'late news' })}`;
    stage.write(USER, on('PostToolUse', command(line)));
    const run = await stage.open([bash('echo hi'), 'ok']);
    expect(await run.ask('go')).toMatchObject({ result: 'ok' });
    await writeFile(over, '\n');
    await run.seen((message) => message.type === 'system' && message.subtype === 'informational');
    expect(notices(run.messages)).toEqual([expect.stringContaining('late news')]);
  });
});

describe('a gate that fails does not open, where every call is allowed', () => {
  const gate = (line: string, more: object = {}) => on('PreToolUse', command(line, more));

  it('set-019: it does not answer in time', async () => {
    const stage = createStage();
    stage.write(USER, gate('sleep 600', { timeout: 5 }));
    const run = await stage.open([touch, 'ok'], { config: BYPASS });
    const over = run.ask('go');
    await run.clock.armed();
    expect(run.clock.pending).toEqual([5_000]);
    run.clock.advance(5_000);
    expect((await over).permission_denials).toHaveLength(1);
    expect(stage.exists('home/shop/made')).toBe(false);
    expect(notices(run.messages)).toEqual([expect.stringContaining('did not answer within 5 s')]);
  });

  it.each([
    ['set-020: it cannot start', './no-such-program'],
    ['set-020: it may not be run', 'touch plain; ./plain'],
    ['set-020: it is killed by a signal', 'kill -9 $$'],
    ['set-020: what it runs is killed by a signal', "sh -c 'kill -9 $$'"],
    ['set-021: it prints what begins as JSON and is none', 'echo "{ \\"hookSpecificOutput\\": "'],
    ['set-021: it prints JSON of the wrong shape', says({ hookSpecificOutput: 7 })],
    [
      'set-021: it answers for another event',
      says({ hookSpecificOutput: { hookEventName: 'Stop', permissionDecision: 'allow' } }),
    ],
    ['set-021: it says a word that is none', says(pre({ permissionDecision: 'maybe' }))],
  ])('%s', async (_, line) => {
    const stage = createStage();
    stage.write(USER, gate(line));
    const run = await stage.open([touch, 'ok'], { config: BYPASS });
    expect((await run.ask('go')).permission_denials).toHaveLength(1);
    expect(stage.exists('home/shop/made')).toBe(false);
    expect(notices(run.messages)).toEqual([expect.stringContaining('failed')]);
  });

  it('a person may let the call pass; onFailure chooses otherwise, a project only for the stricter', async () => {
    const broken = 'kill -9 $$';
    const outcome = async (file: string, more: object) => {
      const stage = createStage();
      stage.write(file, gate(broken, more));
      const { ask, ids } = person(() => ({ behavior: 'allow' }));
      const run = await stage.open([touch, 'ok'], { ask, config: BYPASS });
      await run.ask('go');
      return [ids().length, stage.exists('home/shop/made')];
    };
    expect(await outcome(USER, {})).toEqual([1, true]);
    expect(await outcome(USER, { onFailure: 'deny' })).toEqual([0, false]);
    expect(await outcome(USER, { onFailure: 'allow' })).toEqual([0, true]);
    expect(await outcome(PROJECT, { onFailure: 'deny' })).toEqual([0, false]);
    expect(await outcome(PROJECT, { onFailure: 'allow' })).toEqual([1, true]);
  });
});
