import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../src/protocol/index.js';
import { connect, type Host } from './kit.js';

const WRITE = { toolUse: { name: 'Write', input: { file_path: 'made.txt', content: 'x' }, id: 't' } };

const deniedIn = (result: Message): number =>
  (result as { permission_denials?: unknown[] }).permission_denials?.length ?? -1;

const notices = ({ seen }: Host): string[] =>
  seen.flatMap((each) =>
    each.type === 'system' && each.subtype === 'informational' && each.tag === 'settings' ? [each.content] : [],
  );

describe('get_settings', () => {
  it('tells what counts, who says it, and what the session works with', async () => {
    const host = connect([], {
      settings: { model: 'sonnet', permissions: { allow: ['Bash(ls)'] }, language: 'French' },
      config: { settings: '{"permissions":{"deny":["WebFetch"]}}', effort: 'low', model: 'opus' },
    });
    const { effective, sources, applied } = await host.peer.request('get_settings', {});
    expect(effective).toEqual({
      model: 'sonnet',
      language: 'French',
      permissions: { allow: ['Bash(ls)'], deny: ['WebFetch'] },
    });
    expect(sources).toEqual([
      {
        source: 'userSettings',
        settings: { model: 'sonnet', permissions: { allow: ['Bash(ls)'] }, language: 'French' },
        file: join(host.configDir, 'settings.json'),
      },
      { source: 'flagSettings', settings: { permissions: { deny: ['WebFetch'] } }, file: '--settings' },
    ]);
    expect(applied).toEqual({ model: expect.stringContaining('opus'), effort: 'low', permissionMode: 'default' });
  });

  it('reads files that have changed', async () => {
    const host = connect([], { settings: { language: 'French' } });
    await host.peer.request('get_settings', {});
    writeFileSync(join(host.configDir, 'settings.json'), '{"language":"Latin, and longer"}');
    expect((await host.peer.request('get_settings', {})).effective).toEqual({ language: 'Latin, and longer' });
  });

  it('shows no secret, wherever it stands', async () => {
    const secret = 'swordfish-77';
    const hook = { type: 'http', url: `https://u:${secret}@example.org/h?key=${secret}`, headers: { A: secret } };
    const host = connect([], {
      settings: {
        env: { TOKEN: secret, NAMED: '${OTHER}' },
        apiKeyHelper: `echo ${secret}`,
        awsAuthRefresh: `login ${secret}`,
        otelHeadersHelper: secret,
        myApiKey: [secret],
        proxyUrl: `http://a:${secret}@h`,
        accessTokens: [secret],
        extraKnownMarketplaces: { m: { source: { source: 'git', url: `https://tok:${secret}@example.org/x` } } },
        hooks: { PreToolUse: [{ hooks: [hook] }] },
        mcpServers: {
          far: {
            type: 'http',
            url: `https://example.org/?token=${secret}`,
            headers: { Authorization: `Bearer ${secret}` },
          },
          near: { command: 'server', args: ['--api-key', secret, `--token=${secret}`], env: { KEY: secret } },
        },
      },
    });
    const report = await host.peer.request('get_settings', {});
    expect(JSON.stringify(report)).not.toContain(secret);
    expect(report.effective).toMatchObject({
      env: { TOKEN: '***', NAMED: '${OTHER}' },
      apiKeyHelper: '***',
      mcpServers: {
        near: { command: 'server', args: ['--api-key', '***', '--token=***'], env: { KEY: '***' } },
        far: { headers: { Authorization: '***' } },
      },
    });
  });
});

