/** Rules that a session is called with: what is broken is refused, what may do nothing is told. */
import type { SessionConfig } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { asSentence } from './near-name.js';
import { OPTIONS_LABEL, type SettingsProblem } from './problem.js';
import { findListFaults } from './rule-text.js';

const LISTS = [
  ['allowedTools', 'allow'],
  ['disallowedTools', 'deny'],
] as const;

/** Throws `invalid_config` for a rule that would restrict nothing or is half a one. `tools` are names beside the built-in ones. */
export function checkCalledRules(config: SessionConfig, tools: readonly string[]): SettingsProblem[] {
  return LISTS.flatMap(([key, behavior]) =>
    [...findListFaults(config[key] ?? [], behavior, tools)].map(([index, { severity, text }]): SettingsProblem => {
      const path = `${key}[${index}]`;
      if (severity === 'warning') return toWarning(path, text);
      throw new HeddleError('invalid_config', `${path}: ${asSentence(text)}`, {
        hint: `Correct ${path}, or leave it out.`,
        data: { path },
      });
    }),
  );
}

const toWarning = (path: string, text: string): SettingsProblem => ({
  severity: 'warning',
  fatal: false,
  layer: 'flag',
  file: OPTIONS_LABEL,
  line: 0,
  column: 0,
  path,
  text,
});
