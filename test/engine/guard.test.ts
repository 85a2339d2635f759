import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/engine/index.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { outline, resultText, scratch, start } from './kit.js';

const call = (name: string, input: Record<string, unknown>, id: string) => ({ name, input, id });
const overloaded = () =>
  new HeddleError('model_overloaded', 'Overloaded', { retryable: true, data: { status: 529, message: 'Overloaded' } });

describe('E2: calls of one message are judged on what is true when they run', () => {
  it('a read after `cd ..` is asked about, not judged from where the message began', async () => {
    const outer = scratch();
    const cwd = join(outer, 'ws', 'sub');
    mkdirSync(cwd, { recursive: true });
    writeFileSync(join(outer, 'secret.txt'), 'SECRET');
    const asked: string[] = [];
    const toolUse = [
      call('Bash', { command: 'cd ..' }, 't1'),
      call('Bash', { command: 'cat ../secret.txt' }, 't2'),
      call('Read', { file_path: '../secret.txt' }, 't3'),
    ];
    const run = await start([{ toolUse }, 'ok'], {
      cwd,
      config: { additionalDirectories: [join(outer, 'ws')] },
      ask: async ({ tool_use_id }) => {
        asked.push(tool_use_id);
        return tool_use_id === 't1' ? { behavior: 'allow' } : { behavior: 'deny', message: 'no' };
      },
    });
    await run.ask('go');
    expect(asked).toContain('t2');
    expect(JSON.stringify(run.messages)).not.toContain('SECRET');
  });

  it('a write through a link that an earlier call made is asked about', async () => {
    const outer = scratch();
    mkdirSync(join(outer, 'home'));
    mkdirSync(join(outer, 'ws'));
    const toolUse = [
      call('Bash', { command: 'ln -s ../home notes' }, 't1'),
      call('Write', { file_path: 'notes/evil', content: 'x' }, 't2'),
    ];
    const run = await start([{ toolUse }, 'ok'], {
      cwd: join(outer, 'ws'),
      config: { permissionMode: 'acceptEdits' },
      ask: async ({ tool_use_id }) =>
        tool_use_id === 't1' ? { behavior: 'allow' } : { behavior: 'deny', message: 'no' },
    });
    await run.ask('go');
    expect(existsSync(join(outer, 'home', 'evil'))).toBe(false);
  });

  it('a link out of the workspace is seen through', async () => {
    const outer = scratch();
    mkdirSync(join(outer, 'ws'));
    writeFileSync(join(outer, 'secret.txt'), 'SECRET');
    symlinkSync(join(outer, 'secret.txt'), join(outer, 'ws', 'inside.txt'));
    const run = await start([{ toolUse: call('Read', { file_path: 'inside.txt' }, 't1') }, 'ok'], {
      cwd: join(outer, 'ws'),
    });
    expect((await run.ask('go')).permission_denials).toHaveLength(1);
    expect(JSON.stringify(run.messages)).not.toContain('SECRET');
  });
});

