import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { HookInput, HookOutput, Message } from '../../src/protocol/index.js';
import { createSdkMcpServer, type Options, query, tool } from '../../src/sdk/index.js';
import { createScriptedModel, lastResult, toolResult } from '../../src/testing/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { PATH_ENV, scratch, user } from '../engine/kit.js';

type Answer = HookOutput | ((input: HookInput) => HookOutput | Promise<HookOutput>);

const touch: ScriptStep = { toolUse: { name: 'Bash', id: 't1', input: { command: 'touch made' } } };
const ls: ScriptStep = { toolUse: { name: 'Bash', id: 't1', input: { command: 'echo hi' } } };

async function* toMessages(prompts: readonly string[]) {
  for (const content of prompts) yield user(content);
}

/** Runs a prompt with one callback for each event named. */
async function run(
  script: readonly ScriptStep[],
  hooks: Record<string, Answer>,
  { prompt = 'Go', ...rest }: Partial<Options> & { prompt?: string | string[] } = {},
) {
  const model = createScriptedModel(script);
  const { cwd = scratch() } = rest;
  const fired: HookInput[] = [];
  const declared = Object.entries(hooks).map(([event, answer]) => {
    const callback = async (input: HookInput) => {
      fired.push(structuredClone(input));
      return typeof answer === 'function' ? answer(input) : answer;
    };
    return [event, [{ hooks: [callback] }]] as const;
  });
  const options: Options = {
    cwd,
    env: { ...PATH_ENV, HEDDLE_CONFIG_DIR: join(cwd, '.config') },
    hooks: Object.fromEntries(declared),
    heddle: { provider: model },
    ...rest,
  };
  const messages: Message[] = [];
  const given = typeof prompt === 'string' ? prompt : toMessages(prompt);
  for await (const message of query({ prompt: given, options })) messages.push(message);
  const sent = model.requests.map((request) => JSON.stringify(request.body.messages));
  return {
    messages,
    fired,
    sent,
    cwd,
    result: lastResult(messages),
    made: existsSync(join(cwd, 'made')),
  };
}

const pre = (fields: object): HookOutput => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } });

