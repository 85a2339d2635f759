import { judgeCase } from '../../src/engine/permissions/check.js';

export interface Rules {
  allow?: string[];
  deny?: string[];
  mode?: string;
  /** What is on the disk. */
  fs?: string[];
}

/** The verdict about a line in a trusted project at /repo. */
export function judgeLine(command: string, rules: Rules = {}): string {
  const setup = { mode: 'default', cwd: '/repo', trusted: true, ...rules };
  return judgeCase({ id: 1, setup, input: { tool: 'Bash', command } }).verdict;
}
