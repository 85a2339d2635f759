import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { completionScript } from '../../src/cli/completion.js';

/** What bash would offer after these words. */
function complete(...words: string[]): string[] {
  const list = words.map((word) => `'${word}'`).join(' ');
  const probe = `${completionScript('bash')}\nCOMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _heddle; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', probe], { encoding: 'utf8' }).trim().split('\n');
}

describe('shell completion', () => {
  it('bash: flags, choices and commands, as real bash sees them', () => {
    expect(complete('heddle', '--output')).toEqual(['--output-format']);
    expect(complete('heddle', '--output-format', 'st')).toEqual(['stream-json']);
    expect(complete('heddle', 'doc')).toEqual(['doctor']);
    expect(complete('heddle', 'completion', 'z')).toEqual(['zsh']);
    expect(complete('heddle', '--allowedT')).toEqual(['--allowedTools']);
  });

  it('zsh and fish name every flag that is shown', () => {
    for (const shell of ['zsh', 'fish']) expect(completionScript(shell)).toMatch(/permission-mode/);
    expect(completionScript('fish')).toContain('-s p');
  });

  it('another shell is an error that says which there are', () => {
    expect(() => completionScript('tcsh')).toThrow(/bash, fish, zsh/);
  });
});
