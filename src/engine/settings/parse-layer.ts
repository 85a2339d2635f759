/** What a source of settings says, checked. */
import type { Settings } from '../../protocol/index.js';
import { checkSettings, type Finding, isGuard, keyOf } from './check.js';
import { parseJsonc, type ParsedText } from './jsonc.js';
import type { SettingsProblem } from './problem.js';
import type { PlacedRule, SettingsLayer } from './settings-layer.js';
import { isTable } from './table.js';

type LayerPlace = Pick<SettingsLayer, 'name' | 'file'>;

export const parseText = async (text: string, place: LayerPlace): Promise<SettingsLayer> =>
  toLayer(await parseJsonc(text.replace(/^\uFEFF/, '')), place);

/** A value that was never text has no lines. */
export const takeValue = (value: unknown, place: LayerPlace): Promise<SettingsLayer> =>
  toLayer({ value, faults: [], placeOf: () => ({ line: 0, column: 0 }) }, place);

async function toLayer(parsed: ParsedText, { name, file }: LayerPlace): Promise<SettingsLayer> {
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
