import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandAccesses, isPlainlyReadOnly } from '../../src/engine/permissions/command.js';
import { compileRules } from '../../src/engine/permissions/rules/book.js';
import {
  type Decision,
  decidePermission,
  type PermissionCall,
  type PermissionPolicy,
} from '../../src/engine/permissions/decide.js';

const ROOT = '/repo';

interface Rules {
  allowedTools?: readonly string[];
  disallowedTools?: readonly string[];
  askedTools?: readonly string[];
}

const toPolicy = ({ allowedTools, disallowedTools, askedTools, ...rest }: Partial<PermissionPolicy> & Rules) => ({
  mode: 'default' as const,
  roots: [ROOT],
  home: '/home/user',
  cwd: ROOT,
  trusted: false,
  book: compileRules(
    [{ name: 'flag', base: ROOT, allow: allowedTools ?? [], deny: disallowedTools ?? [], ask: askedTools ?? [] }],
    { home: '/home/user' },
  ),
  ...rest,
});

const decide = (call: PermissionCall, policy: Partial<PermissionPolicy> & Rules = {}): Decision =>
  decidePermission(call, toPolicy(policy));

const at = (path: string): string => resolve(ROOT, path);

const reader = (path: string, tool = 'Read'): PermissionCall => ({
  tool,
  input: { file_path: path },
  readOnly: true,
  edits: false,
  accesses: [{ path: at(path), access: 'read' }],
});

const editor = (path: string, tool = 'Write'): PermissionCall => ({
  tool,
  input: { file_path: path },
  readOnly: false,
  edits: true,
  accesses: [{ path: at(path), access: 'write' }],
});

const bash = (command: string): PermissionCall => ({
  tool: 'Bash',
  input: { command },
  readOnly: isPlainlyReadOnly(command),
  edits: false,
  accesses: commandAccesses(command, ROOT, '/home/user'),
  command,
});

const other = (tool: string, readOnly = false): PermissionCall => ({
  tool,
  input: tool === 'WebFetch' ? { url: 'https://example.org/x' } : {},
  readOnly,
  edits: false,
  accesses: [],
});

type Verdict = Decision['verdict'];
type Row = readonly [string, PermissionCall, ...Verdict[]];