describe('a place whose links cannot be followed', () => {
  const modes = ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'dontAsk'] as const;
  const toolUse = [
    call('Read', { file_path: 'round/x' }, 't1'),
    call('Write', { file_path: 'round/x', content: 'x' }, 't2'),
    call('Bash', { command: 'sudo cat round/x' }, 't3'),
  ];
  const stage = (): string => {
    const cwd = scratch();
    symlinkSync('round', join(cwd, 'round'));
    return cwd;
  };

  it.each(modes)('is asked about, whatever rules allow, in the mode %s', async (permissionMode) => {
    const asked: unknown[] = [];
    const cwd = stage();
    const run = await start([{ toolUse }, 'ok'], {
      cwd,
      config: { permissionMode, allowedTools: ['Read', 'Write', 'Bash'] },
      ask: async ({ tool_use_id, blocked_path }) => {
        asked.push([tool_use_id, blocked_path]);
        return { behavior: 'deny', message: 'no' };
      },
    });
    const { permission_denials } = await run.ask('go');
    expect(permission_denials).toHaveLength(3);
    const place = join(cwd, 'round/x');
    expect(asked).toEqual(permissionMode === 'dontAsk' ? [] : ['t1', 't2', 't3'].map((id) => [id, place]));
  });

  it('may be approved: the call runs, and finds what the system says', async () => {
    const run = await start([{ toolUse }, 'ok'], { cwd: stage(), ask: async () => ({ behavior: 'allow' }) });
    expect(await run.ask('go')).toMatchObject({ permission_denials: [] });
    expect(resultText(run.messages, 't1')).toMatch(/ELOOP|symbolic links/);
  });

  it('opens nothing as an additional folder of settings or of an answer', async () => {
    const update = { type: 'addDirectories', directories: ['round'], destination: 'session' } as const;
    const run = await start([{ toolUse }, { toolUse: toolUse.map((each) => ({ ...each, id: `${each.id}b` })) }, 'ok'], {
      cwd: stage(),
      config: { settings: '{"permissions":{"additionalDirectories":["round"]}}' },
      ask: async ({ tool_use_id }) =>
        tool_use_id === 't1'
          ? { behavior: 'allow', updatedPermissions: [update] }
          : { behavior: 'deny', message: 'no' },
    });
    expect((await run.ask('go')).permission_denials).toHaveLength(5);
  });

  it('is named by the error when it is an additional folder of the call', async () => {
    const config = { additionalDirectories: ['round/x'] };
    await expect(start([], { cwd: stage(), config })).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringMatching(/^additionalDirectories: the links of round\/x cannot be followed: ELOOP/),
    });
  });
});

describe('answers of the host', () => {
  it('a rule about a place whose links cannot be followed denies what leads there, and nothing else', async () => {
    const cwd = scratch();
    symlinkSync('round', join(cwd, 'round'));
    writeFileSync(join(cwd, 'plain.txt'), 'PLAIN');
    const toolUse = [
      call('Read', { file_path: 'plain.txt' }, 't1'),
      call('Read', { file_path: 'round/x' }, 't2'),
      call('Bash', { command: 'cat plain.txt' }, 't3'),
    ];
    const run = await start([{ toolUse }, 'ok'], { cwd, config: { disallowedTools: ['Read(./round/**)'] } });
    expect(await run.ask('go')).toMatchObject({ permission_denials: [{ tool_use_id: 't2' }] });
    expect(resultText(run.messages, 't1')).toContain('PLAIN');
  });

  it('D: a changed input is judged again, so a denied tool stays denied', async () => {
    const run = await start([{ toolUse: call('Write', { file_path: 'a', content: 'x' }, 't1') }, 'ok'], {
      config: { disallowedTools: ['Edit'] },
      ask: async () => ({ behavior: 'allow', updatedInput: { file_path: 'b', content: 'y' } }),
    });
    await run.ask('go');
    expect(readFileSync(join(run.cwd, 'b'), 'utf8')).toBe('y');
  });

  it('updatedPermissions hold for the session: allow, deny, ask, folders and mode', async () => {
    const folder = scratch();
    const rules = (behavior: 'allow' | 'deny' | 'ask', toolName: string) => ({
      type: 'addRules' as const,
      rules: [{ toolName }],
      behavior,
      destination: 'session' as const,
    });
    const asked: string[] = [];
    const run = await start(
      [
        { toolUse: call('Bash', { command: 'touch a' }, 't1') },
        { toolUse: call('Bash', { command: 'touch b' }, 't2') },
        { toolUse: call('Write', { file_path: 'c', content: 'x' }, 't3') },
        { toolUse: call('Glob', { pattern: '*' }, 't4') },
        { toolUse: call('Read', { file_path: join(folder, 'none') }, 't5') },
        'ok',
      ],
      {
        ask: async ({ tool_use_id }) => {
          asked.push(tool_use_id);
          if (tool_use_id !== 't1') return { behavior: 'deny', message: 'asked' };
          const updatedPermissions = [
            rules('allow', 'Bash'),
            rules('deny', 'Write'),
            rules('ask', 'Glob'),
            { type: 'addDirectories', directories: [folder], destination: 'session' },
          ];
          return { behavior: 'allow', updatedPermissions };
        },
      },
    );
    await run.ask('go');
    expect(asked).toEqual(['t1', 't4']);
    expect(existsSync(join(run.cwd, 'b'))).toBe(true);
    expect(resultText(run.messages, 't3')).toMatch(/denied/);
    expect(resultText(run.messages, 't5')).toMatch(/does not exist/);
  });

  it('H1: one that cannot be used is told to the host, not to the model alone', async () => {
    const run = await start([{ toolUse: call('Bash', { command: 'touch a' }, 't1') }, 'ok'], {
      ask: async () => ({ behavior: 'maybe' }),
    });
    await run.ask('go');
    expect(run.messages).toContainEqual(
      expect.objectContaining({
        subtype: 'informational',
        level: 'error',
        content: expect.stringContaining('behavior'),
      }),
    );
  });
});

