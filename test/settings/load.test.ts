import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settingsFiles } from '../../src/engine/settings/files.js';
import { listRules, loadSettings, reloadSettings, resolveSettings } from '../../src/engine/settings/load.js';
import { refuseBrokenSettings } from '../../src/engine/settings/problem.js';
import { createPlace, LOCAL, MANAGED, problemsOf, PROJECT, USER } from './place.js';

const hooks = (command: string) => ({ PreToolUse: [{ hooks: [{ type: 'command', command }] }] });
const permissions = (rules: object) => ({ permissions: rules });

describe('loadSettings', () => {
  it('no file at all is fine', async () => {
    const place = createPlace();
    expect(await place.load()).toMatchObject({ value: {}, origins: {}, ruleLayers: [], inert: [], problems: [] });
  });

  it('managed over flag over local over project over user, key by key', async () => {
    const place = createPlace();
    place.write(USER, { model: 'user', language: 'user', agent: 'user', outputStyle: 'user', effortLevel: 'low' });
    place.write(PROJECT, { model: 'project', language: 'project', agent: 'project', outputStyle: 'project' });
    place.write(LOCAL, { model: 'local', language: 'local', agent: 'local' });
    place.write(MANAGED, { model: 'managed' });
    const loaded = await place.load({ flag: '{"model": "flag", "language": "flag"}' });
    expect(loaded.value).toEqual({
      model: 'managed',
      language: 'flag',
      agent: 'local',
      outputStyle: 'project',
      effortLevel: 'low',
    });
    expect(loaded.origins).toEqual({
      model: 'managed',
      language: 'flag',
      agent: 'local',
      outputStyle: 'project',
      effortLevel: 'user',
    });
  });

  it('rules and hooks of all layers add up; variables and servers by name', async () => {
    const place = createPlace();
    place.write(USER, {
      ...permissions({ allow: ['Read', 'Bash(a)'], deny: ['Bash(x)'] }),
      env: { A: 'user', B: 'user' },
      hooks: hooks('user'),
      mcpServers: { db: { command: 'user', args: ['1'] }, web: { command: 'web' } },
    });
    place.write(PROJECT, {
      ...permissions({ allow: ['Read', 'Bash(b)'], ask: ['Edit'] }),
      env: { B: 'project' },
      hooks: hooks('project'),
      mcpServers: { db: { command: 'project' } },
    });
    const { value, origins, ruleLayers, hookSources } = await place.load();
    expect(value.permissions).toEqual({ allow: ['Read', 'Bash(b)', 'Bash(a)'], ask: ['Edit'], deny: ['Bash(x)'] });
    expect(value.env).toEqual({ A: 'user', B: 'project' });
    // Half of one server and half of another would be neither.
    expect(value.mcpServers).toEqual({ db: { command: 'project' }, web: { command: 'web' } });
    expect(value.hooks?.PreToolUse).toHaveLength(2);
    expect(origins).toMatchObject({
      'permissions.allow[0]': 'project',
      'permissions.allow[2]': 'user',
      'env.A': 'user',
      'env.B': 'project',
      'hooks.PreToolUse[1]': 'user',
      'mcpServers.db': 'project',
    });
    const base = place.project;
    expect(ruleLayers).toEqual([
      { name: 'project', base, allow: ['Read', 'Bash(b)'], ask: ['Edit'], deny: [] },
      { name: 'user', base, allow: ['Read', 'Bash(a)'], ask: [], deny: ['Bash(x)'] },
    ]);
    expect(hookSources.map(({ layer }) => layer)).toEqual(['project', 'user']);
  });

  it('a list that says what alone is allowed is not widened by a weaker layer', async () => {
    const place = createPlace();
    place.write(MANAGED, { availableModels: ['a'] });
    place.write(USER, { availableModels: ['a', 'b'] });
    expect((await place.load()).value.availableModels).toEqual(['a']);
  });

  it('policy in parts: the later part is stronger, folders in order, policy of the host last', async () => {
    const place = createPlace();
    place.write(MANAGED, { model: 'base', language: 'base', agent: 'base', ...permissions({ deny: ['Bash(a)'] }) });
    place.write('etc/managed-settings.d/10.json', {
      model: '10',
      language: '10',
      ...permissions({ deny: ['Bash(b)'] }),
    });
    place.write('etc/managed-settings.d/20.json', { model: '20' });
    place.write('etc2/managed-settings.json', { agent: 'other', outputStyle: 'other' });
    const files = { ...place.files, managed: [place.path('etc'), place.path('etc2')] };
    const { value } = await place.load({
      files,
      managed: '{"outputStyle": "host", "permissions": {"deny": ["Bash(c)"]}}',
    });
    expect(value).toMatchObject({ model: '20', language: '10', agent: 'base', outputStyle: 'other' });
    expect(value.permissions?.deny).toEqual(['Bash(b)', 'Bash(a)', 'Bash(c)']);
  });

  it('only the sources that were asked for are read; policy always', async () => {
    const place = createPlace();
    place.write(USER, { language: 'user' });
    place.write(PROJECT, '{ broken');
    place.write(LOCAL, { agent: 'local' });
    place.write(MANAGED, { model: 'managed' });
    expect(await place.load({ sources: [] })).toMatchObject({ value: { model: 'managed' }, problems: [] });
    expect((await place.load({ sources: ['user'] })).value).toEqual({ model: 'managed', language: 'user' });
    expect((await place.load({ sources: ['local'] })).value).toEqual({ model: 'managed', agent: 'local' });
  });

  it('--settings is JSON or a file, and one that is not there is fatal', async () => {
    const place = createPlace();
    place.write('home/shop/more.json', '{ "model": "file", }');
    expect((await place.load({ flag: 'more.json' })).value).toEqual({ model: 'file' });
    expect((await place.load({ flag: '../shop/more.json', cwd: place.project })).value).toEqual({ model: 'file' });
    expect((await place.load({ flag: '  {"model": "text"}' })).value).toEqual({ model: 'text' });
    expect(problemsOf(place, await place.load({ flag: 'none.json' }))).toEqual([
      'fatal home/shop/none.json: there is no such file',
    ]);
    expect(problemsOf(place, await place.load({ flag: '{"model"' }))).toEqual([
      'fatal --settings:1:9: the file ends too early: ":" is expected after a key',
    ]);
  });

  it.each([MANAGED, USER, PROJECT, LOCAL, 'etc/managed-settings.d/a.json'])(
    'a cut %s refuses to start and is not run without its rules (D3; case set-022)',
    async (name) => {
      const place = createPlace();
      place.write(name, '{ "permissions": { "deny": ["Read(./.env)"');
      const loaded = await place.load();
      expect(problemsOf(place, loaded)).toEqual([`fatal ${name}:1:43: the file ends too early: "]" is expected`]);
      expect(() => refuseBrokenSettings(loaded)).toThrow(`${place.path(name)}:1:43: the file ends too early`);
    },
  );

  it('a folder of policy that is none is fatal', async () => {
    const place = createPlace();
    place.write('etc/x', '');
    symlinkSync('managed-settings.d', place.path('etc/managed-settings.d'));
    expect(problemsOf(place, await place.load())).toEqual([
      expect.stringMatching(/^fatal etc: its parts cannot be listed/),
    ]);
  });

  it('folders are opened from the project or the home folder on', async () => {
    const place = createPlace();
    place.write(USER, permissions({ additionalDirectories: ['~/docs', '/srv/data', '../lib', '~'] }));
    const { directories } = await place.load();
    expect(directories).toEqual([place.path('home/docs'), '/srv/data', place.path('home/lib'), place.home]);
  });

  it('the local rules of the main work tree hold in a worktree, from its own root on (D5; case ok-set-003)', async () => {
    const place = createPlace();
    const record = place.path('home/shop/.git/worktrees/wt');
    const tree = place.path('home/wt');
    for (const folder of [record, tree]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(tree, '.git'), `gitdir: ${record}`);
    writeFileSync(join(record, 'gitdir'), join(tree, '.git'));
    writeFileSync(join(record, 'commondir'), '../..');
    place.write(LOCAL, permissions({ allow: ['Bash(npm test:*)'] }));
    place.write('home/wt/.claude/settings.local.json', permissions({ deny: ['Read(./.env)'] }));
    const places = { configDir: place.config, projectRoot: tree, home: place.home, managedDir: place.managed };
    const { ruleLayers } = await place.load({ files: settingsFiles(places) });
    expect(ruleLayers).toEqual([
      { name: 'local', base: tree, allow: ['Bash(npm test:*)'], ask: [], deny: ['Read(./.env)'] },
    ]);
  });

  it('every value with the file it came from, and every rule with its line', async () => {
    const place = createPlace();
    const user = place.write(USER, { env: { 'A.B': '1' }, ...permissions({ allow: ['Read', 'Bash(a)'] }) });
    const local = place.write(LOCAL, { model: 'x', ...permissions({ allow: ['Read'] }) });
    const loaded = await place.load();
    expect(resolveSettings(loaded)).toEqual([
      { path: 'model', value: 'x', layer: 'local', file: local },
      { path: 'permissions.allow[0]', value: 'Read', layer: 'local', file: local },
      { path: 'env.A.B', value: '1', layer: 'user', file: user },
      { path: 'permissions.allow[1]', value: 'Bash(a)', layer: 'user', file: user },
    ]);
    expect(listRules(loaded)).toEqual([
      { layer: 'local', file: local, behavior: 'allow', rule: 'Read', line: 5 },
      { layer: 'user', file: user, behavior: 'allow', rule: 'Read', line: 7 },
      { layer: 'user', file: user, behavior: 'allow', rule: 'Bash(a)', line: 8 },
    ]);
  });
});

