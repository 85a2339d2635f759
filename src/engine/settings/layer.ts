/** One source of settings, read and checked. */
import type { PermissionBehavior, Settings } from '../../protocol/index.js';
import type { WrittenRule } from '../permissions/layers.js';
import { checkSettings, type Finding, isGuard, isTable, keyOf } from './check.js';
import { parseJsonc, type ParsedText } from './jsonc.js';
import type { SettingsLayerName, SettingsProblem } from './problem.js';
import { readText } from './read.js';

/** A rule with the line it stands in. */
export interface PlacedRule {
  behavior: PermissionBehavior;
  rule: WrittenRule;
  line: number;
}

export interface SettingsLayer {
  name: SettingsLayerName;
  /** The path of the file, or what stands for it: `--settings`. */
  file: string;
  /** Whether there is a file at all. */
  exists: boolean;
  /** What can be used: empty when a problem is fatal. */
  settings: Settings;
  rules: PlacedRule[];
  problems: SettingsProblem[];
}

export type LayerSource =
  /** `required`: that there is no such file is a fatal problem. */
  | { file: string; required?: boolean }
  /** JSON itself; `label` names it in problems. */
  | { text: string; label: string }
  /** A value that was never text, and has no lines. */
  | { value: unknown; label: string };

/** Never throws: what is wrong is among the problems. */
export async function loadLayer(name: SettingsLayerName, source: LayerSource): Promise<SettingsLayer> {
  const file = 'file' in source ? source.file : source.label;
  const empty: SettingsLayer = { name, file, exists: true, settings: {}, rules: [], problems: [] };
  if ('value' in source) return toLayer({ name, file, parsed: withoutLines(source.value) });
  const refuse = (text: string): SettingsLayer => ({ ...empty, problems: [unreadable({ name, file, text })] });
  const read = 'file' in source ? await readText(source.file) : { text: source.text };
  if ('fault' in read) return refuse(read.fault);
  if (read.text === undefined) {
    const isRequired = 'required' in source && source.required === true;
    return isRequired ? refuse('there is no such file') : { ...empty, exists: false };
  }
  const parsed = await parseJsonc(read.text.replace(/^\uFEFF/, ''));
  return toLayer({ name, file, parsed });
}

async function toLayer({ name, file, parsed }: { name: SettingsLayerName; file: string; parsed: ParsedText }) {
  // Policy and what was just typed are meant as a whole; of a person's file the guards are.
  const isWhole = name === 'managed' || name === 'flag';
  const toProblem = ({ path, severity, text, meansGuard = isGuard(path) }: Finding): SettingsProblem => ({
    severity,
    fatal: severity === 'error' && (isWhole || meansGuard),
    layer: name,
    file,
    ...parsed.placeOf(path),
    path,
    text,
  });
  const value = withOldNames(parsed.value);
  const problems = [
    ...parsed.faults.map((fault) => ({ ...toProblem({ ...fault, severity: 'error' }), ...fault })),
    ...(value === undefined ? [] : (await checkSettings(value, name)).map(toProblem)),
  ].toSorted((one, other) => one.line - other.line || one.column - other.column);
  const isUsable = isTable(value) && !problems.some((problem) => problem.fatal);
  const settings = isUsable ? dropBroken(value, problems) : {};
  const layer: SettingsLayer = { name, file, exists: true, settings, rules: [], problems };
  return { ...layer, rules: placeRules(settings, parsed) };
}

const withoutLines = (value: unknown): ParsedText => ({ value, faults: [], placeOf: () => ({ line: 0, column: 0 }) });

/** `manual` is what some call the default mode. */
function withOldNames(value: unknown): unknown {
  if (!isTable(value) || !isTable(value.permissions) || value.permissions.defaultMode !== 'manual') return value;
  return { ...value, permissions: { ...value.permissions, defaultMode: 'default' } };
}

/** Tables by name: one entry that is broken does not take the others with it. */
const TABLES = new Set(['env', 'mcpServers', 'enabledPlugins', 'extraKnownMarketplaces']);

/** Without the keys that have an error; none of them restricts anything, or the layer would not be used. */
function dropBroken(value: Record<string, unknown>, problems: readonly SettingsProblem[]): Settings {
  const kept = { ...value };
  for (const { path, severity } of problems) {
    const key = keyOf(path);
    if (severity !== 'error') continue;
    const table = kept[key];
    const entry = TABLES.has(key) && isTable(table) ? entryOf(path, table) : undefined;
    if (entry === undefined) delete kept[key];
    else kept[key] = Object.fromEntries(Object.entries(table as object).filter(([name]) => name !== entry));
  }
  return kept;
}

/** The name in a table that a path leads through: `env.A`, `env["a-b"]`. */
const entryOf = (path: string, table: Record<string, unknown>): string | undefined => {
  const rest = path.slice(keyOf(path).length);
  return Object.keys(table).find((name) =>
    [`.${name}`, `[${JSON.stringify(name)}]`].some((start) => rest === start || rest.startsWith(`${start}.`)),
  );
};

function placeRules({ permissions = {} }: Settings, { placeOf }: ParsedText): PlacedRule[] {
  return (['deny', 'ask', 'allow'] as const).flatMap((behavior) =>
    (permissions[behavior] ?? []).map((rule, index) => ({
      behavior,
      rule,
      line: placeOf(`permissions.${behavior}[${index}]`).line,
    })),
  );
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