describe('what nobody may be able to do', () => {
  it('bypass does not come back from the log of a session that was opened for it', async () => {
    const store = createMemoryStore();
    const sessionId = '99999999-2222-4333-8444-555555555557';
    const first = await start(['ok'], { store, config: { sessionId, allowDangerouslySkipPermissions: true } });
    first.session.setPermissionMode('bypassPermissions');
    await first.ask('go');
    const again = await start(['ok'], { store, cwd: first.cwd, config: { resume: sessionId } });
    expect(again.session.scope.state.mode).toBe('default');
    first.session.setPermissionMode('acceptEdits');
    const third = await start(['ok'], { store, cwd: first.cwd, config: { resume: sessionId } });
    expect(third.session.scope.state.mode).toBe('acceptEdits');
  });

  it('B1: a tool that does not hear its signal holds up neither interrupt nor close', async () => {
    const started = Promise.withResolvers<void>();
    const deaf = {
      name: 'Deaf',
      description: 'hears nothing',
      inputSchema: { type: 'object' },
      parse: () => ({}),
      isReadOnly: () => true,
      run: () => {
        started.resolve();
        return new Promise<never>(() => {});
      },
    };
    const run = await start([{ toolUse: call('Deaf', {}, 't1') }], { tools: [deaf] });
    const result = run.ask('go');
    await started.promise;
    run.session.interrupt();
    await run.clock.armed();
    run.clock.advance(2_000);
    expect(await result).toMatchObject({ is_error: false, terminal_reason: 'aborted_tools' });
    await run.session.close();
  });

  it.each<[string, Partial<SessionConfig>]>([
    ['maxBudgetUsd', { maxBudgetUsd: Number.NaN }],
    ['maxBudgetUsd', { maxBudgetUsd: 'abc' as never }],
    ['maxTurns', { maxTurns: Number.NaN }],
    ['tools', { tools: 'Read' as never }],
    ['allowedTools', { allowedTools: '*' as never }],
    ['permissionMode', { permissionMode: 'bogus' as never }],
    ['systemPrompt', { systemPrompt: 5 as never }],
    ['sessionId', { sessionId: '../../../escaped' }],
    ['effort', { effort: 'huge' as never }],
    ['thinking', { thinking: { type: 'enabled', budgetTokens: 'x' as never } }],
    ['maxThinkingTokens', { maxThinkingTokens: -3 }],
    ['model', { model: 7 as never }],
  ])('H1: %s of the wrong kind is an error that names it', async (path, config) => {
    await expect(start([], { config })).rejects.toMatchObject({ code: 'invalid_config', data: { path } });
  });
});

