import { describe, expect, it } from 'vitest';
import {
  checkFrame,
  checkMessage,
  checkParams,
  checkResult,
  HeddleError,
  HOOK_EVENTS,
  HOOK_INPUTS,
  HookInput,
  MESSAGES,
  MessagesBody,
  REQUESTS,
  RESULT_MESSAGES,
  SYSTEM_MESSAGES,
  checkValue,
  schemaOf,
  Settings,
} from '../../src/protocol/index.js';
import { apiMessage, hookInputs, messages, requests } from './examples.js';

const failure = (run: () => unknown): HeddleError => {
  try {
    run();
  } catch (error) {
    if (error instanceof HeddleError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

const assistantWith = (content: unknown) => ({ ...messages.assistant, message: { ...apiMessage, content } });

describe('checkFrame', () => {
  it('knows an example of every message', () => {
    const known = [
      ...Object.keys(MESSAGES).filter((type) => type !== 'system' && type !== 'result'),
      'keep_alive',
      'update_environment_variables',
      'control_request',
      'control_response',
      'control_cancel_request',
      ...Object.keys(SYSTEM_MESSAGES).map((subtype) => `system/${subtype}`),
      ...Object.keys(RESULT_MESSAGES).map((subtype) => `result/${subtype}`),
    ];
    expect(Object.keys(messages).toSorted()).toEqual(known.toSorted());
  });

  it.each(Object.entries(messages))('%s: passes, with fields of the future, byte for byte', (_name, example) => {
    const line = JSON.stringify({ ...example, zz_new: { deep: [1, null, 'x'] }, a_new: true });
    const checked = checkFrame(JSON.parse(line));
    expect(JSON.stringify(checked)).toBe(line);
  });

  it.each(Object.entries(messages))('%s: names each field that is missing or of a wrong type', (name, example) => {
    for (const field of Object.keys(example).filter((key) => key !== 'type' && key !== 'subtype')) {
      const error = failure(() => checkFrame({ ...example, [field]: Symbol('wrong') }));
      expect(error.code).toBe('invalid_frame');
      expect(error.data).toEqual({ path: field });
      expect(error.message.startsWith(`${name}: ${field}: `)).toBe(true);
    }
  });

  it('lets unknown types and subtypes pass as they are', () => {
    const frames = [
      { type: 'nonsense', x: 1 },
      { type: 'system', subtype: 'from_the_future', uuid: 7 },
      { type: 'result' },
      { type: 'result', subtype: 'error_new' },
      { type: 'constructor' },
      { type: 'system', subtype: 'toString' },
    ];
    for (const frame of frames) {
      expect(schemaOf(frame)).toBeUndefined();
      expect(checkFrame(frame)).toBe(frame);
    }
  });

  it('lets unknown content blocks and stream events pass', () => {
    const blocks = assistantWith([
      { type: 'hologram', data: 1 },
      { type: 'text', text: 'x', sparkle: true },
    ]);
    expect(checkMessage(blocks)).toBe(blocks);
    const event = { ...messages.stream_event, event: { type: 'content_block_delta', index: 'not checked' } };
    expect(checkMessage(event)).toBe(event);
  });

  it('says where a wrong value is, through lists and unions', () => {
    const text = failure(() =>
      checkFrame(
        assistantWith([
          { type: 'text', text: 'a' },
          { type: 'text', text: 5 },
        ]),
      ),
    );
    expect(text.data).toEqual({ path: 'message.content[1].text' });
    expect(text.message).toBe('assistant: message.content[1].text: Invalid input: expected string, received number');

    const user = failure(() => checkFrame({ type: 'user', message: { role: 'user', content: 5 } }));
    expect(user.message).toBe('user: message.content: Invalid input: expected string or array');

    const nested = {
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text' }] }] },
    };
    expect(failure(() => checkFrame(nested)).data).toEqual({ path: 'message.content[0].content[0].text' });
  });

  it.each([5, null, 'text', [], {}, { type: 7 }])('refuses %j, which is no frame', (value) => {
    expect(failure(() => checkFrame(value)).code).toBe('invalid_frame');
  });
});

describe('THE TABLE', () => {
  it('has an example of every request', () => {
    expect(Object.keys(requests).toSorted()).toEqual(Object.keys(REQUESTS).toSorted());
  });

  it('covers what the three observed versions send', () => {
    const sentBy = (from: string) =>
      Object.entries(REQUESTS).flatMap(([subtype, spec]) => (spec.from === from ? [subtype] : []));
    expect(sentBy('engine')).toEqual(['can_use_tool', 'hook_callback', 'elicitation', 'request_user_dialog']);
    expect(sentBy('both')).toEqual(['mcp_message']);
    // Theirs, and `end_session` and `continue_turn`, which are ours.
    expect(sentBy('host')).toHaveLength(38);
  });

  it.each(Object.entries(requests))('%s: params and result pass, with fields of the future', (subtype, example) => {
    const params = { ...example.params, zz_new: 1 };
    expect(checkParams(subtype, params)).toBe(params);
    expect(checkResult(subtype, example.result)).toBe(example.result);
  });

  it('names the wrong field of params and of an answer', () => {
    const params = failure(() => checkParams('rewind_files', { user_message_id: 4 }));
    expect([params.code, params.data.path]).toEqual(['invalid_frame', 'user_message_id']);

    const server = failure(() => checkParams('mcp_set_servers', { servers: { 'my-server': { type: 'http' } } }));
    expect(server.data).toEqual({ path: 'servers["my-server"].url' });

    const agent = failure(() => checkParams('initialize', { agents: { a: { description: 'd' } } }));
    expect(agent.data).toEqual({ path: 'agents.a.prompt' });

    const mcpServers = ['known', { calc: { command: 5 } }];
    const ownServer = failure(() =>
      checkParams('initialize', { agents: { a: { description: 'd', prompt: 'p', mcpServers } } }),
    );
    expect(ownServer.data).toEqual({ path: 'agents.a.mcpServers[1].calc.command' });

    const answer = failure(() => checkResult('mcp_set_servers', { added: 'x', removed: [], errors: {} }));
    expect([answer.code, answer.data.path]).toEqual(['invalid_answer', 'added']);

    const hook = failure(() =>
      checkResult('hook_callback', {
        hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'maybe' },
      }),
    );
    expect([hook.code, hook.data.path]).toEqual(['invalid_answer', 'hookSpecificOutput.permissionDecision']);
  });

  it('lets unknown subtypes pass', () => {
    const params = { anything: 1 };
    expect(checkParams('no_such_subtype', params)).toBe(params);
    expect(checkResult('toString', params)).toBe(params);
  });
});

describe('hook inputs', () => {
  it('exist for every event we fire', () => {
    expect(Object.keys(HOOK_INPUTS)).toEqual(expect.arrayContaining([...HOOK_EVENTS]));
    expect(Object.keys(hookInputs).toSorted()).toEqual(Object.keys(HOOK_INPUTS).toSorted());
  });

  it.each(Object.entries(hookInputs))('%s: passes, and fails without a session', (_event, input) => {
    expect(checkValue(HookInput(), input, 'hook')).toBe(input);
    const { session_id: _, ...rest } = input;
    expect(failure(() => checkValue(HookInput(), rest, 'hook')).data).toEqual({ path: 'session_id' });
  });

  it('of an unknown event pass', () => {
    const input = { hook_event_name: 'MoonRise', phase: 'full' };
    expect(checkValue(HookInput(), input, 'hook')).toBe(input);
  });
});

describe('the body of a model request', () => {
  const body = {
    model: 'm',
    max_tokens: 1,
    stream: true,
    system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: apiMessage.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't-1', content: 'x', is_error: true }] },
    ],
    tools: [
      { name: 'Read', description: 'd', input_schema: { type: 'object' } },
      { type: 'web_search_1', name: 'search', max_uses: 3 },
    ],
    thinking: { type: 'enabled', budget_tokens: 1024 },
    tool_choice: { type: 'tool', name: 'Read' },
  };

  it('passes', () => {
    expect(checkValue(MessagesBody(), body, 'body')).toBe(body);
  });

  it.each([
    [{ thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
    [{ tool_choice: { type: 'tool' } }, 'tool_choice.name'],
    [{ system: [{ type: 'text' }] }, 'system[0].text'],
    [{ messages: [{ role: 'system', content: '' }] }, 'messages[0].role'],
    [{ stream: false }, 'stream'],
  ])('with %j fails at %s', (change, path) => {
    expect(failure(() => checkValue(MessagesBody(), { ...body, ...change }, 'body')).data).toEqual({ path });
  });
});

describe('settings', () => {
  it('keep keys of others and take rules in both forms', () => {
    const settings = {
      permissions: { allow: ['Read', { tool: 'Bash', command: 'git *' }], defaultMode: 'plan' },
      sandbox: { enabled: true },
      hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: 'true' }] }] },
      somebodyElses: { x: 1 },
    };
    expect(checkValue(Settings(), settings, 'settings.json')).toBe(settings);
  });

  it('name the wrong field', () => {
    const error = failure(() => checkValue(Settings(), { permissions: { deny: [7] } }, 'settings.json'));
    expect(error.message).toBe('settings.json: permissions.deny[0]: Invalid input: expected string or object');
  });
});
