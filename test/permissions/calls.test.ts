import { describe, expect, it } from 'vitest';
import { commandAccesses } from '../../src/engine/permissions/command.js';
import {
  type Decision,
  decidePermission,
  type PermissionCall,
  type PermissionPolicy,
} from '../../src/engine/permissions/decide.js';
import { explainDecision } from '../../src/engine/permissions/explain.js';
import { compileRules } from '../../src/engine/permissions/rules/book.js';
import { readWebTarget } from '../../src/engine/permissions/web.js';

const HOME = '/home/user';

interface Rules {
  allow?: string[];
  ask?: string[];
  deny?: string[];
}

function decide(
  call: Partial<PermissionCall>,
  { allow, ask, deny, ...policy }: Rules & Partial<PermissionPolicy> = {},
): Decision {
  const layer = { name: 'user' as const, base: '/repo', allow: allow ?? [], ask: ask ?? [], deny: deny ?? [] };
  const book = compileRules([layer], { home: HOME });
  const whole = { tool: 'Bash', input: {}, readOnly: false, edits: false, accesses: [], ...call };
  return decidePermission(whole, {
    mode: 'default',
    book,
    roots: ['/repo'],
    home: HOME,
    cwd: '/repo',
    trusted: true,
    ...policy,
  });
}

const bash = (command: string, input: Record<string, unknown> = {}): Partial<PermissionCall> => ({
  tool: 'Bash',
  input: { command, ...input },
  command,
  accesses: commandAccesses(command, '/repo', HOME),
});
const read = (path: string, tool = 'Read'): Partial<PermissionCall> => ({
  tool,
  readOnly: true,
  accesses: [{ path, access: 'read' }],
});
const write = (path: string): Partial<PermissionCall> => ({
  tool: 'Write',
  edits: true,
  accesses: [{ path, access: 'write' }],
});
const fetch = (url: string, ...redirects: string[]): Partial<PermissionCall> => ({
  tool: 'WebFetch',
  readOnly: true,
  input: { url, redirects },
});

describe('fetching', () => {
  const RULES = { allow: ['WebFetch(domain:github.com)', 'WebFetch(domain:*.example.org)'] };

  it.each([
    ['https://github.com/a?b=c', 'allow'],
    ['https://GitHub.com./a', 'allow'],
    ['https://api.github.com/', 'ask'],
    ['https://github.com.evil.example/', 'ask'],
    ['https://xgithub.com/', 'ask'],
    ['https://github.com@evil.example/', 'ask'],
    ['https://user:pass@github.com/', 'ask'],
    ['https://evil.example/github.com', 'ask'],
    ['https://evil.example\\@github.com/', 'ask'],
    ['https://a.example.org/', 'allow'],
    ['https://a.b.example.org/', 'allow'],
    ['https://example.org/', 'ask'],
    ['https://badexample.org/', 'ask'],
    ['ftp://github.com/', 'deny'],
    ['file:///etc/passwd', 'deny'],
    ['javascript:alert(1)', 'deny'],
    ['not an address', 'deny'],
  ])('E5 %s: %s', (url, verdict) => {
    expect(decide(fetch(url), RULES).verdict).toBe(verdict);
  });

  it.each([
    'http://localhost/',
    'http://a.localhost/',
    'http://127.0.0.1:3000/',
    'http://127.1/',
    'http://0x7f000001/',
    'http://2852039166/',
    'http://0251.0376.0251.0376/',
    'http://10.1.2.3/',
    'http://172.31.0.1/',
    'http://192.168.1.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://100.100.100.200/',
    'http://0/',
    'http://[::1]/',
    'http://[::]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[fd00::1]/',
    'http://[fe80::1]/',
    'http://metadata.google.internal/',
    'http://router.lan/',
    'http://printer.local/',
    'http://intranet/',
    'http://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/',
  ])('E5 %s is denied even where all fetching is allowed', (url) => {
    expect(decide(fetch(url), { allow: ['WebFetch'] }).verdict).toBe('deny');
    expect(decide(fetch(url), { mode: 'bypassPermissions' }).verdict).toBe('deny');
    expect(decide(fetch('https://a.example/', url), { allow: ['WebFetch'] }).verdict).toBe('deny');
  });

  it('E5 opens private hosts by name and port', () => {
    const policy = { allow: ['WebFetch'], privateHosts: ['localhost:3000', '10.0.0.7'] };
    expect(decide(fetch('http://localhost:3000/'), policy).verdict).toBe('allow');
    expect(decide(fetch('http://localhost:3001/'), policy).verdict).toBe('deny');
    expect(decide(fetch('http://10.0.0.7:81/'), policy).verdict).toBe('allow');
  });

  it('E5 a number is not what a rule for all hosts means', () => {
    expect(decide(fetch('http://8.8.8.8/'), { allow: ['WebFetch'] }).verdict).toBe('ask');
    expect(decide(fetch('http://8.8.8.8/'), { allow: ['WebFetch(domain:8.8.8.8)'] }).verdict).toBe('allow');
  });

  it('E5 judges every hop, and shows hosts as they really are', () => {
    expect(decide(fetch('https://github.com/x', 'https://evil.example/y'), RULES).verdict).toBe('ask');
    expect(decide(fetch('https://github.com/x', 'https://github.com/y'), RULES).verdict).toBe('allow');
    expect(
      decide(fetch('https://github.com/', 'https://bad.example/'), {
        allow: ['WebFetch'],
        deny: ['WebFetch(domain:bad.example)'],
      }).verdict,
    ).toBe('deny');
    expect(decide(fetch('https://g\u0456thub.com/'), RULES).reason).toContain('xn--');
    expect(readWebTarget('https://a.example:8443/').place).toBe('a.example:8443');
  });
});

