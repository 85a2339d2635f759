/** What servers ask: forms and pages for the person, model calls for themselves. */
import { describe, expect, it, vi } from 'vitest';
import { createSdkMcpServer, type ElicitationRequest, type Options, tool } from '../../../src/sdk/index.js';
import { createStage, person } from '../../guard/stage.js';
import { USER } from '../../settings/place.js';
import { resultText } from '../../engine/kit.js';
import { call, find, program, talk, V1, V2 } from './kit.js';

const mcpServers = { one: program(V1) };
const allowedTools = ['mcp__one'];
const asking = (name: string, input: Record<string, unknown> = {}) => [
  find(`mcp__one__${name}`),
  call(`mcp__one__${name}`, input),
  'done',
];

describe('onElicitation', () => {
  it('is asked with the name of the server and the form, and its answer goes back', async () => {
    const asked: ElicitationRequest[] = [];
    const run = talk(asking('form'), {
      mcpServers,
      allowedTools,
      onElicitation: async (request) => {
        asked.push(request);
        return { action: 'accept', content: { name: 'Ada', age: 36 } };
      },
    });
    await run.say('Go');
    expect(asked).toEqual([
      {
        serverName: 'one',
        message: 'Who are you?',
        mode: 'form',
        requestedSchema: expect.objectContaining({ required: ['name'] }),
      },
    ]);
    expect(JSON.parse(run.told('t1'))).toEqual({ action: 'accept', content: { name: 'Ada', age: 36 } });
  });

  it('is asked by servers of version 2, too', async () => {
    const run = talk([find('mcp__two__form'), call('mcp__two__form'), 'done'], {
      mcpServers: { two: program(V2) },
      allowedTools: ['mcp__two'],
      onElicitation: async ({ serverName }) => ({ action: 'accept', content: { name: serverName } }),
    });
    await run.say('Go');
    expect(JSON.parse(run.told('t1'))).toEqual({ action: 'accept', content: { name: 'two' } });
  });

  it('gets the whole address of a page, which nobody opens by itself', async () => {
    const asked: ElicitationRequest[] = [];
    const url = 'https://login.example/?next=https://evil.example/';
    const run = talk(asking('page', { url }), {
      mcpServers,
      allowedTools,
      onElicitation: async (request) => {
        asked.push(request);
        return { action: 'decline' };
      },
    });
    await run.say('Go');
    expect(asked).toEqual([{ serverName: 'one', message: 'Log in', mode: 'url', url, elicitationId: 'e1' }]);
    expect(JSON.parse(run.told('t1'))).toEqual({ action: 'decline' });
  });

  it('is not asked about what is no page', async () => {
    const onElicitation = vi.fn<NonNullable<Options['onElicitation']>>();
    const run = talk(
      [
        find('mcp__one__page'),
        call('mcp__one__page', { url: 'file:///etc/passwd' }, 't1'),
        call('mcp__one__page', { url: 'javascript:alert(1)' }, 't2'),
        'done',
      ],
      { mcpServers, allowedTools, onElicitation },
    );
    await run.say('Go');
    expect(onElicitation).not.toHaveBeenCalled();
    expect(run.told('t1')).toContain('not an http or https address');
    expect(run.told('t2')).toContain('not an http or https address');
  });

  it('where there is none, the person has declined', async () => {
    const run = talk(asking('form'), { mcpServers, allowedTools });
    await run.say('Go');
    expect(JSON.parse(run.told('t1'))).toEqual({ action: 'decline' });
  });

  it('one that throws, says nothing, says nonsense or cancels is never a yes', async () => {
    const answers = [
      () => Promise.reject(new Error('no screen')),
      async () => undefined,
      async () => ({ action: 'maybe' }),
      async () => ({ action: 'cancel' }),
    ];
    const calls = answers.map((_, index) => call('mcp__one__form', {}, `t${index}`));
    const left = [...answers];
    const run = talk([find('mcp__one__form'), ...calls, 'done'], {
      mcpServers,
      allowedTools,
      onElicitation: (() => left.shift()?.()) as unknown as NonNullable<Options['onElicitation']>,
    });
    expect(await run.say('Go')).toMatchObject({ subtype: 'success' });
    const actions = answers.map((_, index) => (JSON.parse(run.told(`t${index}`)) as { action: string }).action);
    expect(actions).toEqual(['decline', 'decline', 'decline', 'cancel']);
  });

  it('an answer that does not fit the form is refused, and the call says so', async () => {
    const run = talk(asking('form'), {
      mcpServers,
      allowedTools,
      onElicitation: async () => ({ action: 'accept', content: { age: 'old' } }),
    });
    await run.say('Go');
    expect(run.told('t1')).toMatch(/name|required|age/);
    expect(run.told('t1')).not.toContain('"accept"');
  });

  it.each([
    [{ name: 5 }, /form.*name/i],
    [{ name: 'Ada', age: -1 }, /form.*age/i],
    [{ name: 'Ada', age: 1.5 }, /form.*age/i],
    [{ age: 7 }, /form.*name/i],
  ])('what does not fit its field is not sent: %j', async (content, says) => {
    const run = talk(asking('form'), {
      mcpServers,
      allowedTools,
      onElicitation: async () => ({ action: 'accept', content }),
    });
    await run.say('Go');
    expect(run.told('t1')).toMatch(says);
    expect(run.told('t1')).toContain('was not sent');
  });

  it('fields that the form does not have are not sent, and nothing with a page', async () => {
    const content = { name: 'Ada', extra: 'KEY' };
    const run = talk(
      [
        find('mcp__one__form'),
        call('mcp__one__form', {}, 't1'),
        call('mcp__one__page', { url: 'https://x.example' }, 't2'),
        'done',
      ],
      { mcpServers, allowedTools, onElicitation: async () => ({ action: 'accept', content }) },
    );
    await run.say('Go');
    expect(JSON.parse(run.told('t1'))).toEqual({ action: 'accept', content: { name: 'Ada' } });
    expect(JSON.parse(run.told('t2'))).toEqual({ action: 'accept' });
  });

  it('G1: its signal aborts when the turn is interrupted, and the next turn works', async () => {
    const stopped = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const run = talk([find('mcp__one__form'), call('mcp__one__form'), call('mcp__one__echo', { a: 1 }, 't2'), 'done'], {
      mcpServers,
      allowedTools,
      onElicitation: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          begun.resolve();
          signal.addEventListener('abort', () => {
            stopped.resolve();
            reject(new Error('stopped'));
          });
        }),
    });
    const result = run.say('Go');
    await begun.promise;
    await run.query.interrupt();
    expect(await result).toMatchObject({ is_error: false });
    await stopped.promise;
    expect(await run.say('Again')).toMatchObject({ result: 'done' });
    expect(run.told('t2')).toBe('{"a":1}');
  });
});

