/** What hooks may decide about calls, and what they may not. */
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/engine/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { decideWithHook } from '../../src/engine/permissions/decide-hooked.js';
import { compileRules } from '../../src/engine/permissions/rules/book.js';
import type { Message, SessionConfig } from '../../src/protocol/index.js';
import { resultText, type Run } from '../engine/kit.js';
import { USER } from '../settings/place.js';
import { type Asked, bash, BYPASS, call, createStage, listen, notices, person, type Stage } from './stage.js';

const command = (line: string, more: object = {}) => ({ type: 'command', command: line, ...more });
const says = (answer: object): string => `echo '${JSON.stringify(answer)}'`;
const pre = (fields: object): string => says({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } });
const request = (decision: object): string =>
  says({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } });
const hooks = (byEvent: Record<string, string>) => ({
  hooks: Object.fromEntries(Object.entries(byEvent).map(([event, line]) => [event, [{ hooks: [command(line)] }]])),
});

interface Play {
  stage?: Stage;
  config?: Partial<SessionConfig>;
  /** Null: nobody is there. */
  answer?: ((question: Asked) => unknown) | null;
}

/** A session under these settings of the user. */
async function play(settings: object, script: readonly ScriptStep[], options: Play = {}) {
  const { stage = createStage(), config = {}, answer = () => ({ behavior: 'deny', message: 'no' }) } = options;
  stage.write(USER, settings);
  const { ask, asked, ids } = person(answer ?? (() => undefined));
  const run = await stage.open([...script, 'ok'], { config, ...(answer !== null && { ask }) });
  const result = await run.ask('go');
  return { stage, run, result, asked, ids: ids(), denials: result.permission_denials };
}

const denied = (messages: readonly Message[]) =>
  messages.flatMap((message) =>
    message.type === 'system' && message.subtype === 'permission_denied'
      ? [[message.tool_use_id, message.decision_reason_type, message.message]]
      : [],
  );

const touch = bash('touch made');

describe('the `if` of a gate', () => {
  const gate = (rule: string, event = 'PreToolUse') => ({
    hooks: { [event]: [{ hooks: [command('echo gate >&2; exit 2', { if: rule })] }] },
  });
  const stopped = async (settings: object, lines: readonly string[], config: Partial<SessionConfig> = BYPASS) => {
    const { denials } = await play(
      settings,
      lines.map((line, at) => bash(line, `t${at}`)),
      { config },
    );
    const ids = new Set(denials.map(({ tool_use_id }) => tool_use_id));
    return lines.filter((_, at) => ids.has(`t${at}`));
  };

  const HIDING = [
    '$(echo rm) victim',
    'X=rm; read X; $X victim',
    'source ./x.sh',
    '. ./x.sh',
    'bash x.sh',
    'cat <<E | bash\nrm victim\nE',
    'echo cm0gdmljdGlt | base64 -d | sh',
    'python3 < x.py',
    'cat x.py | python3 -',
    'python3 -c "import os; os.remove(chr(118))"',
    'node -e "1"',
    'perl -ne "unlink" x',
    'echo x | at now',
    `awk 'BEGIN { system("r" "m x") }'`,
    'if true; then',
    'PATH=.:$PATH ls',
    'BASH_ENV=./x bash -c true',
    'alias l=rm; l victim',
    "sed '-e1e rm victim' a.txt",
    "sed -n '1e echo' a.txt",
    'gsed "1e rm victim" a',
    "vim -es -c '!rm victim'",
    "tmux new-session -d 'rm victim'",
    "less '+!rm victim' a",
    "socat - EXEC:'rm victim'",
    "ssh -o ProxyCommand='rm victim' h true",
    "go test -exec 'rm victim'",
    'fzf --preview "rm victim"',
    `tar --to-command="sed '1e rm x' a" -xf a.tar`,
    'tar --to-command=./x.sh -xf a.tar',
    './x.sh',
    'exec ./x.sh',
    'sudo ./x.sh',
    'nohup ./x.sh',
    "GIT_EDITOR='rm victim' git commit",
  ];
  const PLAIN = [
    'echo hi',
    'ls | head -1',
    "ls | awk '{ print $1 }'",
    'bash <<E\necho hi\nE',
    'sh -c "echo hi"',
    "echo a | sed 's/a/b/'",
    'NODE_ENV=test true',
    'echo x | while IFS= read -r line; do echo "$line"; done',
    "sort --compress-program='gzip -9' /dev/null",
  ];

  it('counts for every line of which not all is known', async () => {
    expect(await stopped(gate('Bash(rm:*)'), [...HIDING, ...PLAIN])).toEqual(HIDING);
  });

  it('also when it is about places', async () => {
    expect(await stopped(gate('Edit(./src/**)'), ['$(echo rm) src/a', 'source ./x.sh', 'echo hi'])).toEqual([
      '$(echo rm) src/a',
      'source ./x.sh',
    ]);
  });

  it('and not when it is about something that no command does', async () => {
    expect(await stopped(gate('WebFetch(domain:a.example)'), ['$(echo true)', 'source ./x.sh'])).toEqual([]);
  });

  it('also of PermissionRequest', async () => {
    const { ids } = await play(gate('Bash(rm:*)', 'PermissionRequest'), [
      bash('$(echo rm) victim'),
      bash('mkdir a', 't2'),
    ]);
    expect(ids).toEqual(['t2']);
  });

  it('elsewhere it is about what the line is seen to run', async () => {
    const { stage } = await play(
      { hooks: { PostToolUse: [{ hooks: [command('echo >> heard', { if: 'Bash(true:*)' })] }] } },
      [bash('$(echo false) || :'), bash('true', 't2')],
      { config: BYPASS },
    );
    expect(stage.text('home/shop/heard')).toBe('\n');
  });

  it('a search may find what it is about', async () => {
    const script = [call('Grep', { pattern: 'x' }), call('Grep', { pattern: 'x', path: 'docs' }, 't2')];
    const stage = createStage();
    stage.write('home/shop/docs/a', 'x');
    const { denials } = await play(gate('Read(./secret/**)'), script, { stage, config: BYPASS });
    expect(denials.map(({ tool_use_id }) => tool_use_id)).toEqual(['t1']);
  });

  it('an address on a private network that may be fetched from', async () => {
    const { url } = await listen();
    const stage = createStage();
    const config = { ...BYPASS, env: { ...stage.env, HEDDLE_WEB_PRIVATE_HOSTS: new URL(url).host } };
    const script = [call('WebFetch', { url, prompt: 'x' })];
    const { run } = await play(gate('WebFetch(domain:127.0.0.1)'), script, { stage, config });
    expect(resultText(run.messages, 't1')).toContain('gate');
  });
});

