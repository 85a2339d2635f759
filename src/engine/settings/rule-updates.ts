/** Changes of permissions, written into a settings file. */
import { dirname } from 'node:path';
import type { PermissionBehavior, PermissionRuleValue, PermissionUpdate } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import { isTable } from './check.js';
import { editSettings, type EditOptions, type EditOutcome } from './edit.js';
import type { SettingsFiles } from './files.js';
import { END, type ValueChange } from './jsonc-edit.js';
import { findRuleFault } from './rule-text.js';

/** How a file of these may be changed: a project must not lead us elsewhere, and only its shared file is for others. */
export function editOptionsFor(files: SettingsFiles, file: string): EditOptions {
  if (file === files.user) return {};
  return { within: dirname(dirname(file)), shared: file === files.project };
}

const DESTINATIONS = { userSettings: 'user', projectSettings: 'project', localSettings: 'local' } as const;

/**
 * Writes what is meant for settings files to them, and leaves what is meant for the session alone. Each file is changed
 * whole or not at all; what cannot be written anywhere is refused before the first is touched.
 */
export async function writeRuleUpdates(
  files: SettingsFiles,
  updates: readonly PermissionUpdate[],
  options?: Pick<EditOptions, 'clock' | 'waitMs'>,
): Promise<EditOutcome[]> {
  const kept = updates.filter(({ destination }) => Object.hasOwn(DESTINATIONS, destination));
  kept.forEach(refuseUnfit);
  const outcomes: EditOutcome[] = [];
  for (const [destination, layer] of Object.entries(DESTINATIONS)) {
    const own = kept.filter((update) => update.destination === destination);
    if (own.length === 0) continue;
    const file = files[layer];
    if (file === undefined) throw refusal('This folder has no project settings of its own.', 'Use the user settings.');
    outcomes.push(await applyRuleUpdates(file, own, { ...editOptionsFor(files, file), ...options }));
  }
  return outcomes;
}

/**
 * Applies the updates to the file, all of them or none, whatever destination they name. Rules that are there already stay
 * where they are. Throws `invalid_settings` for what cannot be written: half a rule, or a mode that switches asking off.
 */
export async function applyRuleUpdates(
  file: string,
  updates: readonly PermissionUpdate[],
  options?: EditOptions,
): Promise<EditOutcome> {
  updates.forEach(refuseUnfit);
  return editSettings(file, (settings) => toChanges(settings, updates, file), options);
}

export const toRuleText = ({ toolName, ruleContent }: PermissionRuleValue): string =>
  ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`;

function refuseUnfit(update: PermissionUpdate): void {
  if (update.type === 'setMode' && update.mode === 'bypassPermissions') {
    throw refusal('bypassPermissions is never written to a settings file.', 'Choose it when a session starts.');
  }
  if (update.type !== 'addRules' && update.type !== 'replaceRules') return;
  for (const rule of update.rules) {
    const fault = findRuleFault(toRuleText(rule), update.behavior);
    if (fault === undefined || (fault.severity === 'warning' && !fault.isIdle)) continue;
    throw refusal(`The rule cannot be written: ${fault.text}.`, 'Correct the rule.');
  }
}

const refusal = (text: string, hint: string): HeddleError => new HeddleError('invalid_settings', text, { hint });

type ListName = PermissionBehavior | 'additionalDirectories';

function toChanges(
  settings: Readonly<Record<string, unknown>>,
  updates: readonly PermissionUpdate[],
  file: string,
): ValueChange[] {
  const changes: ValueChange[] = [];
  const { permissions = {} } = settings;
  if (!isTable(permissions)) throw broken(file, 'permissions', 'an object');
  const lists = new Map<ListName, unknown[]>();
  const listOf = (name: ListName): unknown[] => {
    const list = lists.get(name) ?? permissions[name] ?? [];
    if (!Array.isArray(list)) throw broken(file, `permissions.${name}`, 'a list');
    const own = lists.get(name) ?? [...(list as unknown[])];
    lists.set(name, own);
    return own;
  };
  const add = (name: ListName, items: readonly string[]): void => {
    const list = listOf(name);
    for (const item of items) {
      if (list.includes(item)) continue;
      list.push(item);
      changes.push({ path: ['permissions', name, END], value: item });
    }
  };
  // From the end, so that places before stay what they are.
  const remove = (name: ListName, isGone: (item: unknown) => boolean): void => {
    const list = listOf(name);
    for (let at = list.length - 1; at >= 0; at -= 1) {
      if (!isGone(list[at])) continue;
      list.splice(at, 1);
      changes.push({ path: ['permissions', name, at], value: undefined });
    }
  };
  const isAmong = (items: readonly string[]) => (item: unknown) => items.includes(item as string);

  for (const update of updates) {
    switch (update.type) {
      case 'addRules':
        add(update.behavior, update.rules.map(toRuleText));
        break;
      case 'removeRules':
        remove(update.behavior, isAmong(update.rules.map(toRuleText)));
        break;
      case 'replaceRules': {
        const wanted = update.rules.map(toRuleText);
        const isWanted = isAmong(wanted);
        remove(update.behavior, (rule) => !isWanted(rule));
        add(update.behavior, wanted);
        break;
      }
      case 'addDirectories':
        add('additionalDirectories', update.directories);
        break;
      case 'removeDirectories':
        remove('additionalDirectories', isAmong(update.directories));
        break;
      case 'setMode':
        changes.push({ path: ['permissions', 'defaultMode'], value: update.mode });
        break;
    }
  }
  return changes;
}

const broken = (file: string, path: string, expected: string): HeddleError =>
  refusal(`${file}: ${path} must be ${expected}. It was not changed.`, 'Correct the file by hand, then try again.');