// default, acceptEdits, plan, dontAsk, delegate, bypassPermissions
const MODES = ['default', 'acceptEdits', 'plan', 'dontAsk', 'delegate', 'bypassPermissions'] as const;
const ALLOW = 'allow';
const ASK = 'ask';
const DENY = 'deny';
const TABLE: readonly Row[] = [
  ['Read inside', reader('a.ts'), ALLOW, ALLOW, ALLOW, ALLOW, DENY, ALLOW],
  ['Read outside', reader('/etc/hostname'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['Read of a neighbour with the same prefix', reader('/repo-evil/x'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['Grep inside', reader('src', 'Grep'), ALLOW, ALLOW, ALLOW, ALLOW, DENY, ALLOW],
  ['Write inside', editor('a.ts'), ASK, ALLOW, ASK, DENY, DENY, ALLOW],
  ['Edit inside', editor('a.ts', 'Edit'), ASK, ALLOW, ASK, DENY, DENY, ALLOW],
  ['Write of a workflow', editor('.github/workflows/ci.yml'), ASK, ALLOW, ASK, DENY, DENY, ALLOW],
  ['Write outside', editor('/etc/x'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['Write of settings', editor('.claude/settings.json'), ASK, ASK, ASK, DENY, DENY, ASK],
  ['Write of a git hook', editor('.git/hooks/pre-commit'), ASK, ASK, ASK, DENY, DENY, ASK],
  ['Bash ls', bash('ls'), ALLOW, ALLOW, ALLOW, ALLOW, DENY, ALLOW],
  ['Bash date', bash('date'), ALLOW, ALLOW, ALLOW, ALLOW, DENY, ALLOW],
  ['Bash git branch', bash('git branch'), ALLOW, ALLOW, ALLOW, ALLOW, DENY, ALLOW],
  ['Bash git status', bash('git status'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['Bash cat outside', bash('cat /etc/hostname'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['Bash cat above', bash('cat ../x'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['Bash cat of an environment', bash('cat /proc/self/environ'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['Bash redirect from outside', bash('wc -l < /etc/passwd'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['Bash touch', bash('touch a'), ASK, ALLOW, ASK, DENY, DENY, ALLOW],
  ['Bash mkdir', bash('mkdir -p a/b'), ASK, ALLOW, ASK, DENY, DENY, ALLOW],
  ['Bash touch outside', bash('touch /etc/x'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['Bash touch of settings', bash('touch .claude/settings.json'), ASK, ASK, ASK, DENY, DENY, ASK],
  ['Bash rm', bash('rm a'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['Bash npm', bash('npm --version'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['Bash with a variable', bash('ls $VAR'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['Bash unreadable', bash('ls "'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['WebFetch', other('WebFetch', true), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['an MCP tool', other('mcp__srv__send'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['an MCP tool that calls itself read-only', other('mcp__srv__wipe', true), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['a read-only tool without paths', other('Weather', true), ALLOW, ALLOW, ALLOW, ALLOW, DENY, ALLOW],
  ['an unknown tool', other('Launch'), ASK, ASK, ASK, DENY, DENY, ALLOW],
  ['TodoWrite', other('TodoWrite'), ALLOW, ALLOW, ALLOW, ALLOW, ALLOW, ALLOW],
  ['Task', other('Task'), ALLOW, ALLOW, ALLOW, ALLOW, ALLOW, ALLOW],
  ['Agent, its other name', other('Agent'), ALLOW, ALLOW, ALLOW, ALLOW, ALLOW, ALLOW],
  ['AskUserQuestion', other('AskUserQuestion'), ASK, ASK, ASK, ASK, ASK, ASK],
  ['ExitPlanMode', other('ExitPlanMode'), ASK, ASK, ASK, ASK, ASK, ASK],
];

describe('modes', () => {
  const cases = TABLE.flatMap(([what, call, ...verdicts]) =>
    MODES.map((mode, index) => ({ what, mode, call, verdict: verdicts[index] })),
  );

  it.each(cases)('$what in $mode: $verdict', ({ mode, call, verdict }) => {
    expect(decide(call, { mode }).verdict).toBe(verdict);
  });

  it('say why in words that fit', () => {
    expect(decide(reader('/etc/hostname'))).toEqual({
      verdict: 'ask',
      reason: 'Path is outside allowed working directories',
      reasonType: 'workingDir',
      suggestions: [
        {
          type: 'addRules',
          rules: [{ toolName: 'Read', ruleContent: '//etc/**' }],
          behavior: 'allow',
          destination: 'session',
        },
      ],
    });
    expect(decide(bash('npm --version'))).toEqual({
      verdict: 'ask',
      reason: 'This command requires approval',
      reasonType: 'other',
      segments: ['npm --version'],
      suggestions: [
        {
          type: 'addRules',
          rules: [{ toolName: 'Bash', ruleContent: 'npm --version' }],
          behavior: 'allow',
          destination: 'localSettings',
        },
      ],
    });
    expect(decide(bash('ls $VAR'))).toEqual({
      verdict: 'ask',
      reason: "A variable in this command can't be checked before it runs",
      reasonType: 'other',
      segments: ['ls \u2026'],
    });
    expect(decide(bash('ls "')).reason).toMatch(/can't be checked before it runs: it is not valid bash/);
    expect(decide(editor('p.txt'), { mode: 'plan' })).toMatchObject({
      verdict: 'ask',
      reason: 'Cannot write to /repo/p.txt while in plan mode.',
      reasonType: 'mode',
    });
    expect(decide(bash('touch x'), { mode: 'plan' }).reason).toBe('Cannot run this command while in plan mode.');
    expect(decide(other('WebFetch'), { mode: 'plan' }).reason).toBe('Cannot use WebFetch while in plan mode.');
    expect(decide(bash('npm test'), { mode: 'dontAsk' })).toEqual({
      verdict: 'deny',
      reason:
        "Permission to use Bash has been denied because Heddle is running in don't ask mode (This command requires approval).",
      reasonType: 'mode',
      segments: ['npm test'],
    });
  });
});

describe('suggestions', () => {
  const acceptEdits = { type: 'setMode', mode: 'acceptEdits', destination: 'session' };

  it('offer to accept edits', () => {
    expect(decide(editor('w.txt'))).toMatchObject({ verdict: 'ask', suggestions: [acceptEdits] });
    expect(decide(editor('w.txt')).blockedPath).toBeUndefined();
    expect(decide(bash('touch made.txt'))).toMatchObject({
      blockedPath: '/repo/made.txt',
      suggestions: [acceptEdits],
    });
    expect(decide(bash('touch /extra/made.txt'), { roots: [ROOT] })).toMatchObject({
      blockedPath: '/extra/made.txt',
      suggestions: [{ type: 'addDirectories', directories: ['/extra'], destination: 'session' }, acceptEdits],
    });
    expect(decide(editor('/extra/a'), { mode: 'acceptEdits' })).toMatchObject({
      blockedPath: '/extra/a',
      reasonType: 'workingDir',
      suggestions: [{ type: 'addDirectories', directories: ['/extra'], destination: 'session' }],
    });
  });

  it('D5 offer nothing that would open more than was asked', () => {
    for (const call of [
      bash('rm *'),
      bash('rm $X'),
      bash('rm x\nls'),
      bash('ls "'),
      reader('/x'),
      editor('/x'),
      editor('.mcp.json'),
      other('Launch'),
      other('AskUserQuestion'),
    ]) {
      expect({ ...call, suggestions: decide(call).suggestions }).toEqual({ ...call, suggestions: undefined });
    }
  });

  it.each<[string, PermissionCall]>([
    ['a command', bash('npm test')],
    ['a read', reader('/etc/hostname')],
    ['a search', reader('/etc', 'Grep')],
    ['a shell read', bash('cat /etc/hostname')],
    ['an edit', editor('a')],
    ['an edit outside', editor('/extra/a')],
    ['touch', bash('touch a')],
    ['touch outside', bash('touch /extra/a')],
    ['an MCP tool', other('mcp__a__b')],
    ['a fetch', other('WebFetch')],
    ['a script of a project', bash('npm run build -- --watch')],
    ['several commands', bash('cd src && npm test && git status')],
    ['a command with quotes', bash(`node -e "console.log('a b')"`)],
    ['a redirection', bash('npm test 2>&1')],
    ['a wrapper', bash('timeout 5 npm test')],
  ])('D5 once taken, spare the next question: %s', (_, call) => {
    let policy: Partial<PermissionPolicy> & Rules = { roots: [ROOT] };
    const first = decide(call, policy);
    expect(first.verdict).toBe('ask');
    for (const update of first.suggestions ?? []) {
      if (update.type === 'setMode') policy = { ...policy, mode: update.mode };
      if (update.type === 'addDirectories')
        policy = { ...policy, roots: [...(policy.roots ?? []), ...update.directories] };
      if (update.type === 'addRules') {
        const rules = update.rules.map(({ toolName, ruleContent }) =>
          ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`,
        );
        policy = { ...policy, allowedTools: [...(policy.allowedTools ?? []), ...rules] };
      }
    }
    expect(decide(call, policy).verdict).toBe('allow');
  });
});

describe('disallowed tools', () => {
  it.each([
    ['Bash', bash('ls')],
    ['Bash(*)', bash('ls')],
    ['*', reader('a')],
    ['FileRead', reader('a')],
    ['Read', reader('a', 'FileRead')],
    ['Agent', other('Task')],
    ['mcp__srv', other('mcp__srv__send')],
    ['mcp__srv__*', other('mcp__srv__send')],
    ['mcp__srv__send', other('mcp__srv__send')],
    ['mcp__*', other('mcp__srv__send')],
    ['Web*', other('WebFetch')],
    ['AskUserQuestion', other('AskUserQuestion')],
  ])('deny wins: %s', (entry, call) => {
    for (const mode of MODES) {
      const decision = decide(call, { mode, allowedTools: [entry, call.tool, '*'], disallowedTools: [entry] });
      expect(decision).toMatchObject({ verdict: 'deny', reasonType: 'rule', rule: entry });
    }
  });

  it.each([
    ['mcp__srv', other('mcp__srvx__send')],
    ['mcp__srv', other('mcp__sr__send')],
    ['Bas', bash('ls')],
    ['Write', bash('ls')],
  ])('are matched whole: %s', (entry, call) => {
    expect(decide(call, { disallowedTools: [entry] }).rule).toBeUndefined();
  });

  it.each([
    ['Bash(rm', bash('ls')],
    ['Bash()', bash('ls')],
    ['Read(./.env', reader('a')],
    ['Read(./.env', reader('a', 'Grep')],
    ['Read(', editor('a', 'Edit')],
    ['Read(!x)', bash('ls')],
    ['Edit(config/**', editor('a')],
    ['Write()', editor('a', 'Edit')],
    ['Edit(config/**', bash('npm test')],
    ['WebFetch(x.org)', other('WebFetch')],
    ['WebFetch(domain:', other('WebFetch')],
    ['(x)', reader('a')],
  ])('D3 a rule that cannot be read loosens nothing: %s', (entry, call) => {
    for (const mode of ['default', 'acceptEdits', 'bypassPermissions'] as const) {
      const decision = decide(call, { mode, allowedTools: [call.tool], disallowedTools: [entry] });
      expect(decision).toMatchObject({ verdict: 'ask', rule: entry, layer: 'flag' });
      expect(decision.reason).toContain('cannot be read');
    }
    expect(decide(call, { mode: 'dontAsk', disallowedTools: [entry] }).verdict).toBe('deny');
  });

  it('a rule about one tool leaves others alone', () => {
    expect(decide(reader('a'), { disallowedTools: ['Bash(rm:*)', 'Edit(x)'] }).verdict).toBe('allow');
    expect(decide(bash('ls'), { disallowedTools: ['Edit(x)', 'WebFetch(domain:x)'] }).verdict).toBe('allow');
  });
});

describe('allowed tools', () => {
  it.each([
    ['Bash', bash('npm test')],
    ['Bash(*)', bash('npm test')],
    ['*', editor('a')],
    ['Read', reader('/etc/hostname')],
    ['FileWrite', editor('a')],
    ['Bash(npm test)', bash('npm test')],
    ['Read(//etc/**)', reader('/etc/hostname')],
    ['Read(//etc/**)', bash('cat /etc/hostname')],
    ['mcp__srv', other('mcp__srv__send')],
    ['mcp__srv__*', other('mcp__srv__send')],
    ['mcp__srv__send', other('mcp__srv__send')],
  ])('%s allows', (entry, call) => {
    expect(decide(call).verdict).toBe('ask');
    expect(decide(call, { allowedTools: [entry] }).verdict).toBe('allow');
    expect(decide(call, { allowedTools: [entry], mode: 'dontAsk' }).verdict).toBe('allow');
  });

  it.each([
    ['Bash(npm tes:*)', bash('npm test')],
    ['Bash(npx *)', bash('npm test')],
    ['Bash(npm test)', bash('npm test --prefix /tmp/evil')],
    ['Bash(npm test)', bash('npm test; rm x')],
    ['Bash()', bash('npm test')],
    ['Bash(', bash('npm test')],
    ['Read(//etc/**)', reader('/etcetera/x')],
    ['Read(//etc/**)', editor('/etc/x')],
    ['Read(//etc/../**)', reader('/var/x')],
    ['Read(//**)', reader('/proc/self/environ')],
    ['Read', reader('/proc/self/environ')],
    ['Edit(b)', editor('a', 'Edit')],
    ['Read(a)', editor('a', 'Edit')],
    ['Write', editor('.claude/settings.json')],
    ['Bash', bash("echo '{}' > .claude/settings.json")],
    ['Bash', bash('mkdir -p .git/hooks')],
    ['mcp__a', other('mcp__a__b__c')],
    ['mcp__a', other('mcp__ab__c')],
    ['mcp__*', other('mcp__a__b')],
    ['Bash', { ...other('Bash'), mcp: true }],
    ['AskUserQuestion', other('AskUserQuestion')],
  ])('%s does not allow more than it says', (entry, call) => {
    expect(decide(call, { allowedTools: [entry] }).verdict).toBe('ask');
  });

  it('delegate mode denies what an ask rule or a protected place would ask about', () => {
    for (const call of [editor('a'), editor('.claude/settings.json'), bash('touch a'), bash('rm -rf /'), reader('a')]) {
      for (const askedTools of [[], [call.tool]]) {
        expect(decide(call, { mode: 'delegate', askedTools }).verdict).toBe('deny');
      }
    }
    expect(decide(other('Task'), { mode: 'delegate' }).verdict).toBe('allow');
    expect(decide(other('Task'), { mode: 'delegate', askedTools: ['Task'] }).verdict).toBe('ask');
  });

  it('do not open plan or delegate mode', () => {
    expect(decide(editor('a'), { mode: 'plan', allowedTools: ['Write'] }).verdict).toBe('ask');
    expect(decide(editor('a'), { mode: 'delegate', allowedTools: ['Write'] }).verdict).toBe('deny');
  });
});

describe('what is not known is asked', () => {
  it.each<[string, PermissionCall]>([
    ['a shell line whose paths were not given', { ...bash('cat /etc/passwd'), accesses: [] }],
    ['a shell tool without its line', { ...bash('ls'), command: undefined }],
    ['a line called read-only that is not', { ...bash('rm x'), readOnly: true }],
    ['an edit without a place', { ...editor('a'), input: {}, accesses: [] }],
    ['touch without its places', { ...bash('touch a'), accesses: [] }],
    ['a second path outside', { ...reader('a'), accesses: [...reader('a').accesses, ...reader('/etc/x').accesses] }],
    ['a link that leads out', { ...reader('link'), accesses: [{ path: '/etc/passwd', access: 'read' }] }],
    ['a pattern that climbs', { ...reader('.', 'Glob'), input: { pattern: '../../**/*.pem' } }],
  ])('E2 %s', (_, call) => {
    expect(decide(call, { mode: 'acceptEdits' }).verdict).toBe('ask');
  });

  it('a call that writes is no reading, whatever it says of itself', () => {
    expect(decide({ ...editor('a'), readOnly: true }).verdict).toBe('ask');
  });

  it('a pattern that stays is not asked about', () => {
    expect(decide({ ...reader('.', 'Glob'), input: { pattern: 'src/**/*.ts' } }).verdict).toBe('allow');
    expect(decide({ ...reader('.', 'Glob'), input: { pattern: '/repo/src/**' } }).verdict).toBe('allow');
  });

  it('adding a directory opens it', () => {
    expect(decide(reader('/extra/lib/a.ts'), { roots: [ROOT, '/extra'] }).verdict).toBe('allow');
  });
});