describe('PreToolUse', () => {
  it('denies a call in every mode, with its reason, and the denial is listed', async () => {
    const { messages, result, made } = await run(
      [touch, 'ok'],
      { PreToolUse: pre({ permissionDecision: 'deny', permissionDecisionReason: 'not on a Sunday' }) },
      { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true },
    );
    expect(made).toBe(false);
    expect(toolResult(messages, 't1')).toMatchObject({ isError: true, text: 'not on a Sunday' });
    expect(result.permission_denials).toMatchObject([{ tool_use_id: 't1' }]);
  });

  it('allows a call that would be asked about, but none that a rule denies', async () => {
    const allow = { PreToolUse: pre({ permissionDecision: 'allow' }) };
    expect((await run([touch, 'ok'], allow)).made).toBe(true);
    const denied = await run([touch, 'ok'], allow, { disallowedTools: ['Bash(touch made)'] });
    expect(denied.made).toBe(false);
  });

  it('changes the input: what runs is judged as it is then', async () => {
    const change = { PreToolUse: pre({ updatedInput: { command: 'touch made' } }) };
    const asked: unknown[] = [];
    const { made } = await run([ls, 'ok'], change, {
      canUseTool: async (_, input) => {
        asked.push(input.command);
        return { behavior: 'deny', message: 'no' };
      },
    });
    expect({ made, asked }).toEqual({ made: false, asked: ['touch made'] });
    const { messages } = await run([ls, 'ok'], { PreToolUse: pre({ updatedInput: { cmd: 1 } }) });
    expect(toolResult(messages, 't1').text).toContain('A hook changed the input. InputValidationError');
  });

  it.each<[string, Answer]>([
    ['that asks', pre({ permissionDecision: 'ask', permissionDecisionReason: 'hook asks' })],
    [
      'that throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['that answers nonsense', { hookSpecificOutput: 7 } as unknown as HookOutput],
  ])('a gate %s makes a call asked about even where every call is allowed; nobody there: denied', async (_, answer) => {
    const bypass = { permissionMode: 'bypassPermissions' as const, allowDangerouslySkipPermissions: true };
    expect((await run([touch, 'ok'], { PreToolUse: answer }, bypass)).made).toBe(false);
    const approved = await run(
      [touch, 'ok'],
      { PreToolUse: answer },
      {
        ...bypass,
        canUseTool: async () => ({ behavior: 'allow' }),
      },
    );
    expect(approved.made).toBe(true);
  });

  it('a gate that never answers is over after its time, and does not open', async () => {
    const model = createScriptedModel([touch, 'ok']);
    const cwd = scratch();
    const never = { hooks: [() => new Promise<HookOutput>(() => {})], timeout: 0.05 };
    const options: Options = {
      cwd,
      env: PATH_ENV,
      permissionMode: 'bypassPermissions',
      allowDangerouslySkipPermissions: true,
      persistSession: false,
      hooks: { PreToolUse: [never] },
      heddle: { provider: model },
    };
    const seen: Message[] = [];
    for await (const message of query({ prompt: 'Go', options })) seen.push(message);
    expect(existsSync(join(cwd, 'made'))).toBe(false);
    expect(seen.some((message) => message.type === 'system' && message.subtype === 'informational')).toBe(true);
  });

  it('C3: a callback that changes its input changes nothing that runs', async () => {
    const { made, messages } = await run([ls, 'ok'], {
      PreToolUse: (input) => {
        (input as { tool_input: { command: string } }).tool_input.command = 'touch made';
        return {};
      },
    });
    expect(made).toBe(false);
    expect(toolResult(messages, 't1').text).toBe('hi');
  });
});

describe('PostToolUse and the events around it', () => {
  it('adds what the model reads beside the result, and may replace it', async () => {
    const { sent, fired } = await run([ls, 'ok'], {
      PreToolUse: pre({ additionalContext: 'PRE' }),
      PostToolUse: {
        decision: 'block',
        reason: 'look again',
        hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'POST', updatedToolOutput: 'replaced' },
      },
      PostToolBatch: { hookSpecificOutput: { hookEventName: 'PostToolBatch', additionalContext: 'BATCH' } },
    });
    expect(fired.map((input) => input.hook_event_name)).toEqual(['PreToolUse', 'PostToolUse', 'PostToolBatch']);
    expect(fired[1]).toMatchObject({ tool_name: 'Bash', tool_response: { stdout: 'hi' }, permission_mode: 'default' });
    for (const text of ['PRE', 'POST', 'BATCH', 'look again', 'replaced']) expect(sent[1]).toContain(text);
    expect(sent[1]).not.toContain('"hi"');
  });

  it('gives back what a tool of a server said in the form in which it was told', async () => {
    const image = { type: 'image' as const, data: 'iVBORw0KGgo=', mimeType: 'image/png' };
    const look = tool('look', 'Looks.', {}, async () => ({ content: [{ type: 'text', text: 'secret' }, image] }));
    const mcpServers = { eye: createSdkMcpServer({ name: 'eye', tools: [look] }) };
    const { sent } = await run(
      [{ toolUse: { name: 'mcp__eye__look', id: 't1', input: {} } }, 'ok'],
      {
        PostToolUse: (input) => {
          const [text, ...rest] = (input as { tool_response: object[] }).tool_response;
          const updatedMCPToolOutput = [{ ...text, text: 'hidden' }, ...rest];
          return { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedMCPToolOutput } };
        },
      },
      { mcpServers, allowedTools: ['mcp__eye'] },
    );
    expect(sent[1]).toContain('{"type":"text","text":"hidden"},{"type":"image","source":{"type":"base64"');
    expect(sent[1]).not.toContain('secret');
  });

  it('a failed call has an event of its own', async () => {
    const { fired } = await run([{ toolUse: { name: 'Read', input: { file_path: 'none' } } }, 'ok'], {
      PostToolUse: {},
      PostToolUseFailure: {},
    });
    expect(fired).toMatchObject([
      { hook_event_name: 'PostToolUseFailure', error: expect.stringContaining('does not exist') },
    ]);
  });

  it('continue: false ends the turn without an error', async () => {
    const { result, sent } = await run([ls], { PostToolUse: { continue: false, stopReason: 'enough' } });
    expect(result).toMatchObject({ subtype: 'success', is_error: false, result: '', terminal_reason: 'hook_stopped' });
    expect(sent).toHaveLength(1);
  });
});

it('an answer that is no plain data is a failure, and the gate stays shut', async () => {
  class Refusal {
    get decision() {
      return 'block';
    }
  }
  const inner = { hookSpecificOutput: new Map([['permissionDecision', 'deny']]) };
  for (const answer of [
    new Map([['decision', 'block']]),
    new Refusal(),
    new Date(),
    inner,
    { decision: () => 'block' },
  ]) {
    const { made, messages } = await run(
      [touch, 'ok'],
      { PreToolUse: answer as HookOutput },
      { allowedTools: ['Bash'] },
    );
    expect(made).toBe(false);
    expect(JSON.stringify(messages)).toMatch(/hook \(callback\) failed: it/);
  }
  const asJson = { toJSON: () => ({ decision: 'block', reason: 'said so' }) };
  const { messages } = await run([touch, 'ok'], { PreToolUse: asJson as HookOutput }, { allowedTools: ['Bash'] });
  expect(JSON.stringify(messages)).toContain('said so');
});

