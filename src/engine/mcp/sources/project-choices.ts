/** What settings say about the servers of `.mcp.json` by name, as other programs keep it. */
import type { SettingsLayer } from '../../settings/settings-layer.js';

export interface ProjectChoices {
  /** Every server of the project counts as approved. */
  all: boolean;
  enabled: ReadonlySet<string>;
  disabled: ReadonlySet<string>;
}

/** A project may switch its servers off, never on; its local file speaks for the person once the folder is trusted. */
export function readProjectChoices(layers: readonly SettingsLayer[], trusted: boolean): ProjectChoices {
  const speaking = layers.filter(({ name }) => name !== 'project' && (name !== 'local' || trusted));
  const says = (among: readonly SettingsLayer[], value: boolean): boolean =>
    among.some(({ settings }) => settings.enableAllProjectMcpServers === value);
  return {
    all: says(speaking, true) && !says(layers, false),
    enabled: new Set(speaking.flatMap(({ settings }) => settings.enabledMcpjsonServers ?? [])),
    disabled: new Set(layers.flatMap(({ settings }) => settings.disabledMcpjsonServers ?? [])),
  };
}
