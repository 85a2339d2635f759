/** Changes of permissions, written into a settings file. */
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { PermissionBehavior, PermissionRuleValue, PermissionUpdate } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { WrittenRule } from '../permissions/layers.js';
import { isTable } from './table.js';
import { meaningOf } from '../permissions/rules/written.js';
import { editSettings, editTogether, type EditOptions, type EditOutcome, type FileEdit } from './edit.js';
import { folderIn, realPathOf, type SettingsFiles } from './files.js';
import { END, type ValueChange } from './jsonc-edit.js';
import { asSentence } from './near-name.js';
import { findRuleFault } from './rule-text.js';

/** How a file of these may be changed: a project must not lead us elsewhere, and only its shared file is for others. */
export function editOptionsFor(files: SettingsFiles, file: string): EditOptions {
  if (file === files.user) return {};
  return { within: dirname(dirname(file)), shared: file === files.project };
}

const DESTINATIONS = { userSettings: 'user', projectSettings: 'project', localSettings: 'local' } as const;

/** Throws `invalid_settings` that names the first rule that cannot be used; gives what else there is to say. */
function checkUpdates(updates: readonly PermissionUpdate[], tools: readonly string[] | undefined): string[] {
  return updates.flatMap((update, at) => {
    if (Object.hasOwn(DESTINATIONS, update.destination)) refuseMode(update);
    return faultsOf(update, tools).map(({ index, text, isUsable }) => {
      const place = `updatedPermissions[${at}].rules[${index}]`;
      if (isUsable) return `${place}: ${text}`;
      throw refusal(`${place} cannot be used: ${asSentence(text)}`, 'Correct the rule.');
    });
  });
}

export interface WrittenUpdates {
  outcomes: EditOutcome[];
  /** What there is to say of rules that can be used and may do nothing. */
  doubts: string[];
}

/**
 * Writes what is meant for settings files to them, and leaves what is meant for the session alone. Everything is written
 * or nothing: a rule that cannot be used, wherever it is meant for, and a file that cannot be changed are refused before
 * the first is touched. `tools` are names beside the built-in ones.
 */
export async function writeRuleUpdates(
  files: SettingsFiles,
  updates: readonly PermissionUpdate[],
  { tools, ...options }: Pick<EditOptions, 'clock' | 'waitMs'> & { tools?: readonly string[] } = {},
): Promise<WrittenUpdates> {
  const doubts = checkUpdates(updates, tools);
  const idle = new Map<PermissionUpdate, string>();
  const edits = Object.entries(DESTINATIONS).flatMap(([destination, layer]): FileEdit[] => {
    const own = updates.filter((update) => update.destination === destination);
    if (own.length === 0) return [];
    const file = files[layer];
    if (file === undefined) throw refusal('This folder has no project settings of its own.', 'Use the user settings.');
    const edit = (settings: Readonly<Record<string, unknown>>) =>
      toChanges(settings, own, { file, files, onIdle: (update) => idle.set(update, file) });
    return [{ file, edit, options: { ...editOptionsFor(files, file), ...options } }];
  });
  const outcomes = await editTogether(edits);
  const unchanged = [...idle].map(([update, file]) => describeIdle(updates.indexOf(update), file));
  return { outcomes, doubts: [...doubts, ...unchanged] };
}

/** Whoever takes something back must know that it still holds. */
export const describeIdle = (at: number, place: string): string =>
  `updatedPermissions[${at}] removed nothing: ${place} has none of it.`;

/** Whether a list has an item that an update means to take out, as rules are understood. */
function amongRules(rules: readonly PermissionRuleValue[]): (rule: unknown) => boolean {
  const meant = new Set(rules.map((rule) => meaningOf(toRuleText(rule))));
  return (rule) => (typeof rule === 'string' || isTable(rule)) && meant.has(meaningOf(rule));
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
  for (const update of updates) {
    refuseMode(update);
    const fault = faultsOf(update).find(({ isUsable }) => !isUsable);
    if (fault !== undefined)
      throw refusal(`The rule cannot be written: ${asSentence(fault.text)}`, 'Correct the rule.');
  }
  return editSettings(file, (settings) => toChanges(settings, updates, { file }), options);
}

