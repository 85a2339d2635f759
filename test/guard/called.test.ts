/** What a session is called with, and what answers bring: checked as settings files are. */
import { readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { PermissionUpdate, SessionConfig } from '../../src/protocol/index.js';
import { resolveSettings } from '../../src/sdk/index.js';
import { resultText, type RunOptions, scratch } from '../engine/kit.js';
import { hasBubblewrap, skipNote } from '../sandbox/box.js';
import { LOCAL, MANAGED, USER } from '../settings/place.js';
import { bash, BYPASS, createStage, notices, person, type Stage } from './stage.js';

const rule = (toolName: string, more: object): PermissionUpdate => ({
  type: 'addRules',
  rules: [{ toolName }],
  behavior: 'allow',
  destination: 'session',
  ...more,
});

describe('options of a call', () => {
  it.each<[Partial<SessionConfig>, string, RegExp]>([
    [{ disallowedTools: ['Read', 'Bassh'] }, 'disallowedTools[1]', /"Bassh" names no tool; did you mean "Bash"\?/],
    [{ disallowedTools: ['bash(rm:*)'] }, 'disallowedTools[0]', /did you mean "Bash"\?/],
    [{ disallowedTools: [''] }, 'disallowedTools[0]', /it is empty/],
    [{ disallowedTools: ['Bash(rm'] }, 'disallowedTools[0]', /its bracket is not closed/],
    [{ disallowedTools: ['Bash()'] }, 'disallowedTools[0]', /can never match/],
    [{ allowedTools: ['Bash('] }, 'allowedTools[0]', /its bracket is not closed/],
    [{ settingSources: ['user', 'foo'] as never }, 'settingSources', /a list of user, project, local/],
    [{ settingSources: 'user' as never }, 'settingSources', /a list of user, project, local/],
    [{ trusted: 'no' as never }, 'trusted', /true or false/],
  ])('%j is refused, and the field is named (D3)', async (config, path, message) => {
    await expect(createStage().open([], { config })).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringMatching(message),
      data: { path },
    });
  });

  it('rules for tools that nobody here knows are told, and those of the host are known', async () => {
    const tools = [{ ...OWN_TOOL, name: 'Ship' }];
    const config = {
      allowedTools: ['bash', 'Ship', 'mcp__x__y'],
      disallowedTools: ['TheirTool', 'Ship'],
    };
    const run = await createStage().open(['ok'], { config, tools });
    await run.ask('go');
    expect(notices(run.messages)).toEqual([
      'options: allowedTools[0]: "bash" names no tool; did you mean "Bash"?',
      'options: disallowedTools[0]: "TheirTool" names no tool',
    ]);
  });
});

const OWN_TOOL = {
  name: 'Ship',
  description: 'ships',
  inputSchema: { type: 'object' as const, properties: {} },
  run: () => Promise.resolve({ content: 'shipped' }),
};

describe('rules in an answer', () => {
  const answering = async (stage: Stage, updatedPermissions: unknown[]) => {
    const { ask } = person(() => ({ behavior: 'allow', updatedPermissions }));
    const run = await stage.open([bash('touch made', 'a'), bash('touch more', 'b'), 'ok'], { ask });
    return { run, ask: async () => (await run.ask('go'), run) };
  };

  it('are all kept or none, also where a file broke meanwhile', async () => {
    const stage = createStage();
    const { run, ask } = await answering(stage, [
      rule('Bash(touch more)', { destination: 'userSettings' }),
      rule('Bash(touch more)', { destination: 'localSettings' }),
      rule('Bash(touch more)', { destination: 'session' }),
    ]);
    writeFileSync(stage.write(LOCAL, {}), '{"permissions": {');
    await ask();
    expect(resultText(run.messages, 'a')).toMatch(/settings\.local\.json:1:18: .*It was not changed/);
    expect([stage.exists('home/shop/made'), stage.exists('home/shop/more'), stage.exists(USER)]).toEqual([
      false,
      false,
      false,
    ]);
    const book = await run.session.scope.guard.rules();
    expect(book.allow.exactLine('touch more')).toBeUndefined();
  });

  it('that cannot be read are refused for the session too: the call does not run', async () => {
    const stage = createStage();
    const { run, ask } = await answering(stage, [rule('Read', {}), rule('Bash(()', {})]);
    await ask();
    expect(resultText(run.messages, 'a')).toContain('updatedPermissions[1].rules[0] cannot be used: "Bash(()"');
    expect(stage.exists('home/shop/made')).toBe(false);
  });

  it('that deny what nobody knows are told', async () => {
    const stage = createStage();
    const { run, ask } = await answering(stage, [rule('Nope', { behavior: 'deny' })]);
    await ask();
    expect(stage.exists('home/shop/made')).toBe(true);
    expect(notices(run.messages)).toContain('updatedPermissions[0].rules[0]: "Nope" names no tool');
  });
});