describe('a set in a pattern is that of .gitignore', () => {
  it.each([
    ['k[[:digit:]]', '/repo/k1', '/repo/kx'],
    ['k[![:digit:][:space:]]', '/repo/kx', '/repo/k1'],
    ['k[[:punct:]a]', '/repo/k[', '/repo/kb'],
    ['k[a\\]b]', '/repo/k]', '/repo/ka]'],
    ['k[a-\\c]', '/repo/kb', '/repo/k-'],
    ['k[\u{1f600}-\u{1f602}]', '/repo/k\u{1f601}', '/repo/k\u{1f603}'],
    ['k[[:a', '/repo/k[[:a', '/repo/k:'],
  ])('%s', (pattern, inside, outside) => {
    const deny = [`Read(./${pattern})`];
    expect(decide(read(inside), { deny }).verdict).toBe('deny');
    expect(decide(read(outside), { deny }).verdict).toBe('allow');
  });
});

describe('a rule that is an object and has a part that nobody knows', () => {
  it.each([
    { tool: 'Read', pth: './x' },
    { tool: 'Bash', command: '' },
  ])('allows nothing: %o', (rule) => {
    expect(decide(read('/etc/x'), { allow: [rule as never] }).verdict).toBe('ask');
    expect(decide(bash('curl x'), { allow: [rule as never] }).verdict).toBe('ask');
  });
});