describe('a question to the person', () => {
  const question = {
    question: 'Which one?',
    header: 'One',
    options: ['a', 'b'].map((label) => ({ label, description: label })),
    multiSelect: false,
  };
  const asking = call('AskUserQuestion', { questions: [question] });
  const updatedInput = { questions: [question], answers: { 'Which one?': 'b' } };
  const empty = { questions: [question], answers: { 'Which one?': ' ' } };
  const answer = () => ({
    behavior: 'allow',
    updatedInput: { questions: [question], answers: { 'Which one?': 'of the person' } },
  });

  it.each([
    ['PreToolUse', pre({ permissionDecision: 'allow' })],
    ['PreToolUse', pre({ permissionDecision: 'allow', updatedInput: empty })],
    ['PermissionRequest', request({ behavior: 'allow' })],
  ])('is not answered by a %s hook that allows it and has no answer', async (event, line) => {
    const { ids, run } = await play(hooks({ [event]: line }), [asking], { answer });
    expect(ids).toEqual(['t1']);
    expect(resultText(run.messages, 't1')).toContain('"of the person"');
  });

  it.each([
    ['PreToolUse', pre({ permissionDecision: 'allow', updatedInput })],
    ['PermissionRequest', request({ behavior: 'allow', updatedInput })],
  ])('is answered by a %s hook that brings an answer', async (event, line) => {
    const { ids, run } = await play(hooks({ [event]: line }), [asking], { answer });
    expect(ids).toEqual([]);
    expect(resultText(run.messages, 't1')).toContain('"b"');
  });
});

