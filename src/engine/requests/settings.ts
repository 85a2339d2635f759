/** The settings of a session for its host, without what nobody has to see. */
import type { SettingsReport, SettingsSource } from '../../protocol/index.js';
import { HIDDEN, hideInAddress, hideText } from '../mcp/secrets.js';
import type { Session } from '../session.js';
import type { SettingsLayerName } from '../settings/problem.js';
import { isTable } from '../settings/table.js';

export async function tellSettings({ scope }: Session): Promise<SettingsReport> {
  const { guard, state, config } = scope;
  await guard.refresh();
  const { value, layers } = guard.settings;
  return {
    effective: hideSecrets(value),
    sources: layers
      .filter(({ exists }) => exists)
      .map(({ name, file, settings }) => ({ source: SOURCES[name], settings: hideSecrets(settings), file }))
      .toReversed(),
    applied: { model: state.model.model, effort: config.effort ?? null, permissionMode: state.mode },
  };
}

/** As whoever answers permission questions names them. */
const SOURCES: Readonly<Record<SettingsLayerName, SettingsSource['source']>> = {
  managed: 'policySettings',
  flag: 'flagSettings',
  local: 'localSettings',
  project: 'projectSettings',
  user: 'userSettings',
};

/** Tables whose values are given to programs and servers. */
const SECRET_TABLES = new Set(['env', 'headers']);
/** Single values, by their names: also of keys that only others know. */
const SECRET_NAME = /helper$|api_?key|token$|secret|passw|credential|auth(?:Refresh|Export)|^authorization$/i;

const hideSecrets = (settings: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, hide(name, value)]));

function hide(name: string, value: unknown): unknown {
  if (SECRET_NAME.test(name) && typeof value !== 'boolean') return conceal(value);
  if (SECRET_TABLES.has(name) && isTable(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, conceal(each)]));
  }
  if (name === 'url' && typeof value === 'string') return hideInAddress(value);
  if (Array.isArray(value)) return value.map((each) => hide('', each));
  return isTable(value) ? hideSecrets(value) : value;
}

const conceal = (value: unknown): string => (typeof value === 'string' ? hideText(value) : HIDDEN);