describe('searching', () => {
  const grep = (path: string): Partial<PermissionCall> => read(path, 'Grep');

  it('E2 leaves out what may not be read', () => {
    const deny = ['Read(./secrets/**)', 'Read(.env)', 'Read(//etc/x)', 'Read(src/**/*.key)'];
    expect(decide(grep('/repo'), { deny })).toMatchObject({
      verdict: 'allow',
      exclusions: ['/repo/secrets', '/**/.env', '/repo/src/**/*.key'],
    });
    expect(decide(grep('/repo/docs'), { deny })).toMatchObject({ verdict: 'allow', exclusions: ['/**/.env'] });
    expect(decide(grep('/repo/secrets/a'), { deny }).verdict).toBe('deny');
    expect(decide(grep('/repo/src/a'), { deny })).toMatchObject({ exclusions: ['/**/.env', '/repo/src/a/**/*.key'] });
    expect(decide(grep('/repo/a/keys'), { deny: ['Read(**/keys/*.txt)'] })).toMatchObject({
      exclusions: ['/**/keys/*.txt', '/repo/a/keys/*.txt'],
    });
    expect(decide(grep('/repo')).exclusions).toBeUndefined();
    expect(decide(grep('/repo'), { ask: ['Read(./secrets/**)'] }).verdict).toBe('ask');
    expect(decide(grep('/repo/docs'), { ask: ['Read(./secrets/**)'] }).verdict).toBe('allow');
  });

  it('E2 a rule for one tool is about that tool', () => {
    expect(decide(grep('/repo/a'), { deny: ['Grep(./a)'] }).verdict).toBe('deny');
    expect(decide(read('/repo/a'), { deny: ['Grep(./a)'] }).verdict).toBe('allow');
  });
});

describe('agents, skills, servers', () => {
  const task = (type?: string): Partial<PermissionCall> => ({
    tool: 'Agent',
    input: type === undefined ? {} : { subagent_type: type },
  });

  it('are judged by their names', () => {
    expect(decide(task('explore'), { deny: ['Agent(explore)'] }).verdict).toBe('deny');
    expect(decide(task('other'), { deny: ['Task(explore)'] }).verdict).toBe('allow');
    expect(decide(task('explore'), { ask: ['Agent(explore)'] }).verdict).toBe('ask');
    expect(decide(task(), { deny: ['Agent(general-purpose)'] }).verdict).toBe('deny');
    expect(decide({ tool: 'Skill', input: { skill: 'deploy' } }, { allow: ['Skill(deploy)'] }).verdict).toBe('allow');
    expect(decide({ tool: 'Skill', input: { skill: 'deploy-all' } }, { allow: ['Skill(deploy)'] }).verdict).toBe('ask');
    expect(decide({ tool: 'Skill', input: { skill: 'deploy-all' } }, { allow: ['Skill(deploy*)'] }).verdict).toBe(
      'allow',
    );
    expect(decide({ tool: 'mcp__srv__delete_all' }, { allow: ['mcp__srv'], deny: ['mcp__*__delete*'] }).verdict).toBe(
      'deny',
    );
    expect(decide({ tool: 'mcp__srv__fmt', changed: true }, { allow: ['mcp__srv__fmt'] })).toMatchObject({
      verdict: 'ask',
      reason: expect.stringContaining('changed'),
    });
  });
});

describe('what needs a person in every mode', () => {
  it.each([
    'echo x > .claude/settings.json',
    'cd .claude && echo x > settings.json',
    'echo x >> ~/.bashrc',
    'tee .git/hooks/pre-commit < x',
    'cp x .git/hooks/post-commit',
    'ln -s /tmp/x .claude/settings.local.json',
    'sed -i s/a/b/ .mcp.json',
    'curl -o .envrc https://x.example/',
    `python3 -c "open('.claude/settings.json','w')"`,
    'echo x > .claude/set*',
    'rm -rf .git',
    'rm -rf ~',
    'rm -rf /',
    'sudo rm -rf /usr',
    'rm -rf ..',
    'find / -delete',
    'dd if=/dev/zero of=/dev/sda',
    'mkfs.ext4 /dev/sda1',
    ':(){ :|:& };:',
  ])('E3 %s', (command) => {
    for (const mode of ['default', 'acceptEdits', 'bypassPermissions'] as const) {
      expect(decide(bash(command), { mode, allow: ['Bash(*)', 'Edit'] }).verdict).toBe('ask');
    }
  });

  it('E3 a file that does not exist yet, and one behind a link', () => {
    expect(decide(write('/repo/.claude/settings.json'), { mode: 'bypassPermissions' }).verdict).toBe('ask');
    const linked = {
      ...write('/repo/.git/hooks/x'),
      accesses: [{ path: '/repo/.git/hooks/x', given: '/repo/notes', access: 'write' as const }],
    };
    expect(decide(linked, { mode: 'acceptEdits' }).verdict).toBe('ask');
    const given = {
      ...write('/data/x'),
      accesses: [{ path: '/data/x', given: '/repo/.claude/settings.json', access: 'write' as const }],
    };
    expect(decide(given, { mode: 'bypassPermissions' }).verdict).toBe('ask');
  });

  it('ordinary work is not stopped in a mode that asks nothing', () => {
    for (const command of [
      'rm -rf build',
      'mv a /tmp',
      'git commit -m x',
      'eval "$X"',
      'cat .git/config',
      'chmod -R 755 dist',
      'echo x > a.txt',
    ]) {
      expect({ command, verdict: decide(bash(command), { mode: 'bypassPermissions' }).verdict }).toEqual({
        command,
        verdict: 'allow',
      });
    }
  });

  it('a rule that forbids holds in such a mode for what hides, too', () => {
    const policy = { mode: 'bypassPermissions' as const, deny: ['Bash(rm:*)'] };
    expect(decide(bash('rm x'), policy).verdict).toBe('deny');
    expect(decide(bash('eval "$X"'), policy).verdict).toBe('ask');
    expect(decide(bash('$X y'), policy).verdict).toBe('ask');
  });
});

