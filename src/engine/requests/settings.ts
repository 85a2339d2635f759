/** The settings of a session for its host, without what nobody has to see. */
import type { SettingsReport, SettingsSource } from '../../protocol/index.js';
import { hideSecrets } from '../mcp/secrets.js';
import type { Session } from '../session.js';
import type { SettingsLayerName } from '../settings/problem.js';

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