/** One that needs no process. */
const SAMPLER = createSdkMcpServer({
  name: 'one',
  tools: [
    tool('sample', 'Samples', {}, async (_, extra) => {
      const { sendRequest } = extra as { sendRequest(request: object): Promise<unknown> };
      const messages = [{ role: 'user', content: { type: 'text', text: 'Weave' } }];
      const params = { messages, systemPrompt: 'Be brief.', maxTokens: 50 };
      const answer = await sendRequest({ method: 'sampling/createMessage', params });
      return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
    }),
  ],
});

describe('sampling', () => {
  const SAMPLED = (request: { body: { system?: unknown } }) =>
    JSON.stringify(request.body.system).includes('Be brief') ? 'a sample' : 'not meant for this';
  const script = (prompt = 'Weave') => [
    find('mcp__one__sample'),
    call('mcp__one__sample', { prompt }),
    SAMPLED,
    'done',
  ];
  const denied = (prompt = 'Weave') => [find('mcp__one__sample'), call('mcp__one__sample', { prompt }), 'done'];

  it('is asked about as McpSampling, with the server and the whole prompt, and is charged to the session', async () => {
    const asked: { name: string; input: Record<string, unknown> }[] = [];
    const run = talk(script(), {
      model: 'sonnet',
      mcpServers,
      allowedTools,
      canUseTool: async (name, input) => {
        asked.push({ name, input });
        return { behavior: 'allow' };
      },
    });
    const result = await run.say('Go');
    expect(asked).toEqual([
      {
        name: 'McpSampling',
        input: expect.objectContaining({ server: 'one', prompt: 'Weave', system: 'Be brief.', max_tokens: 50 }),
      },
    ]);
    expect(run.told('t1')).toContain('a sample');
    const alone = talk(['x', 'y', 'z'], { model: 'sonnet' });
    const one = await alone.say('Go');
    await alone.say('Go');
    const three = await alone.say('Go');
    expect(one.total_cost_usd).toBeGreaterThan(0);
    // Four model calls of the same size, of which one was for the server.
    expect(result.total_cost_usd).toBeCloseTo(three.total_cost_usd + one.total_cost_usd, 10);
    // It sees nothing of the conversation.
    expect(JSON.stringify(run.model.requests[2]?.body)).not.toContain('Go');
    expect(run.model.requests[2]?.body.tools).toBeUndefined();
  });

  it('is denied where the person says no, and where nobody can be asked', async () => {
    const run = talk(denied(), {
      mcpServers,
      allowedTools,
      canUseTool: async () => ({ behavior: 'deny', message: 'too dear' }),
    });
    expect(await run.say('Go')).toMatchObject({ subtype: 'success', result: 'done' });
    expect(run.told('t1')).toContain('too dear');
    const alone = talk(denied(), { mcpServers, allowedTools });
    await alone.say('Go');
    expect(alone.told('t1')).toContain('does not allow this model call');
    expect(alone.model.requests).toHaveLength(3);
    expect(alone.messages).toContainEqual(
      expect.objectContaining({ subtype: 'permission_denied', tool_name: 'McpSampling' }),
    );
  });

  it.each<[string, Partial<Options>, boolean]>([
    ['an allow for the server', { allowedTools: [...allowedTools, 'McpSampling(one)'] }, true],
    ['an allow for all', { allowedTools: [...allowedTools, 'McpSampling'] }, true],
    ['an allow for another server', { allowedTools: [...allowedTools, 'McpSampling(two)'] }, false],
    [
      'a deny for the server',
      { allowedTools: [...allowedTools, 'McpSampling'], disallowedTools: ['McpSampling(one)'] },
      false,
    ],
    [
      'a deny for the server in bypassPermissions',
      {
        permissionMode: 'bypassPermissions',
        allowDangerouslySkipPermissions: true,
        disallowedTools: ['McpSampling(one)'],
      },
      false,
    ],
    ['a mode that asks nobody', { permissionMode: 'dontAsk' }, false],
  ])('rules count: %s', async (_, options, allowed) => {
    const steps = allowed ? script().slice(1) : denied().slice(1);
    const run = talk(steps, { mcpServers: { one: SAMPLER }, allowedTools, ...options });
    await run.say('Go');
    if (allowed) expect(run.told('t1')).toContain('a sample');
    else expect(run.told('t1')).not.toContain('a sample');
    expect(run.model.requests).toHaveLength(allowed ? 3 : 2);
  });

  it('rules of settings count, and each call is asked about', async () => {
    const stage = createStage();
    stage.write(USER, { mcpServers, permissions: { allow: ['mcp__one', 'McpSampling'], ask: ['McpSampling(one)'] } });
    const someone = person(() => ({ behavior: 'allow' }));
    const run = await stage.open([call('mcp__one__sample', { prompt: 'x' }), SAMPLED, 'done'], { ask: someone.ask });
    await run.ask('Go');
    expect(someone.asked).toMatchObject([{ tool_name: 'McpSampling', input: { server: 'one' } }]);
    expect(resultText(run.messages, 't1')).toContain('a sample');
  });

  it('is refused when it is too long', async () => {
    const run = talk(denied('x'.repeat(100_001)), { mcpServers, allowedTools: [...allowedTools, 'McpSampling'] });
    await run.say('Go');
    expect(run.told('t1')).toContain('too long');
  });
});