describe('E3: what needs a person in every mode is not opened by a hook that allows it', () => {
  const settings = { file_path: '.claude/settings.json', content: '{}' };
  const EVENTS = {
    PreToolUse: (updatedInput?: object) => pre({ permissionDecision: 'allow', updatedInput }),
    PermissionRequest: (updatedInput?: object) => request({ behavior: 'allow', updatedInput }),
  };
  const cases = (['PreToolUse', 'PermissionRequest'] as const).flatMap((event) =>
    (['default', 'acceptEdits', 'bypassPermissions'] as const).map((mode) => [event, mode] as const),
  );
  const modeOf = (mode: (typeof cases)[number][1]) =>
    mode === 'bypassPermissions' ? BYPASS : { permissionMode: mode };

  it.each(cases)(
    '%s in %s mode: protected files, commands that destroy, rules that ask, what cannot be checked',
    async (event, mode) => {
      const script = [
        call('Write', settings),
        bash('echo > .git/hooks/pre-commit', 't2'),
        bash('rm -rf ~', 't3'),
        bash('touch ruled', 't4'),
        bash('$(echo ls) x', 't5'),
        bash('touch open', 't6'),
      ];
      const rules = { permissions: { ask: ['Bash(touch ruled)'], deny: ['Read(./.env)'] } };
      const { ids, stage } = await play({ ...rules, ...hooks({ [event]: EVENTS[event]() }) }, script, {
        config: modeOf(mode),
      });
      expect(ids).toEqual(['t1', 't2', 't3', 't4', 't5']);
      expect(stage.exists('home/shop/open')).toBe(true);
    },
  );

  it.each(['PreToolUse', 'PermissionRequest'] as const)(
    'nor by way of what a %s hook makes of a call',
    async (event) => {
      const write = call('Write', { file_path: 'plain', content: '{}' });
      const { asked, stage } = await play(hooks({ [event]: EVENTS[event](settings) }), [write], {
        answer: () => ({ behavior: 'allow' }),
      });
      expect(asked).toMatchObject([
        { input: settings, decision_reason: expect.stringMatching(/a hook cannot allow this$/) },
      ]);
      expect([stage.exists('home/shop/plain'), stage.exists('home/shop/.claude/settings.json')]).toEqual([false, true]);
    },
  );

  it('where nobody can be asked it is denied', async () => {
    const all = hooks({ PreToolUse: EVENTS.PreToolUse(), PermissionRequest: EVENTS.PermissionRequest() });
    const { run, stage } = await play(all, [call('Write', settings)], { answer: null });
    expect(stage.exists('home/shop/.claude/settings.json')).toBe(false);
    expect(resultText(run.messages, 't1')).toMatch(/a hook cannot allow this. There is nobody here/);
  });

  it('what a PreToolUse hook asks about, or has failed to judge, is for a person to allow', async () => {
    for (const line of [pre({ permissionDecision: 'ask', permissionDecisionReason: 'look' }), 'kill -9 $$']) {
      const both = hooks({ PreToolUse: line, PermissionRequest: EVENTS.PermissionRequest() });
      const { ids, asked } = await play(both, [touch]);
      expect(ids).toEqual(['t1']);
      const reason = { decision_reason_type: 'hook', decision_reason_hook_event: 'PreToolUse' };
      expect(asked).toMatchObject([{ ...reason, decision_reason_hook_source: line }]);
    }
  });

  it('leaving the sandbox, where there is one', () => {
    const book = compileRules([], { home: '/h/u' });
    const policy = { mode: 'default', book, roots: ['/w'], home: '/h/u', cwd: '/w', trusted: true } as const;
    const input = { command: 'make', dangerouslyDisableSandbox: true };
    const leave = { tool: 'Bash', input, readOnly: false, edits: false, accesses: [], command: 'make' };
    const hook = { verdict: 'allow', reason: 'fine' } as const;
    expect(decideWithHook(leave, { ...policy, sandboxed: { autoAllow: true } }, hook).verdict).toBe('ask');
    expect(decideWithHook(leave, policy, hook).verdict).toBe('allow');
  });

  it.each(['PreToolUse', 'PermissionRequest'] as const)(
    'in plan mode whatever changes something, where %s hooks allow it',
    async (event) => {
      const script = [
        call('Write', { file_path: 'made', content: '' }),
        bash('touch made', 't2'),
        bash('cat /etc/hostname; touch made', 't3'),
        bash('echo hi', 't4'),
        call('Write', { file_path: 'approved', content: '' }, 't5'),
      ];
      const { ids, asked, stage } = await play(hooks({ [event]: EVENTS[event]() }), script, {
        config: { permissionMode: 'plan' },
        answer: ({ tool_use_id }) =>
          tool_use_id === 't5' ? { behavior: 'allow' } : { behavior: 'deny', message: 'no' },
      });
      expect(ids).toEqual(['t1', 't2', 't3', 't5']);
      expect(asked[1]?.decision_reason).toBe('Cannot run this command while in plan mode; a hook cannot allow this');
      expect([stage.exists('home/shop/made'), stage.exists('home/shop/approved')]).toEqual([false, true]);
    },
  );

  it('delegate mode stays closed', async () => {
    const { denials } = await play(hooks({ PreToolUse: EVENTS.PreToolUse() }), [touch], {
      config: { permissionMode: 'delegate' },
    });
    expect(denials).toHaveLength(1);
  });
});

