import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HookEvent } from '../../src/protocol/plain.js';
import type { Run } from '../engine/kit.js';
import { bash, open, routed, saidIn, task } from './kit.js';

interface Seen {
  event: string;
  agent: string | undefined;
  input: Record<string, unknown>;
}

async function watch(
  run: Run,
  events: readonly HookEvent[],
  answer: (seen: Seen, all: readonly Seen[]) => object = () => ({}),
): Promise<Seen[]> {
  const all: Seen[] = [];
  await run.session.scope.hooks.attach({
    callbacks: Object.fromEntries(events.map((event) => [event, [{ hookCallbackIds: ['one'] }]])),
    askCallback: async (_, input) => {
      const seen = { event: String(input.hook_event_name), agent: input.agent_type as string | undefined, input };
      all.push(seen);
      return answer(seen, all);
    },
  });
  return all;
}

describe('hooks in an agent', () => {
  it('G9: fire with the id of the agent, of a nested one with its own', async () => {
    const run = await open([
      { toolUse: task('t1', { subagent_type: 'general-purpose' }) },
      { toolUse: task('t2', { subagent_type: 'Bash' }) },
      { toolUse: bash('b1', 'echo x') },
      'deep',
      'up',
      'Done.',
    ]);
    const seen = await watch(run, ['SubagentStart', 'PreToolUse', 'PostToolUse', 'SubagentStop', 'Stop']);
    await run.ask('go');
    expect(seen.map(({ event, agent }) => `${event} ${agent ?? '-'}`)).toEqual([
      'PreToolUse -',
      'SubagentStart general-purpose',
      'PreToolUse general-purpose',
      'SubagentStart Bash',
      'PreToolUse Bash',
      'PostToolUse Bash',
      'SubagentStop Bash',
      'PostToolUse general-purpose',
      'SubagentStop general-purpose',
      'PostToolUse -',
      'Stop -',
    ]);
    const ids = new Set(seen.flatMap(({ input }) => input.agent_id ?? []));
    expect(ids.size).toBe(2);
    expect(seen.find(({ event }) => event === 'SubagentStop')?.input).toMatchObject({
      stop_hook_active: false,
      last_assistant_message: 'deep',
    });
  });

  it('SubagentStart adds context, SubagentStop keeps it going', async () => {
    const run = await open([{ toolUse: task('t1') }, 'too soon', 'now it is done', 'Done.']);
    await watch(run, ['SubagentStart', 'SubagentStop'], ({ event, input }) =>
      event === 'SubagentStart'
        ? { hookSpecificOutput: { hookEventName: 'SubagentStart', additionalContext: 'The attic is locked.' } }
        : input.stop_hook_active
          ? {}
          : { decision: 'block', reason: 'Look again.' },
    );
    expect(await run.ask('go')).toMatchObject({ result: 'Done.' });
    const [, first, second, last] = run.model.requests.map(saidIn);
    expect(first).toContain('The attic is locked.');
    expect(second).toContain('Look again.');
    expect(last).toContain('now it is done');
    expect(last).not.toContain('too soon');
  });

  it('those of its definition count while it works, for what happens in it, and its Stop is its own end', async () => {
    const run = await open([
      { toolUse: task('t1', { subagent_type: 'kept' }) },
      { toolUse: bash('b1', 'echo in') },
      'said',
      'said again',
      { toolUse: bash('b2', 'echo out') },
      'Done.',
    ]);
    const hook = (command: string) => [{ hooks: [{ type: 'command', command }] }];
    const agent = {
      name: 'kept',
      description: 'd',
      prompt: 'p',
      origin: { scope: 'user' as const },
      hooks: {
        PreToolUse: hook('echo no >&2; exit 2'),
        Stop: hook('cat > stop.json; [ -e stopped ] || { touch stopped; echo again >&2; exit 2; }'),
      },
    };
    const { tree } = run.session.scope.agents;
    tree.known = () => new Map([['kept', agent]]);
    expect(await run.ask('go')).toMatchObject({ result: 'Done.' });
    const [, , afterCall, afterStop, , last] = run.model.requests.map(saidIn);
    expect(afterCall).toContain('PreToolUse:Bash hook error');
    expect(afterStop).toContain('again');
    expect(last).toContain('out');
    expect(last).not.toContain('hook error');
  });
});