describe('endless loops end', () => {
  it('every model overloaded: each fallback is tried once', async () => {
    const script = Array.from({ length: 12 }, () => ({ error: overloaded() }));
    const run = await start(script, { config: { model: 'opus', fallbackModel: 'sonnet,haiku', maxRetries: 3 } });
    let isOver = false;
    const result = run.ask('go').then((message) => {
      isOver = true;
      return message;
    });
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      run.clock.advance(60_000);
    }
    expect(await result).toMatchObject({ is_error: true, error_code: 'model_overloaded' });
    expect(new Set(run.model.requests.map((request) => request.body.model)).size).toBe(3);
    expect(outline(run.messages).filter((line) => line === 'system/model_fallback')).toHaveLength(2);
  });

  it('a model that always pauses', async () => {
    const run = await start(Array.from({ length: 21 }, () => ({ text: 'hm', stopReason: 'pause_turn' })));
    expect(await run.ask('go')).toMatchObject({ stop_reason: 'pause_turn' });
    run.model.assertDone();
  });
});

describe('money', () => {
  it('G7: tools, system prompt and wide characters count before a call is sent', async () => {
    const run = await start(['ok'], { config: { maxBudgetUsd: 0.1 } });
    expect(await run.ask('漢'.repeat(60_000))).toMatchObject({ subtype: 'error_max_budget_usd' });
    expect(run.model.requests).toHaveLength(0);
  });

  it('G7: a model without a price is refused under a budget, also later and as a fallback', async () => {
    const run = await start(['ok'], { config: { maxBudgetUsd: 1 } });
    await expect(run.session.setModel('mystery')).rejects.toMatchObject({ code: 'budget_unpriced' });
    const opening = start(['ok'], { config: { maxBudgetUsd: 1, fallbackModel: 'mystery' } });
    await expect(opening).rejects.toMatchObject({ code: 'budget_unpriced' });
  });

  it('G6: an answer that arrives twice under one id is counted once', async () => {
    const same = { id: 'same', text: 'x' };
    const run = await start([same, same]);
    await run.ask('1');
    expect(await run.ask('2')).toMatchObject({ modelUsage: { 'claude-sonnet-4-5-20250929': { inputTokens: 100 } } });
  });

  it('a resumed session does not start with the costs of its past', async () => {
    const store = createMemoryStore();
    const sessionId = '99999999-2222-4333-8444-555555555558';
    const usage = { output_tokens: 1_000_000 };
    const first = await start([{ id: 'dear', text: 'x', usage }], { store, config: { sessionId } });
    await first.ask('go');
    const again = await start([{ id: 'next', text: 'y' }], {
      store,
      cwd: first.cwd,
      config: { resume: sessionId, maxBudgetUsd: 1 },
    });
    const result = await again.ask('more');
    expect(result.subtype).toBe('success');
    expect(result.total_cost_usd).toBeGreaterThan(15);
  });
});

describe('what the API would refuse', () => {
  it('G10: a turn that was refused leaves the context, and the next one works', async () => {
    const refused = new HeddleError('model_bad_request', 'bad', { data: { status: 400, message: 'bad image' } });
    const run = await start(['first', { error: refused }, 'fine']);
    await run.ask('1');
    expect(await run.ask('poison')).toMatchObject({ is_error: true, error_code: 'model_bad_request' });
    expect(await run.ask('hi')).toMatchObject({ is_error: false, result: 'fine' });
    const sent = JSON.stringify(run.model.requests[2]?.body.messages);
    expect(sent).toMatch(/Working directory.*first.*hi/s);
    expect(sent).not.toContain('poison');
  });

  it('empty texts are not sent: of the model and of the user', async () => {
    const run = await start([{ text: '' }, 'said', 'ok']);
    expect(await run.ask('')).toMatchObject({ result: 'said' });
    await run.ask('   ');
    for (const request of run.model.requests) {
      for (const message of request.body.messages) {
        for (const block of message.content as { type: string; text?: string }[]) {
          if (block.type === 'text') expect(block.text?.trim()).not.toBe('');
        }
      }
    }
  });

  it('a call id that comes twice is run twice', async () => {
    const again = { toolUse: call('Bash', { command: 'echo hi' }, 'same') };
    const run = await start([again, again, 'ok']);
    expect(await run.ask('go')).toMatchObject({ result: 'ok', num_turns: 3 });
  });
});