describe('the sandbox', () => {
  it('runs unasked what no rule is about, where that is wanted', () => {
    const policy = { sandboxed: { autoAllow: true } };
    expect(decide(bash('npm install'), policy).verdict).toBe('allow');
    expect(decide(bash('eval "$X"'), policy).verdict).toBe('allow');
    expect(decide(bash('npm install'), { sandboxed: { autoAllow: false } }).verdict).toBe('ask');
    expect(decide(bash('npm install'), { ...policy, ask: ['Bash(npm:*)'] }).verdict).toBe('ask');
    expect(decide(bash('npm install'), { ...policy, deny: ['Bash(npm:*)'] }).verdict).toBe('deny');
    expect(decide(bash('eval "$X"'), { ...policy, deny: ['Bash(rm:*)'] }).verdict).toBe('ask');
    expect(decide(bash('echo x > .claude/settings.json'), policy).verdict).toBe('ask');
  });

  it('E8 leaving it is always asked about', () => {
    const leaving = bash('npm test', { dangerouslyDisableSandbox: true });
    const allow = ['Bash(npm test)'];
    expect(decide(leaving, { allow, sandboxed: { autoAllow: true } }).verdict).toBe('ask');
    expect(decide(leaving, { allow, sandboxed: { autoAllow: true }, mode: 'bypassPermissions' }).verdict).toBe('ask');
    expect(decide(leaving, { allow }).verdict).toBe('ask');
  });
});

describe('size', () => {
  it('D7 a long line never loses what is denied', () => {
    const deny = ['Bash(rm:*)', 'Read(./.env)'];
    for (const filler of [
      `echo ${'x'.repeat(12_000)}`,
      'true; '.repeat(3_000),
      `cat <<'E'\n${'text\n'.repeat(5_000)}E\n`,
      `echo ${'x'.repeat(300_000)}`,
    ]) {
      expect(decide(bash(`${filler}\nrm -rf x`), { allow: ['Bash(*)'], deny }).verdict).toBe('deny');
      for (const disguised of ['r\\m x', '/bin/r""m x', "$'rm' x", 'cat src/../.e""nv', "cat '.env'"]) {
        expect(decide(bash(`${filler}\n${disguised}`), { allow: ['Bash(*)'], deny }).verdict).toBe('deny');
      }
      expect(decide(bash(`${filler}\necho ok`), { allow: ['Bash(*)'], deny }).verdict).toBe('ask');
    }
    expect(
      decide(bash(`${'x=$y; '.repeat(100)}${'git status && '.repeat(60)}rm x`), { allow: ['Bash(*)'], deny }).verdict,
    ).toBe('deny');
    expect(decide(bash(`${'git status && '.repeat(60)}git log`), { allow: ['Bash(git:*)'] }).verdict).toBe('allow');
  });
});