describe('hooks that a definition declares', () => {
  const command = (text: string, matcher = '') => [{ matcher, hooks: [{ type: 'command', command: text }] }];
  const define = (run: Run, hooks: object, more: object = {}): void => {
    const { tree } = run.session.scope.agents;
    const known = new Map(tree.known());
    const agent = { name: 'A', description: 'd', prompt: 'p', origin: { scope: 'user' as const }, hooks };
    known.set('A', { ...agent, ...more } as never);
    tree.known = () => known;
  };

  it.each([
    ['PreToolUse', { PreToolUse: command('echo never >&2; exit 2', 'Bash') }, /never/],
    [
      'PermissionRequest',
      {
        PermissionRequest: command(
          `echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"never"}}}'`,
        ),
      },
      /never/,
    ],
    ['PostToolUse', { PostToolUse: command('echo it was seen >&2; exit 2', 'Bash') }, /it was seen/],
  ])('%s counts in agents that it starts, however deep', async (_, hooks, said) => {
    const run = await open(
      [
        { toolUse: task('t1', { subagent_type: 'A' }) },
        { toolUse: task('t2', { subagent_type: 'general-purpose' }) },
        { toolUse: task('t3', { subagent_type: 'Bash' }) },
        { toolUse: bash('b1', 'touch x') },
        'deepest',
        { toolUse: bash('b2', 'touch y') },
        'deep',
        'up',
        { toolUse: bash('b3', 'touch z') },
        'Done.',
      ],
      { ask: async () => ({ behavior: 'allow' }) },
    );
    define(run, hooks);
    expect(await run.ask('go')).toMatchObject({ result: 'Done.' });
    const told = run.model.requests.map(saidIn);
    expect(told[4]).toMatch(said);
    expect(told[6]).toMatch(said);
    expect(told[9]).not.toMatch(said);
  });

  it('count in one in the background whose parent is over', async () => {
    const parentIsOver = Promise.withResolvers<void>();
    const told: string[] = [];
    const run = await open(
      routed(8, async (_, text) => {
        if (text.includes('"t1"')) {
          parentIsOver.resolve();
          return 'Done.';
        }
        if (text.includes('"t2"')) return 'outer is done';
        if (text.includes('Do outer')) return { toolUse: task('t2', { prompt: 'Do inner', run_in_background: true }) };
        if (!text.includes('Do inner')) return { toolUse: task('t1', { prompt: 'Do outer', subagent_type: 'A' }) };
        await parentIsOver.promise;
        told.push(text);
        return text.includes('"b1"') ? 'inner is done' : { toolUse: bash('b1', 'touch x') };
      }),
      { config: { allowedTools: ['Bash'] } },
    );
    define(run, { PreToolUse: command('echo never >&2; exit 2', 'Bash') });
    await run.ask('go');
    await run.seen(
      (message) => message.type === 'system' && message.subtype === 'task_notification' && message.tool_use_id === 't2',
    );
    expect(told).toHaveLength(2);
    expect(told[1]).toContain('never');
  });

  it('a Stop is the end of the agent that declares it, a SubagentStop that of those below it, too', async () => {
    const run = await open([
      { toolUse: task('t1', { subagent_type: 'A' }) },
      { toolUse: task('t2') },
      'inner',
      'outer',
      'Done.',
    ]);
    define(run, { Stop: command('echo stop >> ends'), SubagentStop: command('echo substop >> ends') });
    await run.ask('go');
    const ends = readFileSync(join(run.cwd, 'ends'), 'utf8').trim().split('\n');
    expect(ends.toSorted()).toEqual(['stop', 'substop', 'substop']);
  });
});

describe('C1: the callback for permissions', () => {
  it('is called in an agent and after it, and its answers are used', async () => {
    const asked: (string | null | undefined)[] = [];
    const run = await open(
      [
        { toolUse: task('t1') },
        { toolUse: bash('b1', 'touch one') },
        'a',
        { toolUse: bash('b2', 'touch two') },
        'Done.',
      ],
      {
        ask: async (question) => {
          asked.push(question.agent_id);
          return { behavior: 'allow' };
        },
      },
    );
    const result = await run.ask('go');
    expect(asked).toEqual([expect.stringMatching(/^a/), undefined]);
    expect(result.permission_denials).toEqual([]);
    expect(run.messages.filter((message) => JSON.stringify(message).includes('"is_error":true'))).toEqual([]);
  });

  it('what is granted for the session in an agent holds for the session, also after a resume', async () => {
    const update = {
      type: 'addRules',
      rules: [{ toolName: 'Bash', ruleContent: 'touch one' }],
      behavior: 'allow',
      destination: 'session',
    };
    let asked = 0;
    const script = [
      { toolUse: task('t1') },
      { toolUse: bash('b1', 'touch one') },
      'a',
      { toolUse: bash('b2', 'touch one') },
      'Done.',
    ];
    const ask = async () => {
      asked += 1;
      return { behavior: 'allow', updatedPermissions: [update] };
    };
    const run = await open(script, { ask });
    await run.ask('go');
    expect(asked).toBe(1);
    const again = await open([{ toolUse: bash('b3', 'touch one') }, 'Done.'], {
      store: run.store,
      cwd: run.cwd,
      config: { resume: run.session.id },
      ask,
    });
    await again.ask('go');
    expect(asked).toBe(1);
  });
});
