import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { readEnvironment } from '../../src/cli/environment.js';
import { createMemoryStore } from '../../src/engine/index.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import type { Message } from '../../src/protocol/index.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { chooseCarrier, toCommand } from '../../src/sdk/carrier.js';
import { type Options, query } from '../../src/sdk/index.js';
import { toSessionConfig } from '../../src/sdk/options.js';
import { PATH_ENV, scratch } from '../engine/kit.js';

async function run(options: Options, script: Parameters<typeof createScriptedModel>[0] = ['ok']) {
  const model = createScriptedModel(script);
  const messages: Message[] = [];
  const heddle = { provider: model, store: createMemoryStore(), ...options.heddle };
  for await (const message of query({ prompt: 'go', options: { cwd: scratch(), env: PATH_ENV, ...options, heddle } })) {
    messages.push(message);
  }
  return { messages, model, body: model.requests[0]?.body, init: messages[0] };
}

describe('options that act', () => {
  it('what is wrong with a preset is said of the preset', () => {
    const systemPrompt = { type: 'preset', preset: 'claude_code', append: 7 } as unknown as Options['systemPrompt'];
    expect(() => query({ prompt: 'x', options: { systemPrompt } })).toThrow('systemPrompt.append must be a string');
  });

  it.each<[string, Options, object]>([
    ['model', { model: 'haiku' }, { model: expect.stringContaining('haiku') }],
    ['systemPrompt', { systemPrompt: 'Be kind.' }, { system: [{ text: 'Be kind.' }] }],
    ['systemPrompt of parts', { systemPrompt: ['A.', 'B.'] }, { system: [{ text: 'A.' }, { text: 'B.' }] }],
    [
      'systemPrompt preset',
      { systemPrompt: { type: 'preset', preset: 'claude_code', append: 'Z.' } },
      { system: [{}, { text: 'Z.' }] },
    ],
    [
      'no systemPrompt',
      {},
      { system: [{ text: expect.stringMatching(/^You are an agent that works through tools/) }] },
    ],
    [
      'no systemPrompt: a style counts',
      { settings: { outputStyle: 'Explanatory' } },
      { system: [{}, { text: expect.stringContaining('Explain as you go') }] },
    ],
    [
      'an empty systemPrompt: it does not',
      { systemPrompt: '', settings: { outputStyle: 'Explanatory' } },
      { system: [{ text: expect.stringMatching(/^You are an agent that works through tools/) }] },
    ],
    ['thinking', { thinking: { type: 'adaptive' } }, { thinking: { type: 'adaptive' } }],
    ['maxThinkingTokens', { maxThinkingTokens: 4_000 }, { thinking: { type: 'enabled', budget_tokens: 4_000 } }],
    ['effort', { effort: 'low' }, { output_config: { effort: 'low' } }],
    ['tools', { tools: ['Read'] }, { tools: [{ name: 'Read' }] }],
  ])('%s', async (_, options, expected) => {
    expect((await run(options)).body).toMatchObject(expected);
  });

  it.each<[string, Options, object]>([
    ['permissionMode', { permissionMode: 'plan' }, { permissionMode: 'plan' }],
    ['betas', { betas: ['context-1m-2025-08-07'] }, { betas: ['context-1m-2025-08-07'] }],
    [
      'sessionId',
      { sessionId: '99999999-2222-4333-8444-555555555555' },
      { session_id: '99999999-2222-4333-8444-555555555555' },
    ],
    ['additionalDirectories', { additionalDirectories: ['/'] }, { additional_directories: ['/'] }],
    ['strictMcpConfig', { strictMcpConfig: true }, { mcp_servers: [] }],
    ['settingSources: none', { settingSources: [] }, { type: 'system' }],
  ])('%s', async (_, options, expected) => {
    expect((await run(options)).init).toMatchObject(expected);
  });

  it('extraArgs speak the language of flags', async () => {
    const { messages } = await run({ extraArgs: { 'replay-user-messages': null, model: 'opus' } });
    expect(messages).toContainEqual(expect.objectContaining({ type: 'user', isReplay: true }));
    expect(messages[0]).toMatchObject({ model: expect.stringContaining('opus') });
    await expect(run({ extraArgs: { 'no-such-flag': null } })).rejects.toMatchObject({ code: 'invalid_config' });
  });

  it('CLAUDE_CODE_MAX_RETRIES counts here too', async () => {
    const down = new HeddleError('model_server', 'down', { retryable: true, data: { status: 500 } });
    const { messages, model } = await run({ env: { ...PATH_ENV, CLAUDE_CODE_MAX_RETRIES: '0' } }, [{ error: down }]);
    expect(model.requests).toHaveLength(1);
    expect(messages.at(-1)).toMatchObject({ error_code: 'model_server' });
  });

  it('stderr, debug and debugFile get diagnostics of an engine in this process', async () => {
    const debugFile = join(scratch(), 'debug.log');
    const lines: string[] = [];
    const store = createMemoryStore();
    store.append = () => {
      throw new Error('disk full');
    };
    await run({ debugFile, stderr: (line) => lines.push(line), heddle: { store } });
    expect(lines.join('')).toContain('disk full');
    expect(readFileSync(debugFile, 'utf8')).toContain('disk full');
  });
});