describe('prompts and turns', () => {
  it('UserPromptSubmit adds context, replaces the prompt, or blocks it', async () => {
    const context = (more: object = {}) =>
      ({
        hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'EXTRA', ...more },
      }) as HookOutput;
    expect((await run(['ok'], { UserPromptSubmit: context() })).sent[0]).toMatch(/"Go".*EXTRA/s);
    const replaced = await run(['ok'], { UserPromptSubmit: context({ suppressOriginalPrompt: true }) });
    expect(replaced.sent[0]).not.toContain('"Go"');
    const { result, sent } = await run([], { UserPromptSubmit: { decision: 'block', reason: 'too early' } });
    expect(result).toMatchObject({ subtype: 'success', is_error: false, num_turns: 0 });
    expect((result as { result: string }).result).toContain('too early');
    expect(sent).toEqual([]);
  });

  it('Stop keeps a turn going with its reason, and a hook that never lets go is overruled', async () => {
    let stops = 0;
    const once = await run(['first', 'second'], {
      Stop: () => (stops++ === 0 ? { decision: 'block', reason: 'go on' } : {}),
    });
    expect(once.result).toMatchObject({ result: 'second', num_turns: 2 });
    expect(once.fired).toMatchObject([{ stop_hook_active: false }, { stop_hook_active: true }]);
    expect(once.sent[1]).toContain('Stop hook feedback:\\ngo on');
    const ever = await run(
      Array.from({ length: 11 }, () => 'again'),
      { Stop: { decision: 'block', reason: 'never' } },
    );
    expect(ever.result).toMatchObject({ subtype: 'success', num_turns: 11 });
  });

  it('SessionStart, SessionEnd, CwdChanged, Notification and PermissionDenied reach callbacks', async () => {
    const { fired, sent } = await run(
      [{ toolUse: { name: 'Bash', input: { command: 'mkdir sub && cd sub' } } }, touch, 'ok'],
      {
        SessionStart: { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'START' } },
        SessionEnd: {},
        CwdChanged: {},
        Notification: {},
        PermissionDenied: {},
      },
      { allowedTools: ['Bash(mkdir sub && cd sub)'] },
    );
    expect(sent[0]).toContain('START');
    expect(fired.map((input) => input.hook_event_name)).toEqual([
      'SessionStart',
      'CwdChanged',
      'PermissionDenied',
      'SessionEnd',
    ]);
    expect(fired[0]).toMatchObject({ source: 'startup', transcript_path: expect.stringContaining('.jsonl') });
    const asked = await run([touch, 'ok'], { Notification: {} }, { canUseTool: async () => ({ behavior: 'allow' }) });
    expect(asked.fired).toMatchObject([{ notification_type: 'permission_prompt' }]);
  });
});

describe('the start and the end of a session', () => {
  const toldOf = async (prompt: string, rest: Partial<Options> = {}) => {
    const { fired, result, sent, messages } = await run(
      ['A summary.', 'ok'],
      { SessionStart: {}, SessionEnd: {}, PreCompact: {} },
      { ...rest, prompt },
    );
    const told = fired.map((input) => [input.hook_event_name, 'source' in input ? input.source : '']);
    return { told, result, sent, messages };
  };

  it.each(['/help', '/no-such-command', 'hi'])('are told, whatever it was used for: %s', async (prompt) => {
    expect((await toldOf(prompt)).told).toEqual([
      ['SessionStart', 'startup'],
      ['SessionEnd', ''],
    ]);
  });

  it('are told of one that is resumed only to be compacted', async () => {
    const cwd = scratch();
    const first = await toldOf('hi', { cwd });
    const resume = first.messages[0]?.session_id as string;
    expect((await toldOf('/compact', { cwd, resume })).told).toEqual([
      ['SessionStart', 'resume'],
      ['PreCompact', ''],
      ['SessionStart', 'compact'],
      ['SessionEnd', ''],
    ]);
  });

  it('what they say comes with the first prompt, and an end of the turn keeps a command from running', async () => {
    const start = { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'START' } } as HookOutput;
    const later = await run(['ok'], { SessionStart: start }, { prompt: ['/help', 'hi'] });
    expect(later.sent).toEqual([expect.stringContaining('START')]);
    const stopped = await run([], { SessionStart: { continue: false, stopReason: 'not today' } }, { prompt: '/help' });
    expect(stopped.result).toMatchObject({
      terminal_reason: 'hook_stopped',
      result: expect.stringContaining('not today'),
    });
  });
});

