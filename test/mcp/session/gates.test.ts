/** Tools of servers that answer in the place of a person, and as hooks. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Message, SessionConfig } from '../../../src/protocol/index.js';
import { createSdkMcpServer, type Options, tool } from '../../../src/sdk/index.js';
import { start } from '../../engine/kit.js';
import { lastSaid, program, talk, V1 } from './kit.js';
import { call, notices } from '../../guard/stage.js';

const touch = (id = 't1') => call('Bash', { command: 'touch made' }, id);
const stdio = (env: Record<string, string>) => ({ one: { ...program(V1), env } });

const approver = (answer: (asked: Record<string, unknown>) => unknown) =>
  createSdkMcpServer({
    name: 'one',
    tools: [
      tool(
        'approve',
        'Approves',
        { tool_name: z.string(), input: z.record(z.string(), z.unknown()), tool_use_id: z.string() },
        async (asked) => {
          const said = answer(asked);
          return { content: [{ type: 'text', text: typeof said === 'string' ? said : JSON.stringify(said) }] };
        },
      ),
    ],
  });

/** Not known to the model alone: a notice, and the message about the call. */
function expectLoud(messages: readonly Message[], reason: RegExp): void {
  const message = expect.stringMatching(reason);
  expect(messages).toContainEqual(
    expect.objectContaining({ subtype: 'informational', level: 'error', content: message }),
  );
  expect(messages).toContainEqual(
    expect.objectContaining({ subtype: 'permission_denied', tool_use_id: 't1', message }),
  );
}

describe('permissionPromptToolName', () => {
  async function ask(mcpServers: NonNullable<Options['mcpServers']>, name = 'mcp__one__approve') {
    const run = talk([touch(), 'done'], { mcpServers, permissionPromptToolName: name });
    const result = await run.say('Go');
    const ids = result.permission_denials.map(({ tool_use_id }) => tool_use_id);
    return { run, denied: ids, made: existsSync(join(run.cwd, 'made')), other: existsSync(join(run.cwd, 'other')) };
  }

  it('a tool of a server on stdio is waited for, asked, and allows', async () => {
    const { run, made, denied } = await ask(stdio({}));
    expect({ made, denied }).toEqual({ made: true, denied: [] });
    // It is not asked about itself.
    expect(run.messages.filter((message) => message.type === 'assistant')).toHaveLength(2);
  });

  it('it may change the input', async () => {
    const { made, other } = await ask(stdio({ APPROVE: 'change' }));
    expect({ made, other }).toEqual({ made: false, other: true });
  });

  it('it denies with a reason', async () => {
    const { run, made, denied } = await ask(stdio({ APPROVE: 'deny' }));
    expect({ made, denied }).toEqual({ made: false, denied: ['t1'] });
    expect(run.told('t1')).toBe('no Bash today (t1)');
  });

  it('a tool of this process gets name, input and id, and is asked once for each call', async () => {
    const asked: Record<string, unknown>[] = [];
    const { made } = await ask({
      one: approver((question) => {
        asked.push(question);
        return { behavior: 'allow', updatedInput: question.input };
      }),
    });
    expect(made).toBe(true);
    expect(asked).toEqual([{ tool_name: 'Bash', input: { command: 'touch made' }, tool_use_id: 't1' }]);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['no JSON', () => 'yes, of course', /did not answer with JSON: yes, of course/],
    ['no answer', () => ({ verdict: 'fine' }), /permission request failed/i],
    ['an unknown behaviour', () => ({ behavior: 'perhaps' }), /permission request failed/i],
    ['null', () => null, /permission request failed/i],
    [
      'an error',
      () => {
        throw new Error('out of order');
      },
      /out of order/,
    ],
  ])('%s denies, and the consumer sees why', async (_, answer, reason) => {
    const { run, made, denied } = await ask({ one: approver(answer) });
    expect({ made, denied }).toEqual({ made: false, denied: ['t1'] });
    expect(run.told('t1')).toMatch(reason);
    expectLoud(run.messages, reason);
  });

  it('a tool that is not there denies; so does one of a server that fails', async () => {
    const missing = await ask({ one: approver(() => ({ behavior: 'allow' })) }, 'mcp__one__nope');
    expect(missing).toMatchObject({ made: false, denied: ['t1'] });
    expect(missing.run.told('t1')).toContain('mcp__one__nope');
    const gone = await ask({ one: { command: '/no/such/program' } });
    expect(gone).toMatchObject({ made: false, denied: ['t1'] });
    expect(gone.run.told('t1')).toContain('MCP server one is not connected');
    expectLoud(gone.run.messages, /is not connected/);
    const none = await ask({});
    expect(none).toMatchObject({ made: false, denied: ['t1'] });
    expectLoud(none.run.messages, /mcp__one__approve/);
  });

  it('what can never be asked is an error at the start', async () => {
    const open = (permissionPromptTool: string, more: Partial<SessionConfig> = {}) =>
      start([], { config: { permissionPromptTool, ...more } });
    const one = { mcpConfig: [JSON.stringify({ mcpServers: { one: program(V1) } })] };
    const hosted = talk([touch(), 'done'], { permissionPromptToolName: 'Bash' });
    expect(await hosted.say('Go')).toMatchObject({ is_error: true, error_code: 'invalid_config' });
    await expect(open('Bash')).rejects.toMatchObject({ code: 'invalid_config' });
    await expect(open('mcp__two__approve', one)).rejects.toThrow('is not one of an MCP server. Servers: one.');
    await expect(open('mcp__one__approve', one)).resolves.toBeDefined();
  });

  it('an allow that the tool changed into something denied stays denied', async () => {
    const answer = () => ({ behavior: 'allow', updatedInput: { command: 'touch made' } });
    const run = talk([call('Bash', { command: 'touch fine' }), 'done'], {
      mcpServers: { one: approver(answer) },
      permissionPromptToolName: 'mcp__one__approve',
      disallowedTools: ['Bash(touch made)'],
    });
    await run.say('Go');
    expect(existsSync(join(run.cwd, 'made'))).toBe(false);
  });
});

