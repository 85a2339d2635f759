import { describe, expect, it } from 'vitest';
import { dropIgnored } from '../../src/cli/ignored.js';
import { describeDoubts, findIdleDenial } from '../../src/cli/rules.js';
import { parseArgv } from '../../src/protocol/plain.js';

describe('describeDoubts', () => {
  it.each(['Bash', 'FileRead', 'Agent', 'mcp__db__query', 'mcp__db', '*'])('%s is a tool', (name) => {
    expect(describeDoubts({ tools: [name] })).toEqual([]);
  });

  it.each([
    ['read', '"read" names no tool; did you mean "Read"?'],
    ['Bogus', '"Bogus" names no tool'],
    ['constructor', '"constructor" names no tool'],
    ['Bash\u202e', '"Bash\\u202e" names no tool'],
  ])('%s is none, and that is said', (name, text) => {
    expect(describeDoubts({ tools: ['Read', name] })).toEqual([text]);
  });

  it('a preset is no list of names', () => {
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
    const { config, notes } = drop('--project-config-root=x', '--brief', '--brief', '--model=m');
    expect(notes).toEqual([
      '--project-config-root is not supported yet and was ignored',
      '--brief is not supported yet and was ignored',
    ]);
    expect(config).toMatchObject({ model: 'm' });
    expect(config).not.toHaveProperty('projectConfigRoot');
    expect(config).not.toHaveProperty('brief');
  });
});