/** Takes a rule out of a list, as it is written there: text or object. */
export async function removeRule(
  file: string,
  { behavior, rule }: { behavior: PermissionBehavior; rule: WrittenRule },
  options?: EditOptions,
): Promise<EditOutcome> {
  const edit = ({ permissions }: Readonly<Record<string, unknown>>): ValueChange[] => {
    const list = isTable(permissions) ? permissions[behavior] : undefined;
    // From the end, so that places before stay what they are.
    return (Array.isArray(list) ? list : [])
      .flatMap((each, at) =>
        isDeepStrictEqual(each, rule) ? [{ path: ['permissions', behavior, at], value: undefined }] : [],
      )
      .toReversed();
  };
  return editSettings(file, edit, options);
}

export const toRuleText = ({ toolName, ruleContent }: PermissionRuleValue): string =>
  ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`;

function refuseMode(update: PermissionUpdate): void {
  if (update.type !== 'setMode' || update.mode !== 'bypassPermissions') return;
  throw refusal('bypassPermissions is never written to a settings file.', 'Choose it when a session starts.');
}

/** What is wrong with rules that an update adds. Usable is one that is only about a tool nobody here knows. */
function faultsOf(
  update: PermissionUpdate,
  tools: readonly string[] = [],
): { index: number; text: string; isUsable: boolean }[] {
  if (update.type !== 'addRules' && update.type !== 'replaceRules') return [];
  return update.rules.flatMap((rule, index) => {
    const fault = findRuleFault(toRuleText(rule), update.behavior, tools);
    if (fault === undefined) return [];
    return [{ index, text: fault.text, isUsable: fault.severity === 'warning' && !fault.isIdle }];
  });
}

const refusal = (text: string, hint: string): HeddleError => new HeddleError('invalid_settings', text, { hint });

type ListName = PermissionBehavior | 'additionalDirectories';

/** Rules that hold for a session alone. False when an update that is meant for them took nothing out. */
export function changeList(list: string[], update: Extract<PermissionUpdate, { rules: unknown }>): boolean {
  const rules = update.rules.map(toRuleText);
  const isOwn = update.destination === 'session' || update.destination === 'cliArg';
  if (update.type === 'removeRules') {
    const isGone = amongRules(update.rules);
    const left = list.filter((rule) => !isGone(rule));
    const isIdle = isOwn && left.length === list.length;
    list.splice(0, Infinity, ...left);
    return !isIdle;
  }
  if (update.type === 'replaceRules' && isOwn) list.splice(0, Infinity, ...rules);
  else list.push(...rules.filter((rule) => !list.includes(rule)));
  return true;
}

interface ChangedFile {
  file: string;
  /** Where relative folders start; without it they are told apart as they are written. */
  files?: SettingsFiles;
  /** Hears of what took nothing out. */
  onIdle?: (update: PermissionUpdate) => void;
}

function toChanges(
  settings: Readonly<Record<string, unknown>>,
  updates: readonly PermissionUpdate[],
  { file, files, onIdle }: ChangedFile,
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
  const remove = (name: ListName, isGone: (item: unknown) => boolean): boolean => {
    const list = listOf(name);
    const { length } = list;
    for (let at = list.length - 1; at >= 0; at -= 1) {
      if (!isGone(list[at])) continue;
      list.splice(at, 1);
      changes.push({ path: ['permissions', name, at], value: undefined });
    }
    return list.length < length;
  };
  const toFolder = (folder: string): string => (files === undefined ? folder : realPathOf(folderIn(folder, files)));
  const isAmong = (items: readonly string[]) => (item: unknown) => items.includes(item as string);

  for (const update of updates) {
    switch (update.type) {
      case 'addRules':
        add(update.behavior, update.rules.map(toRuleText));
        break;
      case 'removeRules':
        if (!remove(update.behavior, amongRules(update.rules))) onIdle?.(update);
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
      case 'removeDirectories': {
        const gone = new Set(update.directories.map(toFolder));
        const isGone = (item: unknown): boolean => typeof item === 'string' && gone.has(toFolder(item));
        if (!remove('additionalDirectories', isGone)) onIdle?.(update);
        break;
      }
      case 'setMode':
        changes.push({ path: ['permissions', 'defaultMode'], value: update.mode });
        break;
    }
  }
  return changes;
}

const broken = (file: string, path: string, expected: string): HeddleError =>
  refusal(`${file}: ${path} must be ${expected}. It was not changed.`, 'Correct the file by hand, then try again.');
