import { mkdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runPermissions } from '../../src/cli/permissions.js';
import { createTrust } from '../../src/engine/settings/trust.js';
import { createPlace, LOCAL, MANAGED, PROJECT, USER } from '../settings/place.js';

async function setUp({ trusted = true } = {}) {
  const place = createPlace();
  mkdirSync(place.path('home/shop/.git'));
  mkdirSync(place.path('home/shop/sub'));
  if (trusted) await createTrust({ configDir: place.config, home: place.home }).trust(place.project);
  const run = async (...argv: string[]) => {
    let out = '';
    let err = '';
    const code = await runPermissions(argv, {
      stdout: { write: (text) => (out += text) },
      stderr: { write: (text) => (err += text) },
      cwd: place.path('home/shop/sub'),
      configDir: place.config,
      home: place.home,
      managedDir: place.managed,
    });
    return {
      code,
      out: out.replaceAll(place.home, '~').replaceAll(place.root, ''),
      err: err.replaceAll(place.home, '~').replaceAll(place.root, ''),
    };
  };
  return { place, run };
}

const rules = (permissions: object) => ({ permissions });

describe('heddle permissions list', () => {
  it('every rule with layer, file and line', async () => {
    const { place, run } = await setUp();
    place.write(MANAGED, rules({ deny: ['Bash(curl:*)'] }));
    place.write(USER, rules({ allow: ['Read', { tool: 'Bash', command: 'ls' }] }));
    place.write(LOCAL, rules({ allow: ['Bash(a\u200Bb)'] }));
    expect(await run('list')).toEqual({
      code: 0,
      err: '',
      out: `managed  deny   Bash(curl:*)                    /etc/managed-settings.json:4
local    allow  Bash(a\\u200bb)                  ~/shop/.claude/settings.local.json:4
user     allow  Read                            ~/.claude/settings.json:4
user     allow  {"tool":"Bash","command":"ls"}  ~/.claude/settings.json:5
`,
    });
  });

  it('as JSON that shows what would not show, and says the same', async () => {
    const { place, run } = await setUp();
    const rule = 'Bash(a\u202Eb\u200B\u{E0041}\uFE0F\u0085é 😀)';
    place.write(LOCAL, rules({ allow: [rule] }));
    const { out } = await run('list', '--json');
    expect(out).toContain('"Bash(a\\u202eb\\u200b\\udb40\\udc41\\ufe0f\\u0085é 😀)"');
    expect((JSON.parse(out) as { rules: { rule: string }[] }).rules[0]?.rule).toBe(rule);
  });

  it('as JSON, with what does not count', async () => {
    const { place, run } = await setUp({ trusted: false });
    place.write(PROJECT, rules({ allow: ['Bash(ls)'], deny: ['Edit'] }));
    const { code, out } = await run('list', '--json');
    expect([code, JSON.parse(out)]).toEqual([
      0,
      {
        projectRoot: '~/shop',
        trusted: false,
        rules: [
          {
            layer: 'project',
            behavior: 'deny',
            rule: 'Edit',
            file: '~/shop/.claude/settings.json',
            line: 7,
            counts: true,
          },
          {
            layer: 'project',
            behavior: 'allow',
            rule: 'Bash(ls)',
            file: '~/shop/.claude/settings.json',
            line: 4,
            counts: false,
          },
        ],
        problems: [],
      },
    ]);
    expect((await run('list')).out).toMatch(
      /settings\.json:4 {2}\(does not count\)\n\n~\/shop is not trusted: permissions\.allow/,
    );
  });

  it('a broken file is told, and the exit code says so', async () => {
    const { place, run } = await setUp();
    expect(await run('list')).toEqual({ code: 0, err: '', out: 'No settings file has a rule.\n' });
    place.write(PROJECT, rules({ deny: ['Bash(rm'] }));
    expect(await run('list')).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^error: ~\/shop\/\.claude\/settings\.json:4:7: permissions\.deny\[0\]: .* its bracket is not closed/,
      ),
      out: 'No rule could be read; see the errors.\n',
    });
  });
});

