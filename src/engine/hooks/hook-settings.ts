/** Hooks of settings files, kept in step with the files. */
import { sep } from 'node:path';
import type { SessionScope } from '../scope.js';
import type { LoadedHookSource } from './definition.js';
import type { LoadedSettings } from '../settings/load.js';
import type { SessionSettings } from '../settings/session-settings.js';
import { warnOfHook } from './warning.js';

/**
 * A change of settings is told to hooks before it is taken over, and may be refused by them. Gives a function that takes
 * over what `plugins` have then.
 */
export async function openHookSettings(
  scope: SessionScope,
  { settings, plugins }: { settings: SessionSettings; plugins: () => readonly LoadedHookSource[] },
): Promise<() => Promise<void>> {
  const { hooks } = scope;
  // The weakest first: of two hooks that rewrite the same thing the last one counts.
  const sources = () => {
    const { loaded } = settings;
    const counting = plugins().filter(({ layer }) => mayHaveHooks(layer, loaded));
    return [...counting, ...loaded.hookSources.toReversed()].toSorted((one, other) => rankOf(one) - rankOf(other));
  };
  const takeOver = (): Promise<void> => hooks.replaceSettings(sources());
  await takeOver();
  settings.mayChange = async (files) => {
    if (!hooks.has('ConfigChange')) return true;
    const { turnSignal: signal } = hooks;
    const fired = files.map((file_path) =>
      hooks.fire('ConfigChange', { source: sourceOf(file_path, settings), file_path }, { signal }),
    );
    const verdicts = await Promise.all(fired);
    const block = verdicts.find((verdict) => verdict.block !== undefined)?.block;
    if (block !== undefined) {
      const isPolicy = files.some((file) => sourceOf(file, settings) === 'policy_settings');
      const fate = isPolicy
        ? 'is taken over all the same, because policy has changed'
        : 'does not count in this session';
      warnOfHook(scope, `ConfigChange hook: the change of ${files.join(', ')} ${fate}: ${block.reason}`);
      return false;
    }
    // Whoever interrupts a turn has not taken the change out of the hands of its hooks.
    return verdicts.some((verdict) => verdict.cancelled) ? 'later' : true;
  };
  settings.onChange(takeOver);
  return takeOver;
}

export type HookLimits = Pick<LoadedSettings, 'managedOnly' | 'value' | 'origins'>;

/** Whether hooks of plugins and definitions count. What policy enables is policy's: nobody else switches it off. */
export function mayHaveHooks(layer: LoadedHookSource['layer'], { managedOnly, value, origins }: HookLimits): boolean {
  const areOff = value.disableAllHooks === true;
  return layer === 'managed' ? !(areOff && origins.disableAllHooks === 'managed') : !areOff && !managedOnly.hooks;
}

const rankOf = ({ layer }: LoadedHookSource): number => Number(layer === 'managed');

function sourceOf(file: string, { loaded: { files } }: SessionSettings): string {
  if (file === files.user) return 'user_settings';
  if (file === files.project) return 'project_settings';
  if (file === files.local || file === files.mainLocal) return 'local_settings';
  return files.managed.some((folder) => file === folder || file.startsWith(`${folder}${sep}`))
    ? 'policy_settings'
    : 'flag_settings';
}