describe('apply_flag_settings', () => {
  it('a rule counts from the next call on, and null takes it back', async () => {
    const host = connect([WRITE, 'one', WRITE, 'two', WRITE, 'three']);
    expect(deniedIn(await host.ask('1'))).toBe(1);
    await host.peer.request('apply_flag_settings', { settings: { permissions: { allow: ['Write', 'Edit'] } } });
    expect(deniedIn(await host.ask('2'))).toBe(0);
    await host.peer.request('apply_flag_settings', { settings: { permissions: null } });
    expect(deniedIn(await host.ask('3'))).toBe(1);
    expect(notices(host)).toEqual([]);
  });

  it('keys of an earlier request stay, a key that is given again is replaced', async () => {
    const { peer } = connect();
    await peer.request('apply_flag_settings', { settings: { permissions: { deny: ['WebFetch'] }, model: 'opus' } });
    await peer.request('apply_flag_settings', { settings: { permissions: { deny: ['WebSearch'] } } });
    const { effective, sources, applied } = await peer.request('get_settings', {});
    expect(effective).toEqual({ permissions: { deny: ['WebSearch'] }, model: 'opus' });
    expect(sources).toMatchObject([{ source: 'flagSettings', file: 'apply_flag_settings' }]);
    expect(applied?.model).toContain('opus');
  });

  it('counts more than --settings and files, and survives a change of them', async () => {
    const host = connect([], { settings: { language: 'user' }, config: { settings: '{"language":"flag"}' } });
    await host.peer.request('apply_flag_settings', { settings: { language: 'applied' } });
    writeFileSync(join(host.configDir, 'settings.json'), '{"language":"another user"}');
    const { effective, sources } = await host.peer.request('get_settings', {});
    expect(effective.language).toBe('applied');
    expect(sources?.map(({ settings }) => settings.language)).toEqual(['another user', 'flag', 'applied']);
  });

  it('the model is that of the next turn; that of policy stays', async () => {
    const host = connect(['one', 'two']);
    await host.peer.request('apply_flag_settings', { settings: { model: 'haiku' } });
    await host.ask('1');
    expect(host.model.requests[0]?.body.model).toContain('haiku');
    await host.peer.request('apply_flag_settings', { settings: { model: null } });
    await host.ask('2');
    expect(host.model.requests[1]?.body.model).not.toContain('haiku');
    const ruled = connect(['one'], { config: { managedSettings: '{"model":"opus"}' } });
    await ruled.peer.request('apply_flag_settings', { settings: { model: 'haiku' } });
    await ruled.ask('1');
    expect(ruled.model.requests[0]?.body.model).toContain('opus');
  });

  it('hooks are declared and taken away', async () => {
    const host = connect([WRITE, 'one', WRITE, 'two'], { config: { permissionMode: 'acceptEdits' } });
    const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command: 'echo no >&2; exit 2' }] }] };
    await host.peer.request('apply_flag_settings', { settings: { hooks } });
    expect(deniedIn(await host.ask('1'))).toBe(1);
    await host.peer.request('apply_flag_settings', { settings: { hooks: null } });
    expect(deniedIn(await host.ask('2'))).toBe(0);
  });

  it('folders are opened and closed', async () => {
    const host = connect();
    const more = join(host.cwd, '..');
    await host.peer.request('apply_flag_settings', { settings: { permissions: { additionalDirectories: [more] } } });
    const open = await host.peer.request('list_permission_rules', {});
    expect(open.state.workspaceDirectories).toEqual([more]);
    await host.peer.request('apply_flag_settings', { settings: { permissions: null } });
    expect((await host.peer.request('list_permission_rules', {})).state.workspaceDirectories).toEqual([]);
  });

  it.each([
    ['a value of the wrong kind', { permissions: { allow: 'Bash' } }],
    ['half a rule', { permissions: { deny: ['Bash('] } }],
    ['a model without a price under a budget', { model: 'no-such-model' }],
  ])('%s is refused, and nothing changes', async (_, broken) => {
    const { peer } = connect([], { config: { maxBudgetUsd: 1 } });
    await peer.request('apply_flag_settings', { settings: { language: 'before' } });
    const before = await peer.request('get_settings', {});
    await expect(peer.request('apply_flag_settings', { settings: { language: 'after', ...broken } })).rejects.toThrow();
    expect(await peer.request('get_settings', {})).toEqual(before);
    await peer.request('apply_flag_settings', { settings: { language: 'later' } });
    expect((await peer.request('get_settings', {})).effective).toEqual({ language: 'later' });
  });

  it.each([{ sandbox: { enabled: true } }, { permissions: { disableBypassPermissionsMode: 'disable' } }])(
    'what would restrict and comes too late is refused: %j',
    async (settings) => {
      const { peer } = connect();
      const refused = peer.request('apply_flag_settings', { settings });
      await expect(refused).rejects.toMatchObject({ code: 'not_supported' });
      expect((await peer.request('get_settings', {})).effective).toEqual({});
    },
  );

  it('says what counts from the start alone', async () => {
    const host = connect();
    const settings = { env: { A: 'b' }, permissions: { defaultMode: 'plan', allow: ['Bash(ls)'] }, outputStyle: 'x' };
    await host.peer.request('apply_flag_settings', { settings });
    const told = await host.until((each) => each.type === 'system' && each.subtype === 'informational');
    expect(told).toMatchObject({
      level: 'warning',
      content: expect.stringContaining('change nothing in this one: env, permissions.defaultMode, outputStyle.'),
    });
  });

  it('what a hook has kept from counting still does not', async () => {
    const block = { type: 'command', command: 'echo no >&2; exit 2' };
    const host = connect([], { settings: { hooks: { ConfigChange: [{ hooks: [block] }] }, language: 'French' } });
    await host.peer.request('get_settings', {});
    writeFileSync(join(host.configDir, 'settings.json'), '{"language":"a change that is refused"}');
    await host.peer.request('apply_flag_settings', { settings: { autoCompactEnabled: false } });
    expect((await host.peer.request('get_settings', {})).effective).toMatchObject({
      language: 'French',
      autoCompactEnabled: false,
    });
  });
});