describe('heddle permissions add', () => {
  it('shows the change it makes, and keeps the rest of the file', async () => {
    const { place, run } = await setUp();
    place.write(USER, '{\n  "permissions": {\n    "deny": ["Edit"] // no edits\n  }\n}\n');
    expect(await run('add', '--user', 'deny', 'Bash(rm:*)')).toEqual({
      code: 0,
      err: '',
      out: '~/.claude/settings.json:3\n-     "deny": ["Edit"] // no edits\n+     "deny": ["Edit", "Bash(rm:*)"] // no edits\n',
    });
    expect(place.text(USER)).toBe('{\n  "permissions": {\n    "deny": ["Edit", "Bash(rm:*)"] // no edits\n  }\n}\n');
    expect(await run('add', '--user', 'deny', 'Bash(rm:*)')).toMatchObject({
      code: 0,
      out: '~/.claude/settings.json has this rule already; nothing changed.\n',
    });
  });

  it('by default allows, in the local file of the project, from any sub-directory (D5)', async () => {
    const { place, run } = await setUp();
    expect((await run('add', 'Bash(npm test)')).code).toBe(0);
    expect(JSON.parse(place.text(LOCAL))).toEqual(rules({ allow: ['Bash(npm test)'] }));
    await run('add', '--project', 'ask', 'WebFetch');
    expect(JSON.parse(place.text(PROJECT))).toEqual(rules({ ask: ['WebFetch'] }));
  });

  it('says when the rule does not count', async () => {
    const { place, run } = await setUp({ trusted: false });
    expect((await run('add', 'Read')).err).toMatch(/^warning: it does not count yet: this folder is not trusted/);
    expect((await run('add', 'deny', 'Read')).err).toBe('');
    expect((await run('add', '--user', 'Read')).err).toBe('');
    place.write(MANAGED, { allowManagedPermissionRulesOnly: true });
    expect((await run('add', '--user', 'Edit')).err).toMatch(/policy allows only its own rules/);
    expect((await run('add', '--user', 'bash')).err).toMatch(/"bash" names no tool; did you mean "Bash"/);
  });

  it.each([
    [['add', 'Bash(npm test'], /^error: "Bash\(npm test": its bracket is not closed/],
    [['add', 'Bash()'], /can never match/],
    [['add'], /^error: permissions add needs a rule/],
    [['add', 'allow'], /^error: permissions add needs a rule/],
    [['add', '--user', 'deny'], /^error: permissions add needs a rule/],
    [['remove', 'ask'], /^error: permissions remove needs a rule/],
    [['remove', '{"tool":'], /is no JSON/],
    [['add', 'Bash(npm', 'test)'], /takes one rule; quote it/],
    [['add', '--system', 'Read'], /^error: unknown option '--system'/],
    [['add', '--user', '--local', 'Read'], /name one of --local, --project, --user/],
    [['list', '--all'], /unknown option '--all'/],
    [['drop', 'Read'], /there is no "permissions drop"/],
    [['remove', 'Read'], /^error: no file has the rule "Read"/],
  ])('%j', async (argv, message) => {
    const { run } = await setUp();
    expect(await run(...argv)).toEqual({ code: 1, out: '', err: expect.stringMatching(message) });
  });

  it('leaves a broken file alone, and names the line', async () => {
    const { place, run } = await setUp();
    place.write(LOCAL, '{ "permissions": {');
    expect(await run('add', 'Read')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/settings\.local\.json:1:19: the file ends too early.*It was not changed/),
    });
    expect(place.text(LOCAL)).toBe('{ "permissions": {');
  });
});

describe('heddle permissions remove', () => {
  it('takes the rule out of the one file that has it', async () => {
    const { place, run } = await setUp();
    place.write(USER, '{\n  "permissions": {\n    "allow": [\n      "Read", // r\n      "Edit"\n    ]\n  }\n}\n');
    expect(await run('remove', 'Read')).toEqual({
      code: 0,
      err: '',
      out: '~/.claude/settings.json:4\n-       "Read", // r\n',
    });
    expect(place.text(USER)).toContain('"allow": [\n      "Edit"\n    ]');
  });

  it('an object by its JSON, in whatever order its keys are', async () => {
    const { place, run } = await setUp();
    const [curl, read] = [{ tool: 'Bash', command: 'curl:*', reason: 'no network' }, { tool: 'Read' }];
    place.write(USER, rules({ deny: [curl, 'Edit', read] }));
    expect(await run('remove', '{"reason": "no network", "command": "curl:*", "tool": "Bash"}')).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/^~\/\.claude\/settings\.json:4\n-       \{\n/),
    });
    expect(JSON.parse(place.text(USER))).toEqual(rules({ deny: ['Edit', read] }));
    expect((await run('remove', '{"tool":"Bash"}')).err).toMatch(/^error: no file has the rule/);
  });

  it('asks which one when there are several', async () => {
    const { place, run } = await setUp();
    place.write(USER, rules({ allow: ['Read'] }));
    place.write(LOCAL, rules({ allow: ['Read'], deny: ['Read'] }));
    expect((await run('remove', 'Read')).err).toBe(`error: the rule stands in several places; name one of them:
  --local deny   ~/shop/.claude/settings.local.json:7
  --local allow   ~/shop/.claude/settings.local.json:4
  --user allow   ~/.claude/settings.json:4
See heddle permissions --help.
`);
    expect((await run('remove', '--local', 'allow', 'Read')).code).toBe(0);
    expect(JSON.parse(place.text(LOCAL))).toEqual(rules({ allow: [], deny: ['Read'] }));
    expect((await run('remove', '--user', 'Read')).code).toBe(0);
  });

  it('policy is not changed, and a file that could not be read is named', async () => {
    const { place, run } = await setUp();
    place.write(MANAGED, rules({ deny: ['Bash'] }));
    expect(await run('remove', 'Bash')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/is policy and is not changed/),
    });
    place.write(LOCAL, '{');
    expect((await run('remove', 'Read')).err).toMatch(/settings\.local\.json is broken and was not read/);
  });

  it('help', async () => {
    const { run } = await setUp();
    expect(await run('--help')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Usage: heddle permissions list/),
    });
    expect(await run('add', '--help')).toMatchObject({ code: 0, err: '' });
    expect(await run()).toMatchObject({ code: 1, out: expect.stringMatching(/^Usage/) });
  });
});