describe('a denial by a PermissionRequest hook', () => {
  const told = 'cat >> told; echo >> told';
  const heard = (stage: Stage) =>
    stage.exists('home/shop/told')
      ? stage
          .text('home/shop/told')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, unknown>)
      : [];

  it('is shown, and told to PermissionDenied hooks', async () => {
    const line = request({ behavior: 'deny', message: 'not on Fridays' });
    const { run, stage, ids, denials } = await play(hooks({ PermissionRequest: line, PermissionDenied: told }), [
      touch,
    ]);
    expect(denied(run.messages)).toEqual([['t1', 'hook', 'not on Fridays']]);
    expect(heard(stage)).toMatchObject([{ tool_use_id: 't1', reason: 'not on Fridays' }]);
    expect([ids, denials.length]).toEqual([[], 1]);
  });

  it('so is what it made a denied call of, with the input that was judged', async () => {
    const updatedInput = { command: 'touch secret' };
    const { run, stage, denials } = await play(
      {
        permissions: { deny: ['Bash(touch secret)'] },
        ...hooks({ PermissionRequest: request({ behavior: 'allow', updatedInput }), PermissionDenied: told }),
      },
      [touch],
    );
    expect(denied(run.messages)).toMatchObject([['t1', 'rule', expect.stringContaining('touch secret')]]);
    expect(heard(stage)).toMatchObject([{ tool_input: updatedInput }]);
    expect(denials).toMatchObject([{ tool_use_id: 't1', tool_input: updatedInput }]);
  });

  it('an answer that cannot be used is shown, and the person is asked', async () => {
    const updatedPermissions = [{ type: 'setMode', mode: 'bypassPermissions', destination: 'session' }];
    for (const [decision, why] of [
      [{ behavior: 'allow', updatedPermissions }, /cannot be used: Cannot set permission mode to bypassPermissions/],
      [{ behavior: 'allow', updatedInput: { command: 7 } }, /cannot be used: .*command/s],
    ] as const) {
      const { run, ids, stage } = await play(hooks({ PermissionRequest: request(decision) }), [touch]);
      expect(notices(run.messages)).toEqual([expect.stringMatching(why)]);
      expect([ids, stage.exists('home/shop/made')]).toEqual([['t1'], false]);
    }
  });

  it('interrupts the turn when it says so', async () => {
    const line = request({ behavior: 'deny', message: 'stop', interrupt: true });
    const { result } = await play(hooks({ PermissionRequest: line }), [touch]);
    expect(result).toMatchObject({ terminal_reason: 'aborted_tools', is_error: false });
  });
});

describe('permission_denials and PermissionDenied', () => {
  it('show the call as a PreToolUse hook made it', async () => {
    const updatedInput = { command: 'touch secret' };
    const settings = {
      permissions: { deny: ['Bash(touch secret)'] },
      ...hooks({ PreToolUse: pre({ updatedInput }), PermissionDenied: 'cat > told' }),
    };
    const { denials, stage } = await play(settings, [touch]);
    expect(denials).toMatchObject([{ tool_input: updatedInput }]);
    expect(JSON.parse(stage.text('home/shop/told'))).toMatchObject({ tool_input: updatedInput });
  });

  it('show it as a person changed it, when that is denied; else as the model sent it', async () => {
    const updatedInput = { command: 'touch secret' };
    const settings = { permissions: { deny: ['Bash(touch secret)'] } };
    const changed = await play(settings, [touch], { answer: () => ({ behavior: 'allow', updatedInput }) });
    expect(changed.denials).toMatchObject([{ tool_input: updatedInput }]);
    expect(denied(changed.run.messages)).toMatchObject([['t1', 'rule', expect.anything()]]);
    const input = { command: 'touch secret', description: 'odd' };
    expect((await play(settings, [call('Bash', input)])).denials).toEqual([
      { tool_name: 'Bash', tool_use_id: 't1', tool_input: input },
    ]);
  });
});

