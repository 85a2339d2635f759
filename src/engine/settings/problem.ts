import { HeddleError } from '../../protocol/plain.js';

/** What stands for the file of settings that are options of a call. */
export const OPTIONS_LABEL = 'options';

/** And of those that a host gives while the session runs. */
export const APPLIED_LABEL = 'apply_flag_settings';

/** The layers of settings, the strongest first. */
export const SETTINGS_LAYERS = ['managed', 'flag', 'local', 'project', 'user'] as const;
export type SettingsLayerName = (typeof SETTINGS_LAYERS)[number];

/** Something in a settings file that is not as it must be. */
export interface SettingsProblem {
  severity: 'error' | 'warning';
  /** The session must not start: running without the broken part could allow more than was meant. */
  fatal: boolean;
  layer: SettingsLayerName;
  /** The path of the file, or what stands for it: `--settings`. */
  file: string;
  /** Both count from 1; 0 when the file could not even be read. */
  line: number;
  column: number;
  /** `permissions.allow[2]`; `(root)` for the file as a whole. */
  path: string;
  text: string;
}

/** `file:line:column: path: text`, as editors and terminals know it. */
export function describeProblem({ file, line, column, path, text }: SettingsProblem): string {
  const place = line === 0 ? file : `${file}:${line}:${column}`;
  return path === '(root)' ? `${place}: ${text}` : `${place}: ${path}: ${text}`;
}

/** Throws `invalid_settings` that lists every problem with which no session may start. */
export function refuseBrokenSettings({ problems }: { problems: readonly SettingsProblem[] }): void {
  const fatal = problems.filter((problem) => problem.fatal);
  if (fatal.length === 0) return;
  const [only] = fatal;
  const text =
    fatal.length === 1 && only !== undefined
      ? `Settings cannot be used: ${describeProblem(only)}`
      : `Settings cannot be used:\n${fatal.map((problem) => `  ${describeProblem(problem)}`).join('\n')}`;
  throw new HeddleError('invalid_settings', text, { data: { problems: fatal } });
}
