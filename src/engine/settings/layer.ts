/** One source of settings, read and checked. */
import type { SettingsLayerName } from './problem.js';
import type { SettingsLayer } from './settings-layer.js';
import { readText } from './read.js';

export type LayerSource =
  /** `required`: that there is no such file is a fatal problem. */
  | { file: string; required?: boolean }
  /** JSON itself; `label` names it in problems. */
  | { text: string; label: string }
  /** A value that was never text, and has no lines. */
  | { value: unknown; label: string };

/** Loaded when there is something to read: most sessions have no file. */
const parser = () => import('./parse-layer.js');

/** Never throws: what is wrong is among the problems. */
export async function loadLayer(name: SettingsLayerName, source: LayerSource): Promise<SettingsLayer> {
  const file = 'file' in source ? source.file : source.label;
  const empty: SettingsLayer = { name, file, exists: true, settings: {}, rules: [], problems: [] };
  if ('value' in source) return (await parser()).takeValue(source.value, { name, file });
  const refuse = (text: string): SettingsLayer => ({ ...empty, problems: [unreadable({ name, file, text })] });
  const read = 'file' in source ? await readText(source.file) : { text: source.text };
  if ('fault' in read) return refuse(read.fault);
  if (read.text === undefined) {
    const isRequired = 'required' in source && source.required === true;
    return isRequired ? refuse('there is no such file') : { ...empty, exists: false };
  }
  return (await parser()).parseText(read.text, { name, file });
}

export const unreadable = ({ name, file, text }: { name: SettingsLayerName; file: string; text: string }) => ({
  severity: 'error' as const,
  fatal: true,
  layer: name,
  file,
  line: 0,
  column: 0,
  path: '(root)',
  text,
});