describe('after a crash', () => {
  const SESSION = '99999999-2222-4333-8444-555555555577';

  /** The person approves, the process dies before the call runs, and another one goes on under these settings. */
  async function resumeUnder(settings: object) {
    const stage = createStage();
    const store = createMemoryStore();
    const first = await stage.open([touch, 'ok'], {
      store: createMemoryStore(),
      config: { sessionId: SESSION },
      ask: async () => ({ behavior: 'allow' }),
    });
    await first.ask('go');
    const { lines } = (await first.store.load(SESSION)) ?? { lines: [] };
    const cut = lines.findIndex((line) => line.includes('"state":"answered"'));
    await store.append({ sessionId: SESSION, cwd: stage.project }, lines.slice(0, cut + 1));
    stage.write(USER, settings);
    stage.write('home/shop/made', 'before');
    const { ask, asked } = person();
    const run: Run = await stage.open(['ok'], { store, config: { resume: SESSION }, ask });
    const over = run.nextResult();
    run.session.resumeTurn();
    return { stage, asked, run, denials: (await over).permission_denials };
  }

  it('an approval counts once more', async () => {
    const { asked, denials } = await resumeUnder({});
    expect([asked, denials]).toEqual([[], []]);
  });

  it('and a PreToolUse hook that denies counts more than it, aloud', async () => {
    const { run, denials } = await resumeUnder(hooks({ PreToolUse: 'echo not any more >&2; exit 2' }));
    expect(denials).toHaveLength(1);
    expect(denied(run.messages)).toMatchObject([['t1', 'hook', expect.stringContaining('not any more')]]);
  });

  it('and does not cover what a hook makes of the call now', async () => {
    const { asked, stage } = await resumeUnder(
      hooks({ PreToolUse: pre({ updatedInput: { command: 'touch other' } }) }),
    );
    expect(asked).toMatchObject([{ input: { command: 'touch other' } }]);
    expect(stage.exists('home/shop/other')).toBe(false);
  });
});

describe('in dontAsk mode', () => {
  const config = { permissionMode: 'dontAsk' } as const;

  it('what a hook allows runs', async () => {
    const { stage, denials } = await play(hooks({ PreToolUse: pre({ permissionDecision: 'allow' }) }), [touch], {
      config,
    });
    expect([stage.exists('home/shop/made'), denials]).toEqual([true, []]);
  });

  it('what a hook denies is denied with its reason', async () => {
    const line = pre({ permissionDecision: 'deny', permissionDecisionReason: 'not on Fridays' });
    const { run } = await play(hooks({ PreToolUse: line }), [touch], { config });
    expect(denied(run.messages)).toEqual([['t1', 'hook', 'not on Fridays']]);
  });

  it('what needs a person in every mode, or a rule denies, stays denied', async () => {
    const settings = { permissions: { ask: ['Bash(mkdir a)'], deny: ['Bash(mkdir b)'] } };
    const script = [
      call('Write', { file_path: '.git/config', content: '' }),
      bash('mkdir a', 't2'),
      bash('mkdir b', 't3'),
    ];
    const { denials } = await play(
      { ...settings, ...hooks({ PreToolUse: pre({ permissionDecision: 'allow' }) }) },
      script,
      {
        config,
      },
    );
    expect(denials).toHaveLength(3);
  });
});

describe('E2: a search that is let through leaves out what is denied', () => {
  const grep = (path: string) => call('Grep', { pattern: 'SECRET', path, output_mode: 'content' });

  it.each<[string, Play, object]>([
    ['where every call is allowed', { config: BYPASS }, {}],
    ['by a person', { answer: () => ({ behavior: 'allow' }) }, {}],
    ['by a hook', {}, hooks({ PreToolUse: pre({ permissionDecision: 'allow' }) })],
  ])('%s', async (_, options, settings) => {
    const stage = createStage();
    for (const name of ['.env', 'a.txt']) stage.write(`home/other/${name}`, 'SECRET');
    const { run } = await play(
      { permissions: { deny: ['Read(.env)'] }, ...settings },
      [grep(stage.path('home/other'))],
      {
        stage,
        ...options,
      },
    );
    expect(resultText(run.messages, 't1')).toContain('a.txt');
    expect(resultText(run.messages, 't1')).not.toContain('.env');
  });
});
