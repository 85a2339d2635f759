/** Every event that something causes reaches callbacks, whether the engine runs in this process or in another. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOOK_TRIGGERS } from '../../src/engine/hooks/events.js';
import type { HookInput, HookOutput, Message } from '../../src/protocol/index.js';
import { HOOK_EVENTS, type HookEvent } from '../../src/protocol/plain.js';
import type { HookCallbackMatcher, Options } from '../../src/sdk/index.js';
import { toolResult } from '../../src/testing/index.js';
import { createStage, type Stage } from '../e2e/stage.js';
import { notices } from '../guard/stage.js';

type Answer = (input: HookInput) => HookOutput;

const call = (name: string, input: Record<string, unknown>, id: string) => ({ toolUse: { name, input, id } });
const bash = (command: string, id: string) => call('Bash', { command }, id);

/** One callback for each event named, which writes down what it is given. */
function record(fired: HookInput[], answers: Partial<Record<HookEvent, Answer>>): Options['hooks'] {
  const declared = HOOK_EVENTS.map((event): [HookEvent, HookCallbackMatcher[]] => {
    const callback = async (input: HookInput): Promise<HookOutput> => {
      fired.push(structuredClone(input));
      return answers[event]?.(input) ?? {};
    };
    return [event, [{ hooks: [callback] }]];
  });
  return Object.fromEntries(declared);
}

/** What each event must have been told in the story below. */
const TOLD: Partial<Record<HookEvent, Record<string, unknown>>> = {
  Setup: { trigger: 'init' },
  SessionStart: { source: 'startup', transcript_path: expect.stringContaining('.jsonl') },
  UserPromptSubmit: { prompt: 'Go' },
  InstructionsLoaded: { file_path: expect.stringMatching(/CLAUDE\.md$/), load_reason: 'session_start' },
  PreToolUse: { tool_name: 'TaskCreate', tool_use_id: 'create' },
  TaskCreated: { task_id: '1', task_subject: 'A' },
  PostToolUse: { tool_name: 'TaskCreate', tool_use_id: 'create' },
  PostToolBatch: { tool_calls: [expect.objectContaining({ tool_use_id: 'create' })] },
  TaskCompleted: { task_id: '1', task_subject: 'A' },
  WorktreeCreate: { name: expect.stringMatching(/^a[0-9a-f]{16}$/) },
  SubagentStart: { agent_id: expect.stringMatching(/^a[0-9a-f]{16}$/), agent_type: 'general-purpose' },
  SubagentStop: { agent_type: 'general-purpose', last_assistant_message: 'Woven.' },
  WorktreeRemove: { worktree_path: expect.stringMatching(/tree$/) },
  PermissionRequest: { tool_name: 'Bash', tool_input: { command: 'mkdir sub && cd sub' } },
  Notification: { notification_type: 'permission_prompt' },
  CwdChanged: { old_cwd: expect.stringMatching(/project$/), new_cwd: expect.stringMatching(/project\/sub$/) },
  PostToolUseFailure: { tool_use_id: 'read', error: expect.stringContaining('does not exist') },
  ConfigChange: { source: 'user_settings', file_path: expect.stringMatching(/settings\.json$/) },
  PermissionDenied: { tool_use_id: 'rm', reason: expect.any(String) },
  Stop: { stop_hook_active: false, last_assistant_message: 'Done.' },
  PreCompact: { trigger: 'manual', custom_instructions: 'keep names' },
  PostCompact: { trigger: 'manual', compact_summary: 'All is done.' },
  UserPromptExpansion: { expansion_type: 'command', command_name: 'review', command_args: 'the loom' },
  StopFailure: { error: 'authentication_failed', error_details: expect.stringContaining('Invalid API key') },
  SessionEnd: { reason: 'other' },
};

const CARRIERS = ['memory', 'subprocess'] as const;