describe('list_permission_rules', () => {
  it('tells the rules that count, layer by layer, and the folders', async () => {
    const host = connect([], {
      settings: {
        permissions: { allow: ['Bash(ls)', { tool: 'Read', path: '/a' }], deny: ['WebFetch'], ask: ['Edit'] },
      },
      config: { allowedTools: ['Write'], disallowedTools: ['WebSearch'], additionalDirectories: ['/usr'] },
    });
    const { state } = await host.peer.request('list_permission_rules', {});
    expect(state).toEqual({
      rules: [
        { rule: 'WebFetch', behavior: 'deny', source: 'user' },
        { rule: 'Edit', behavior: 'ask', source: 'user' },
        { rule: 'Bash(ls)', behavior: 'allow', source: 'user' },
        { rule: '{"tool":"Read","path":"/a"}', behavior: 'allow', source: 'user' },
        { rule: 'WebSearch', behavior: 'deny', source: 'flag' },
        { rule: 'Write', behavior: 'allow', source: 'flag' },
      ],
      workspaceDirectories: ['/usr'],
      originalCwd: host.cwd,
      managedOnly: false,
    });
  });

  it('leaves out what does not count: allowances of a folder that nobody trusts, and of others than policy', async () => {
    const host = connect([], { config: { settingSources: ['project'] } });
    mkdirSync(join(host.cwd, '.claude'));
    const rules = { permissions: { allow: ['Bash(ls)'], deny: ['WebFetch'] } };
    writeFileSync(join(host.cwd, '.claude', 'settings.json'), JSON.stringify(rules));
    const { state } = await host.peer.request('list_permission_rules', {});
    expect(state.rules).toEqual([{ rule: 'WebFetch', behavior: 'deny', source: 'project' }]);
    const managedSettings = '{"allowManagedPermissionRulesOnly":true,"permissions":{"allow":["Bash(pwd)"]}}';
    const ruled = connect([], { settings: rules, config: { managedSettings, allowedTools: ['Write'] } });
    expect((await ruled.peer.request('list_permission_rules', {})).state).toMatchObject({
      rules: [
        { rule: 'Bash(pwd)', behavior: 'allow', source: 'managed' },
        { rule: 'WebFetch', behavior: 'deny', source: 'user' },
      ],
      managedOnly: true,
    });
  });
});

describe('get_hooks_listing', () => {
  it('tells the hooks of settings and of the host, and every event', async () => {
    const { peer } = connect([], {
      settings: {
        hooks: {
          PreToolUse: [
            {
              matcher: 'Bash',
              hooks: [{ type: 'command', command: 'check https://u:swordfish@h', timeout: 5, if: 'Bash(rm:*)' }],
            },
          ],
          Stop: [{ hooks: [{ type: 'http', url: 'https://example.org/stop?key=swordfish' }] }],
        },
      },
    });
    await peer.request('initialize', { hooks: { PreToolUse: [{ matcher: 'Write', hookCallbackIds: ['hook_0'] }] } });
    const listing = await peer.request('get_hooks_listing', {});
    const common = { timeout: 60, onFailure: 'ask' };
    expect(listing.hooks).toEqual([
      { event: 'PreToolUse', matcher: 'Write', type: 'callback', source: 'callback', name: 'callback', ...common },
      {
        event: 'PreToolUse',
        matcher: 'Bash',
        type: 'command',
        source: 'user',
        name: 'check https://***@h',
        if: 'Bash(rm:*)',
        ...common,
        timeout: 5,
      },
      { event: 'Stop', type: 'http', source: 'user', name: 'https://example.org/stop', ...common },
    ]);
    expect(listing.events).toEqual(['PreToolUse', 'Stop']);
    expect(listing.policy).toEqual({ disableAllHooks: false, managedOnly: false });
    const [first] = listing.eventCatalog ?? [];
    expect(first).toMatchObject({ event: 'PreToolUse', matchField: 'tool_name', gate: true, happens: true });
    expect(listing.eventCatalog?.find(({ event }) => event === 'TeammateIdle')?.happens).toBe(false);
  });

  it('lists none where they are switched off, and says so', async () => {
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'x' }] }] };
    const { peer } = connect([], { settings: { hooks, disableAllHooks: true } });
    expect(await peer.request('get_hooks_listing', {})).toMatchObject({
      events: [],
      hooks: [],
      policy: { disableAllHooks: true },
    });
  });
});