describe('options that cannot act say why', () => {
  it.each<[string, Options]>([['promptSuggestions', { promptSuggestions: true }]])('%s', async (_, options) => {
    const attempt = (async () => run(options))();
    await expect(attempt).rejects.toMatchObject({ code: 'not_supported', hint: expect.stringContaining('Leave') });
  });

  it.each<[string, Options]>([
    ['unknown', { bogus: 1 } as Options],
    [
      'canUseTool with permissionPromptToolName',
      { canUseTool: async () => ({ behavior: 'allow' }), permissionPromptToolName: 'x' },
    ],
    ['continue with resume', { continue: true, resume: 'x' }],
    ['a source of settings that is none', { settingSources: ['foo' as never] }],
  ])('invalid: %s', (_, options) => {
    expect(() => query({ prompt: 'x', options })).toThrow(expect.objectContaining({ code: 'invalid_config' }));
  });

  it('parts for an engine in this process do not go with another carrier', async () => {
    const options: Options = { heddle: { carrier: 'subprocess', provider: createScriptedModel([]) } };
    await expect(query({ prompt: 'x', options }).next()).rejects.toMatchObject({ code: 'invalid_config' });
  });
});

describe('other carriers loosen nothing', () => {
  it('a sandbox travels among the settings to a child process, and is refused where it cannot be asked for', async () => {
    const options: Options = { sandbox: { enabled: true }, heddle: { carrier: 'subprocess' } };
    const { args } = toCommand(options, toSessionConfig(options, { cwd: '/somewhere', env: {}, isRoot: false }));
    expect(args).toContain('--settings={"sandbox":{"enabled":true}}');
    const remote: Options = { sandbox: { enabled: true }, heddle: { carrier: { url: 'ws://127.0.0.1:1' } } };
    await expect(query({ prompt: 'x', options: remote }).next()).rejects.toMatchObject({
      code: 'not_supported',
      hint: expect.stringContaining('config or configFor of createServer'),
    });
  });

  describe('a sandbox and settings with one, for a child process', () => {
    const argsOf = (sandbox: unknown, settings: unknown) => {
      const options = { sandbox, settings, heddle: { carrier: 'subprocess' } } as Options;
      return toCommand(options, toSessionConfig(options, { cwd: '/somewhere', env: {}, isRoot: false })).args;
    };

    it('lists add up, of two values that of the option counts', () => {
      const args = argsOf(
        { enabled: true, filesystem: { denyRead: ['/a', '/b'] } },
        { model: 'm', sandbox: { enabled: false, filesystem: { denyRead: ['/b', '/c'], denyWrite: ['/d'] } } },
      );
      const filesystem = { denyRead: ['/a', '/b', '/c'], denyWrite: ['/d'] };
      expect(args).toContain(`--settings=${JSON.stringify({ model: 'm', sandbox: { enabled: true, filesystem } })}`);
    });

    it.each([
      [{ enabled: true }, { sandbox: { enabled: 'no' } }, /^sandbox\.enabled: /],
      [{ enabled: true }, { sandbox: true }, /^sandbox: /],
      [
        { filesystem: { denyRead: '/x' } },
        { sandbox: { filesystem: { denyRead: ['/y'] } } },
        /^sandbox\.filesystem\.denyRead: /,
      ],
      [{ enabled: true }, '{"sandbox": {', /^settings: it is no JSON: /],
    ])('%j with %j hides nothing that is wrong', (sandbox, settings, message) => {
      expect(() => argsOf(sandbox, settings)).toThrow(
        expect.objectContaining({ code: 'invalid_settings', message: expect.stringMatching(message) }),
      );
    });
  });

  it.each<[string, Options]>([
    ['tools', { tools: 5 as never }],
    ['disallowedTools', { disallowedTools: { 0: 'Bash' } as never }],
    ['model', { model: 5 as never }],
    ['debugFile', { debugFile: 5 as never }],
  ])('H1: %s of the wrong kind is refused before a process is started', (path, options) => {
    const start = () => query({ prompt: 'x', options: { ...options, heddle: { carrier: 'subprocess' } } });
    expect(start).toThrow(expect.objectContaining({ code: 'invalid_config', data: { path } }));
  });

  it('bypassing needs its second word, and a carrier must be one', async () => {
    const bypass = () => query({ prompt: 'x', options: { permissionMode: 'bypassPermissions' } });
    expect(bypass).toThrow(expect.objectContaining({ code: 'invalid_config' }));
    expect(() => chooseCarrier({ heddle: { carrier: 'zz' as never } }, {})).toThrow(
      expect.objectContaining({ code: 'invalid_config' }),
    );
  });

  it('diagnostics that cannot be told do not break the run', async () => {
    const down = new HeddleError('model_server', 'down', { retryable: false, data: { status: 500 } });
    const stderr = () => {
      throw new Error('mine');
    };
    const store = createMemoryStore();
    store.append = () => {
      throw new Error('disk full');
    };
    const { messages } = await run({ stderr, debug: true, debugFile: '/nope/x', heddle: { store } }, [{ error: down }]);
    expect(messages.at(-1)).toMatchObject({ error_code: 'model_server' });
  });
});