describe('mcp_tool hooks of settings', () => {
  const hook = (more: object = {}) => ({ type: 'mcp_tool' as const, server: 'one', tool: 'judge', ...more });
  const settings = (event: string, more: object = {}, matcher?: string) => ({
    hooks: { [event]: [{ ...(matcher && { matcher }), hooks: [hook(more)] }] },
  });
  const decision = (verdict: string, reason: string) =>
    JSON.stringify({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: verdict,
        permissionDecisionReason: reason,
      },
    });

  it('a server on stdio denies a call', async () => {
    const run = talk([touch(), 'done'], {
      mcpServers: stdio({ JUDGE: decision('deny', 'the judge says no') }),
      allowedTools: ['Bash'],
      settings: settings('PreToolUse', {}, 'Bash') as Options['settings'],
    });
    await run.say('Go');
    expect(existsSync(join(run.cwd, 'made'))).toBe(false);
    expect(run.told('t1')).toContain('the judge says no');
  });

  it('it gets the event, or what `input` makes of it, and its context reaches the model', async () => {
    const judge = JSON.stringify({
      hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'seen: $INPUT' },
    });
    const input = { path: '${tool_input.command}', whole: '${tool_input}', text: 'ran ${tool_name} in ${cwd}', n: 7 };
    const run = talk([touch(), 'done'], {
      mcpServers: stdio({ JUDGE: judge }),
      allowedTools: ['Bash'],
      settings: {
        hooks: { PostToolUse: [{ matcher: 'Bash', hooks: [hook({ input }), hook()] }] },
      } as unknown as Options['settings'],
    });
    await run.say('Go');
    const said = JSON.parse(lastSaid(run, 1)) as { content: unknown };
    const texts = JSON.stringify(said).replaceAll('\\', '');
    expect(texts).toContain('"path":"touch made"');
    expect(texts).toContain('"whole":{"command":"touch made"}');
    expect(texts).toContain(`"text":"ran Bash in ${run.cwd}"`);
    expect(texts).toContain('"hook_event_name":"PostToolUse"');
    expect(texts).toContain('"n":7');
  });

  it('one that fails is no yes: the call is put to the person, or denied where nobody is', async () => {
    const asked: string[] = [];
    const options = {
      mcpServers: stdio({ JUDGE: 'fail' }),
      allowedTools: ['Bash'],
      settings: settings('PreToolUse') as Options['settings'],
    };
    const alone = talk([touch(), 'done'], options);
    await alone.say('Go');
    expect(existsSync(join(alone.cwd, 'made'))).toBe(false);
    expect(told(alone.messages)).toContain('the judge is ill');
    const run = talk([touch(), 'done'], {
      ...options,
      canUseTool: async (name) => {
        asked.push(name);
        return { behavior: 'allow' };
      },
    });
    await run.say('Go');
    expect(asked).toEqual(['Bash']);
    expect(existsSync(join(run.cwd, 'made'))).toBe(true);
  });

  it('so is one whose server is not there, or does not have the tool', async () => {
    for (const [server, name] of [
      ['nobody', 'judge'],
      ['one', 'nope'],
    ]) {
      const run = talk([touch(), 'done'], {
        mcpServers: { one: approver(() => 'x') },
        allowedTools: ['Bash'],
        settings: settings('PreToolUse', { server, tool: name }) as Options['settings'],
      });
      await run.say('Go');
      expect(existsSync(join(run.cwd, 'made'))).toBe(false);
      expect(told(run.messages)).toMatch(server === 'nobody' ? /nobody/ : /nope/);
    }
  });

  it('a prompt that it blocks does not get to the model', async () => {
    const run = talk(['never'], {
      mcpServers: stdio({ JUDGE: JSON.stringify({ decision: 'block', reason: 'not on Sundays' }) }),
      settings: settings('UserPromptSubmit') as Options['settings'],
    });
    await run.say('Weave');
    expect(run.model.requests).toHaveLength(0);
    expect(JSON.stringify(run.messages)).toContain('not on Sundays');
  });

  it('a hook that does not say which tool is an error of the settings', async () => {
    const run = talk(['done'], {
      settings: { hooks: { PreToolUse: [{ hooks: [{ type: 'mcp_tool', server: 'one' }] }] } } as Options['settings'],
    });
    expect(await run.say('Go')).toMatchObject({ error_code: 'invalid_settings' });
    expect(told(run.messages)).toContain('needs \\"tool\\"');
    expect(run.model.requests).toHaveLength(0);
  });
});

/** All that the consumer was shown. */
const told = (messages: readonly Message[]): string => `${notices(messages).join('\n')}\n${JSON.stringify(messages)}`;
