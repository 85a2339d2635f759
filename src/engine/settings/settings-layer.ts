import type { PermissionBehavior, Settings } from '../../protocol/index.js';
import type { WrittenRule } from '../permissions/layers.js';
import type { SettingsLayerName, SettingsProblem } from './problem.js';

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