it('Stop hooks are told which tasks run', async () => {
  const cwd = scratch();
  const command = 'until [ -e over ]; do sleep 0.05; done';
  const { fired } = await run(
    [
      { toolUse: { name: 'Bash', id: 't1', input: { command, run_in_background: true, description: 'naps' } } },
      'ok',
      'ok',
    ],
    {
      Stop: () => {
        writeFileSync(join(cwd, 'over'), '');
        return {};
      },
    },
    { cwd, allowedTools: ['Bash'] },
  );
  const task = { task_type: 'local_bash', description: 'naps', status: 'running' };
  expect(fired[0]).toMatchObject({ background_tasks: [task] });
});

it('a file that a hook keeps from Read is not shown by a mention of it', async () => {
  const cwd = scratch();
  writeFileSync(join(cwd, 'a.txt'), 'SWORDFISH');
  const hooked = (hooks: Record<string, Answer>) => run(['ok'], hooks, { cwd, prompt: 'Look at @a.txt' });
  const plain = await hooked({ PreToolUse: {}, PostToolUse: {} });
  expect(plain.sent[0]).toContain('SWORDFISH');
  expect(plain.fired).toMatchObject([
    { hook_event_name: 'PreToolUse', tool_name: 'Read', tool_input: { file_path: join(cwd, 'a.txt') } },
    { hook_event_name: 'PostToolUse', tool_response: { type: 'text' } },
  ]);
  const redacted = { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: 'hidden' } } as HookOutput;
  const refused: HookOutput = { decision: 'block', reason: 'not this one' };
  for (const hooks of [[['PreToolUse', refused]], [['PostToolUse', redacted]]] as const) {
    const { sent } = await hooked(Object.fromEntries(hooks));
    expect(sent[0]).not.toContain('SWORDFISH');
    expect(sent[0]).toContain('a.txt: It was not read: ');
  }
});

describe('PermissionRequest', () => {
  const decide = (decision: object): HookOutput =>
    ({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } }) as HookOutput;

  it('answers in the place of the person', async () => {
    const asked: string[] = [];
    const canUseTool: Options['canUseTool'] = async (name) => {
      asked.push(name);
      return { behavior: 'deny', message: 'person' };
    };
    expect((await run([touch, 'ok'], { PermissionRequest: decide({ behavior: 'allow' }) }, { canUseTool })).made).toBe(
      true,
    );
    const denied = await run(
      [touch, 'ok'],
      { PermissionRequest: decide({ behavior: 'deny', message: 'hook' }) },
      { canUseTool },
    );
    expect(toolResult(denied.messages, 't1').text).toBe('hook');
    expect(asked).toEqual([]);
    const open = await run([touch, 'ok'], { PermissionRequest: {} }, { canUseTool });
    expect(toolResult(open.messages, 't1').text).toBe('person');
  });
});

it('TaskCreated and TaskCompleted may object', async () => {
  const create: ScriptStep = { toolUse: { name: 'TaskCreate', id: 't1', input: { subject: 'A', description: 'a' } } };
  const complete: ScriptStep = {
    toolUse: { name: 'TaskUpdate', id: 't2', input: { taskId: '1', status: 'completed' } },
  };
  const tools = ['TaskCreate', 'TaskUpdate'];
  const refused = await run([create, 'ok'], { TaskCreated: { decision: 'block', reason: 'too many' } }, { tools });
  expect(toolResult(refused.messages, 't1')).toMatchObject({ isError: true, text: 'The task was not added: too many' });
  const open = await run(
    [create, complete, 'ok'],
    { TaskCreated: {}, TaskCompleted: { decision: 'block', reason: 'untested' } },
    { tools },
  );
  expect(open.fired).toMatchObject([{ task_id: '1', task_subject: 'A' }, { task_id: '1' }]);
  expect(toolResult(open.messages, 't2').text).toBe('Task #1 stays as it was: untested');
});

it('a file that hooks see is the log of the session', async () => {
  const { fired } = await run(['ok'], { Stop: (input) => (writeFileSync(`${input.transcript_path}.seen`, ''), {}) });
  expect(existsSync(`${fired[0]?.transcript_path}.seen`)).toBe(true);
});