describe.each(CARRIERS)('callbacks of an engine over %s', (carrier) => {
  let stage: Stage;
  let messages: Message[];
  const fired: HookInput[] = [];

  beforeAll(async () => {
    stage = await createStage({
      carrier,
      script: [
        call('TaskCreate', { subject: 'A', description: 'a' }, 'create'),
        call('TaskUpdate', { taskId: '1', status: 'completed' }, 'update'),
        call('Task', { description: 'a', prompt: 'Weave.', isolation: 'worktree' }, 'agent'),
        'Woven.',
        bash('mkdir sub && cd sub', 'cd'),
        call('Read', { file_path: 'none' }, 'read'),
        bash('rm x', 'rm'),
        'Done.',
        '<summary>All is done.</summary>',
        { status: 401, message: 'invalid x-api-key' },
      ],
    });
    const settings = join(stage.root, 'config', 'settings.json');
    mkdirSync(join(stage.root, 'config'), { recursive: true });
    writeFileSync(join(stage.root, 'config', 'CLAUDE.md'), 'Weave tightly.');
    const changeSettings: Answer = (input) => {
      if ((input as { tool_use_id: string }).tool_use_id === 'rm') writeFileSync(settings, '{"cleanupPeriodDays": 9}');
      return {};
    };
    const watch: Answer = () => ({ hookSpecificOutput: { hookEventName: 'CwdChanged', watchPaths: ['a'] } });
    const tree = join(stage.root, 'tree');
    const [name, email] = ['user.name=a', 'user.email=a@b'];
    execFileSync('git', ['init', '-q', tree]);
    execFileSync('git', ['-C', tree, '-c', name, '-c', email, 'commit', '-q', '--allow-empty', '-m', 'first']);
    const makeTree: Answer = () => ({ hookSpecificOutput: { hookEventName: 'WorktreeCreate', worktreePath: tree } });
    const retry: Answer = () => ({ hookSpecificOutput: { hookEventName: 'PermissionDenied', retry: true } });
    const options: Options = {
      hooks: record(fired, {
        PreToolUse: changeSettings,
        CwdChanged: watch,
        PermissionDenied: retry,
        WorktreeCreate: makeTree,
      }),
      settingSources: ['user'],
      tools: ['Task', 'TaskCreate', 'TaskUpdate', 'Bash', 'Read'],
      disallowedTools: ['Bash(rm:*)'],
      canUseTool: async () => ({ behavior: 'allow' }),
      heddle: { setup: 'init', trusted: true },
    };
    messages = await stage.run('Go', options);
    const resume = messages.find((message) => message.type === 'result')?.session_id;
    await stage.run('/compact keep names', { ...options, resume });
    await stage.run('/review the loom', options);
    stage.api.assertDone();
  });
  afterAll(() => stage.close());

  const caused = HOOK_EVENTS.filter((event) => HOOK_TRIGGERS[event].later === undefined);

  it.each(caused)('%s', (event) => {
    const first = fired.find((input) => input.hook_event_name === event);
    expect(first).toMatchObject({ ...TOLD[event], session_id: expect.any(String) });
  });

  it('come in the order in which things happen', () => {
    const inTurn = fired.slice(0, fired.findIndex((input) => input.hook_event_name === 'SessionEnd') + 1);
    const names = inTurn.map((input) => input.hook_event_name);
    expect(names.slice(0, 7)).toEqual([
      'Setup',
      'SessionStart',
      'UserPromptSubmit',
      'InstructionsLoaded',
      'PreToolUse',
      'TaskCreated',
      'PostToolUse',
    ]);
    expect(names.slice(-4)).toEqual(['PermissionDenied', 'PostToolBatch', 'Stop', 'SessionEnd']);
    expect(names.filter((name) => name === 'Setup')).toHaveLength(1);
  });

  it('watchPaths is answered with a warning that names it, because nothing is watched', () => {
    expect(notices(messages)).toContainEqual(
      'CwdChanged hook: [callback] its answer has watchPaths, which this version does not support',
    );
  });

  it('retry tells the model that a denied call may be tried again', () => {
    expect(toolResult(messages, 'rm').text).toContain('A hook says that it may be tried again.');
  });
});

describe.each(CARRIERS)('onFailure of a callback over %s', (carrier) => {
  it.each([
    ['allow', true],
    ['ask', false],
    ['deny', false],
    [undefined, false],
  ] as const)('%s: the call runs: %s', async (onFailure, runs) => {
    const stage = await createStage({ carrier, script: [bash('echo ran', 't1'), 'Done.'] });
    try {
      const broken = async (): Promise<HookOutput> => Promise.reject(new Error('broken'));
      const messages = await stage.run('Go', {
        hooks: { PreToolUse: [{ hooks: [broken], ...(onFailure && { onFailure }) }] },
      });
      expect(toolResult(messages, 't1').text === 'ran').toBe(runs);
      expect(notices(messages).join()).toContain('broken');
    } finally {
      await stage.close();
    }
  });

  it('is supported, says the answer to initialize', async () => {
    const stage = await createStage({ carrier, script: ['Hello.'] });
    try {
      const run = stage.start('Go');
      expect(await run.initializationResult()).toMatchObject({ hook_on_failure_supported: true });
    } finally {
      await stage.close();
    }
  });
});

describe.each(['memory', 'subprocess', 'websocket'] as const)(
  'a mistake elsewhere in the options over %s',
  (carrier) => {
    it.each<[string, object, RegExp]>([
      ['a text for a list', { tools: 'Bash' }, /weaver.*tools/],
      ['what cannot travel', carrier === 'memory' ? { more: () => 1 } : { more: 1n }, /plain data|BigInt/],
    ])('does not take the hooks away, so nothing runs: %s', async (_, mistake, text) => {
      const stage = await createStage({ carrier, script: [bash('echo ran', 't1'), 'Done.'] });
      try {
        const refuse = async (): Promise<HookOutput> => ({ decision: 'block', reason: 'no' });
        await stage.run('Go', {
          agents: { weaver: { description: 'weaves', prompt: 'Weave.', ...mistake } },
          allowedTools: ['Bash'],
          hooks: { PreToolUse: [{ hooks: [refuse] }] },
        });
        expect(stage.notes).toEqual([expect.stringMatching(text)]);
        expect(stage.api.requests).toEqual([]);
      } finally {
        await stage.close();
      }
    });
  },
);

describe.each(CARRIERS)('Setup over %s', (carrier) => {
  it.each<[string, Options, string[]]>([
    ['nothing', {}, []],
    ['the flag --maintenance', { extraArgs: { maintenance: null } }, ['maintenance']],
    ['the option', { heddle: { setup: 'maintenance' } }, ['maintenance']],
  ])('is caused by %s', async (_, options, triggers) => {
    const stage = await createStage({ carrier, script: ['Hello.'] });
    try {
      const heard: unknown[] = [];
      const setup: HookCallbackMatcher = {
        matcher: 'maintenance',
        hooks: [
          async (input) => {
            heard.push((input as { trigger: unknown }).trigger);
            return { hookSpecificOutput: { hookEventName: 'Setup', additionalContext: 'the cache is warm' } };
          },
        ],
      };
      await stage.run('Go', { hooks: { Setup: [setup] }, ...options });
      expect(heard).toEqual(triggers);
      const sent = JSON.stringify(stage.api.requests[0]?.body);
      expect(sent.includes('Setup hook additional context: the cache is warm')).toBe(triggers.length > 0);
    } finally {
      await stage.close();
    }
  });
});