describe('the option sandbox is a part of the settings', () => {
  it.each([
    [{ enabled: 'yes' }, /options: sandbox\.enabled: .*expected boolean/],
    [{ enabld: true }, /options: sandbox\.enabld: .*did you mean "enabled"\?/],
    [{ enabled: true, filesystem: { denyread: ['/x'] } }, /sandbox\.filesystem\.denyread: .*"denyRead"/],
    [{ enabled: true, filesystem: { denyRead: '/x' } }, /sandbox\.filesystem\.denyRead: .*expected array/],
    [{ enabled: true, denyRead: ['/x'] }, /sandbox\.denyRead: .*belongs into "sandbox\.filesystem"/],
    [true, /options: sandbox: .*expected object/],
    [{ enabled: true, network: { httpProxyPort: 70_000 } }, /sandbox\.network\.httpProxyPort: /],
    [{ enabled: true, network: { socksProxyPort: 0.5 } }, /sandbox\.network\.socksProxyPort: /],
  ])('%j is refused as in a file (E8)', async (sandbox, message) => {
    await expect(createStage().open([], { config: { sandbox: sandbox as never } })).rejects.toMatchObject({
      code: 'invalid_settings',
      message: expect.stringMatching(message),
    });
  });

  it('lists add up with those of all layers; of single values policy counts first, then the option', async () => {
    const stage = createStage();
    const listing = (name: string, more: object = {}) => ({
      filesystem: { denyRead: [`/r-${name}`], denyWrite: [`/w-${name}`] },
      network: { deniedDomains: [`${name}.example`] },
      ...more,
    });
    stage.write(MANAGED, { sandbox: listing('managed', { allowUnsandboxedCommands: false }) });
    stage.write(USER, { sandbox: listing('user', { autoAllowBashIfSandboxed: true }) });
    const run = await stage.open(['ok'], {
      config: {
        sandbox: listing('option', { allowUnsandboxedCommands: true, autoAllowBashIfSandboxed: false }),
        settings: JSON.stringify({ sandbox: listing('flag', { autoAllowBashIfSandboxed: true }) }),
      },
    });
    const names = ['managed', 'option', 'flag', 'user'];
    expect(run.session.scope.guard.settings.value.sandbox).toEqual({
      filesystem: { denyRead: names.map((name) => `/r-${name}`), denyWrite: names.map((name) => `/w-${name}`) },
      network: { deniedDomains: names.map((name) => `${name}.example`) },
      allowUnsandboxedCommands: false,
      autoAllowBashIfSandboxed: false,
    });
  });

  it('resolveSettings() names it as the source', async () => {
    const stage = createStage();
    const { sources } = await resolveSettings({ cwd: stage.project, env: stage.env, sandbox: { enabled: true } });
    expect(sources).toContainEqual({ path: 'sandbox.enabled', value: true, layer: 'flag', file: 'options' });
  });

  describe.skipIf(!hasBubblewrap)(`and with bubblewrap${skipNote}`, () => {
    it.each(['user', 'option', 'managed'])('what %s hides stays hidden, whatever the others say', async (who) => {
      const stage = createStage();
      const secret = stage.write('home/shop/secret/key', 'the secret');
      const sandboxOf = (name: string) => ({
        enabled: true,
        filesystem: name === who ? { denyRead: [secret] } : { denyWrite: ['/opt'], allowWrite: ['/var/tmp'] },
      });
      stage.write(USER, { sandbox: sandboxOf('user') });
      stage.write(MANAGED, { sandbox: sandboxOf('managed') });
      const run = await stage.open([bash(`cat ${secret}; echo done`), 'ok'], {
        config: { sandbox: sandboxOf('option'), ...BYPASS },
      });
      await run.ask('go');
      expect(resultText(run.messages, 't1')).toContain('done');
      expect(resultText(run.messages, 't1')).not.toContain('the secret');
    });

    it.each<[string, RunOptions]>([
      ['a budget without a price', { config: { maxBudgetUsd: 1, model: 'unpriced-model' } }],
      ['a tool that there is already', { tools: [{ ...OWN_TOOL, name: 'Bash' }] }],
    ])('nothing is left behind by a session that does not open: %s', async (_, options) => {
      const temporary = scratch();
      vi.stubEnv('TMPDIR', temporary);
      onTestFinished(() => void vi.unstubAllEnvs());
      const sandbox = { enabled: true, network: { allowedDomains: ['example.com'] } };
      await expect(createStage().open([], { ...options, config: { sandbox, ...options.config } })).rejects.toThrow();
      expect(readdirSync(temporary).filter((name) => name.startsWith('heddle-sandbox-'))).toEqual([]);
    });
  });
});

describe('a denial', () => {
  it('repeats of a long command only its beginning', async () => {
    const stage = createStage();
    const config = { disallowedTools: ['Bash(rm:*)'] };
    const run = await stage.open([bash(`rm ${'x'.repeat(300_000)}`), 'ok'], {
      config,
    });
    await run.ask('go');
    const text = resultText(run.messages, 't1');
    expect(text).toMatch(/^Permission to use Bash with command rm x+… \(298003 more characters\) has been denied/);
    expect(text.length).toBeLessThan(2_500);
  });
});