describe('where the engine runs', () => {
  const ambient = { cwd: '/somewhere', env: {}, isRoot: false };

  it.each<[string, Options, Record<string, string>, unknown]>([
    ['nothing said', {}, {}, 'in-process'],
    ['a path', { pathToClaudeCodeExecutable: '/x/cli.js' }, {}, 'subprocess'],
    ['a path in the environment', {}, { CLAUDE_CODE_EXECUTABLE: '/x/cli' }, 'subprocess'],
    ['a runtime', { executable: 'bun' }, {}, 'subprocess'],
    ['a carrier', { heddle: { carrier: { url: 'ws://127.0.0.1:1' } } }, {}, { url: 'ws://127.0.0.1:1' }],
  ])('%s', (_, options, env, carrier) => {
    expect(chooseCarrier(options, env)).toEqual(carrier);
  });

  it('a script is run by a runtime, anything else by itself, with the flags such a CLI expects', () => {
    const options: Options = {
      pathToClaudeCodeExecutable: '/x/cli.mjs',
      executableArgs: ['--trace'],
      model: 'sonnet',
      allowedTools: ['Read', 'Bash(git log:*)'],
      extraArgs: { 'some-flag': 'v', other: null },
    };
    const { command, args } = toCommand(options, toSessionConfig(options, ambient));
    expect(command).toBe(process.execPath);
    expect(args.slice(0, 7)).toEqual([
      '--trace',
      '/x/cli.mjs',
      '--output-format',
      'stream-json',
      '--verbose',
      '--input-format',
      'stream-json',
    ]);
    expect(args).toEqual(expect.arrayContaining(['--model=sonnet', '--setting-sources=', '--some-flag=v', '--other']));
    expect(args.join(' ')).not.toContain('system-prompt');
    const native = { ...options, pathToClaudeCodeExecutable: '/x/claude' };
    expect(toCommand(native, toSessionConfig(native, ambient)).command).toBe('/x/claude');
  });
});

describe('bypassPermissions as root', () => {
  const bypass: Options = { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true };
  const root = (env: Record<string, string>) => ({ cwd: '/', env, isRoot: true });

  it('is refused without a word that nothing can be broken', () => {
    expect(() => toSessionConfig(bypass, root({}))).toThrow('refused for root');
    expect(() => toSessionConfig({ allowDangerouslySkipPermissions: true }, root({}))).toThrow('refused for root');
    expect(toSessionConfig(bypass, root({ IS_SANDBOX: '1' })).permissionMode).toBe('bypassPermissions');
    for (const word of ['yes', '0', 'false', '']) {
      expect(() => toSessionConfig(bypass, root({ IS_SANDBOX: word }))).toThrow('refused for root');
      expect(readEnvironment({ IS_SANDBOX: word }, '/home/me').isSandbox).toBe(false);
    }
    expect(toSessionConfig({}, root({})).permissionMode).toBeUndefined();
  });

  it.each([
    [{ 'dangerously-skip-permissions': null }],
    [{ 'permission-mode': 'bypassPermissions' }],
    [{ 'allow-dangerously-skip-permissions': null }],
  ])('is refused as a flag, too: %j', async (extraArgs: Record<string, string | null>) => {
    const user = vi.spyOn(process, 'getuid').mockReturnValue(0);
    try {
      await expect(run({ extraArgs, env: { ...PATH_ENV, IS_SANDBOX: '' } })).rejects.toThrow('refused for root');
      const { init } = await run({ extraArgs });
      expect(init).toMatchObject({ type: 'system' });
    } finally {
      user.mockRestore();
    }
  });
});