describe('what policy reserves to itself', () => {
  it('only its rules allow; denies and asks of others stay', async () => {
    const place = createPlace();
    place.write(MANAGED, { allowManagedPermissionRulesOnly: true, ...permissions({ allow: ['Read'] }) });
    place.write(USER, permissions({ allow: ['Bash'], ask: ['Edit'], deny: ['WebFetch'] }));
    const { value, managedOnly } = await place.load({ flag: '{"permissions": {"allow": ["Write"]}}' });
    expect(value.permissions).toEqual({ allow: ['Read'], ask: ['Edit'], deny: ['WebFetch'] });
    expect(managedOnly).toEqual({ rules: true, hooks: false, mcpServers: false });
  });

  it('only its hooks, servers and domains count', async () => {
    const place = createPlace();
    const domains = (allowed: string, denied: string) => ({ allowedDomains: [allowed], deniedDomains: [denied] });
    place.write(MANAGED, {
      allowManagedHooksOnly: true,
      allowManagedMcpServersOnly: true,
      hooks: hooks('managed'),
      mcpServers: { a: { command: 'managed' } },
      sandbox: { network: { allowManagedDomainsOnly: true, ...domains('a.example', 'b.example') } },
    });
    place.write(USER, {
      hooks: hooks('user'),
      mcpServers: { b: { command: 'user' } },
      sandbox: { network: domains('c.example', 'd.example') },
    });
    const { value, hookSources } = await place.load();
    expect(hookSources).toEqual([{ layer: 'managed', file: place.path(MANAGED), hooks: hooks('managed') }]);
    expect(value.mcpServers).toEqual({ a: { command: 'managed' } });
    expect(value.sandbox?.network).toMatchObject({
      allowedDomains: ['a.example'],
      deniedDomains: ['b.example', 'd.example'],
    });
  });

  it('in other layers these keys reserve nothing', async () => {
    const place = createPlace();
    place.write(USER, { allowManagedPermissionRulesOnly: true, ...permissions({ allow: ['Read'] }) });
    const loaded = await place.load();
    expect(loaded.value.permissions?.allow).toEqual(['Read']);
    expect(problemsOf(place, loaded)).toEqual([expect.stringMatching(/^warning .*counts only in managed settings/)]);
  });

  it('hooks that a person switches off are not those of policy', async () => {
    const place = createPlace();
    place.write(MANAGED, { hooks: hooks('managed') });
    place.write(USER, { disableAllHooks: true, hooks: hooks('user') });
    expect((await place.load()).hookSources).toMatchObject([{ layer: 'managed', hooks: hooks('managed') }]);
    place.write(MANAGED, { disableAllHooks: true, hooks: hooks('managed') });
    expect((await place.load()).hookSources).toEqual([]);
  });

  it.each([MANAGED, PROJECT])('bypassing that %s forbids is no mode to start in', async (name) => {
    const place = createPlace();
    place.write(name, permissions({ disableBypassPermissionsMode: 'disable' }));
    place.write(USER, permissions({ defaultMode: 'bypassPermissions' }));
    const loaded = await place.load({ trusted: false });
    expect(loaded.value.permissions?.defaultMode).toBeUndefined();
    expect(problemsOf(place, loaded)).toEqual([
      expect.stringMatching(/^warning .*permissions\.defaultMode: .*switched off/),
    ]);
  });
});