describe('a decision in words', () => {
  it('D4 names verdict, reason, rule, layer and what runs', () => {
    expect(explainDecision(decide(bash('git status && rm x'), { allow: ['Bash(git:*)'], deny: ['Bash(rm:*)'] }))).toBe(
      [
        'Denied: Permission to use Bash with command git status && rm x has been denied.',
        'Rule: Bash(rm:*) (user settings)',
        'Runs: git status ; rm x',
      ].join('\n'),
    );
    expect(explainDecision(decide(read('/repo', 'Grep'), { deny: ['Read(./k)'] }))).toBe(
      'Allowed: It only reads, inside the working directories.\nLeft out of the search: /repo/k',
    );
    expect(explainDecision(decide(write('/etc/x')))).toBe(
      'Needs approval: Path to write is outside allowed working directories.\nPath: /etc/x',
    );
  });

  it('D6 shows what does not show', () => {
    const text = explainDecision(decide(bash('echo ok \u202e\u200b; rm \u001b[2Kx'), { deny: ['Bash(rm:*)'] }));
    expect(text).toContain('\\u{202e}\\u{200b}');
    expect(text).toContain('\\u{1b}');
    for (const hidden of ['\u202e', '\u200b', '\u001b']) expect(text.includes(hidden)).toBe(false);
  });

  it('carries the reason of a rule', () => {
    const rule = { tool: 'Bash', command: 'npm publish', behavior: 'deny' as const, reason: 'releases are made by CI' };
    const book = compileRules([{ name: 'project', base: '/repo', deny: [rule] }], { home: HOME });
    expect(decide(bash('npm publish --tag x'), { book })).toMatchObject({
      verdict: 'deny',
      layer: 'project',
      reason: expect.stringContaining('made by CI'),
    });
  });
});

describe('suggestions', () => {
  const offered = (command: string): string[] =>
    (decide(bash(command)).suggestions ?? []).flatMap((update) =>
      update.type === 'addRules' ? update.rules.map(({ ruleContent = '' }) => ruleContent) : [],
    );

  it.each<[string, string[]]>([
    ['npm --version', ['npm --version']],
    ['npm run build', ['npm run build:*']],
    ['npm run build -- --watch', ['npm run build:*']],
    ['npm install left-pad', ['npm install left-pad']],
    ['git commit -m "a b"', ['git commit:*']],
    ['git push origin main', ['git push origin main']],
    ['node -e "a b"', ["node -e 'a b'"]],
    ['cd src && npm test', ['npm test:*']],
    ['npm test && git add -A && git commit -m x', ['npm test:*', 'git add:*', 'git commit:*']],
    ['npm test 2>&1 | tail -5', ['npm test:*']],
    ['rm -rf x', ['rm -rf x']],
    ['rm *', []],
    ['rm $X', []],
    ['FOO=1 npm test', []],
    ['NODE_ENV=test npm test', ['npm test:*']],
    [`git commit -m "$(cat <<'EOF'\nFix\n\n- \`a\`\nEOF\n)"`, ['git commit:*']],
    [`git add -A && git commit -F - <<'EOF'\nFix\nEOF`, ['git add:*', 'git commit:*']],
    ['git commit -m x\nrm -rf y', []],
    ['git commit -m "$(rm x)" $Y', []],
    ['gh pr view 12', ['gh pr view:*']],
    ['gh pr merge 12', ['gh pr merge 12']],
    ['gh run delete 5', ['gh run delete 5']],
    ['docker compose logs api', ['docker compose logs:*']],
    ['docker compose down -v', ['docker compose down -v']],
    ['git stash', ['git stash']],
    ['git stash clear', ['git stash clear']],
    ['npm test > out', []],
    ['a; b; c; d; e; f', []],
  ])('D5 %j: %j', (command, rules) => {
    expect(offered(command)).toEqual(rules);
  });
});
