import { describe, expect, it } from 'vitest';
import { dropIgnored } from '../../src/cli/ignored.js';
import { describeDoubts, findIdleDenial } from '../../src/cli/rules.js';
import { parseArgv } from '../../src/protocol/plain.js';

describe('describeDoubts', () => {
  it.each([
    'Bash',
    'Bash(*)',
    'Bash(npm test)',
    'Bash(npm test:*)',
    'Bash(npm *)',
    'Read(./src/**)',
    'Edit(src/a.ts)',
    'WebFetch(domain:example.com)',
    'Bash(git commit -m "a (b)")',
    'Read(//srv/data/**)',
    'FileRead',
    'Agent',
    'mcp__db__query',
    'mcp__db',
    '*',
  ])('%s allows what it says', (rule) => {
    expect(describeDoubts({ allowedTools: [rule] })).toEqual([]);
  });

  it.each([
    ['Bash(', /^"Bash\(" is only half a rule/],
    ['Bash(npm test', /is only half a rule/],
    ['read', /^"read" names no tool; did you mean "Read"\?$/],
    ['bash(ls)', /^"bash" names no tool; did you mean "Bash"\?$/],
    ['Ba*', /^"Ba\*" names no tool$/],
    ['constructor', /^"constructor" names no tool$/],
    ['Bash\u202e', /^"Bash\\u202e" names no tool$/],
  ])('%s does not, and that is said', (rule, text) => {
    expect(describeDoubts({ allowedTools: [rule] })).toEqual([expect.stringMatching(text)]);
  });

  it('names of tools, and half denials', () => {
    const tools = ['Read', 'Bogus', 'grep'];
    expect(describeDoubts({ tools, disallowedTools: ['Bash(rm', 'Bash(rm:*)'] })).toEqual([
      '"Bogus" names no tool',
      '"grep" names no tool; did you mean "Grep"?',
      '"Bash(rm" is only half a rule: its bracket is not closed',
    ]);
    expect(describeDoubts({ tools: { type: 'preset', preset: 'claude_code' } })).toEqual([]);
  });
});

describe('findIdleDenial', () => {
  it.each(['Bash', 'Bash(rm:*)', 'Bash(', 'KillShell', 'mcp__x', 'mcp__*', '*', 'Web*', '*Edit'])(
    '%s restricts',
    (rule) => {
      expect(findIdleDenial({ disallowedTools: [rule] })).toBeUndefined();
    },
  );

  it.each([
    ['bash', '--disallowedTools: "bash" names no tool; did you mean "Bash"?'],
    ['bash(rm)', '--disallowedTools: "bash" names no tool; did you mean "Bash"?'],
    ['web*', '--disallowedTools: "web*" names no tool'],
    ['', '--disallowedTools: "" names no tool'],
  ])('%j does not', (rule, text) => {
    expect(findIdleDenial({ disallowedTools: ['Read', rule] })).toBe(text);
  });
});

describe('dropIgnored', () => {
  const drop = (...argv: string[]) => {
    const { cli, config } = parseArgv(argv);
    return dropIgnored(cli, { ...config, cwd: '/shop', env: {}, configDir: '/c' });
  };

  it('says each flag once and leaves it out of the session', () => {
    const { config, notes } = drop('--agent=x', '--mcp-config={}', '--mcp-config={}', '--model=m');
    expect(notes).toEqual([
      '--agent is not supported yet and was ignored',
      '--mcp-config is not supported yet and was ignored',
    ]);
    expect(config).toMatchObject({ model: 'm' });
    expect(config).not.toHaveProperty('agent');
    expect(config).not.toHaveProperty('mcpConfig');
  });
});