describe('reloadSettings: breaking a file loosens nothing', () => {
  it.each([
    ['cut', '{ "permissions": { "deny": ['],
    ['empty', ''],
    ['of the wrong type', '{"permissions": {"deny": "Bash"}}'],
    ['with half a rule', '{"permissions": {"deny": ["Bash("], "allow": ["Bash(*)"]}}'],
  ])('a file that is %s counts as it last was, and says so', async (_, text) => {
    const place = createPlace();
    place.write(PROJECT, permissions({ deny: ['Read(./.env)'], allow: ['Bash(ls)'] }));
    const first = await place.load();
    place.write(PROJECT, text);
    const second = await reloadSettings(first, place.options());
    expect(second.ruleLayers).toEqual(first.ruleLayers);
    expect(second.problems.some(({ fatal }) => fatal)).toBe(true);
    const third = await reloadSettings(second, place.options());
    expect(third.ruleLayers).toEqual(first.ruleLayers);
    place.write(PROJECT, permissions({ deny: ['Edit'] }));
    const mended = await reloadSettings(third, place.options());
    expect(mended).toMatchObject({ problems: [], ruleLayers: [{ name: 'project', allow: [], deny: ['Edit'] }] });
  });

  it('a new file that is broken adds nothing, a deleted one counts no more', async () => {
    const place = createPlace();
    const user = place.write(USER, permissions({ deny: ['Edit'] }));
    const first = await place.load();
    place.write(LOCAL, '{"permissions": {"allow": ["Bash"');
    const second = await reloadSettings(first, place.options());
    expect(second.ruleLayers).toEqual(first.ruleLayers);
    rmSync(user);
    expect((await reloadSettings(second, place.options())).ruleLayers).toEqual([]);
  });

  it('a part of policy does not vanish with the list of parts', async () => {
    const place = createPlace();
    place.write('etc/managed-settings.d/10.json', permissions({ deny: ['Bash'] }));
    const first = await place.load();
    rmSync(place.path('etc/managed-settings.d'), { recursive: true });
    symlinkSync('managed-settings.d', place.path('etc/managed-settings.d'));
    const second = await reloadSettings(first, place.options());
    expect(second.value.permissions?.deny).toEqual(['Bash']);
    const third = await reloadSettings(second, place.options());
    expect(third.value.permissions?.deny).toEqual(['Bash']);
  });

  it('what was typed as JSON stays, and a trust that came meanwhile counts', async () => {
    const place = createPlace();
    place.write(PROJECT, permissions({ allow: ['Bash(ls)'] }));
    const flag = '{"permissions": {"deny": ["Edit"]}}';
    const first = await loadSettings(place.options({ flag, trusted: false }));
    expect(first.value.permissions).toEqual({ deny: ['Edit'] });
    const second = await reloadSettings(first, place.options({ flag, trusted: true }));
    expect(second.value.permissions).toEqual({ allow: ['Bash(ls)'], deny: ['Edit'] });
  });
});
