import type { ConfigInput, WholeTool } from '../../protocol/index.js';
import type { readConfigKey } from '../settings/config-keys.js';
import type { LoadedSettings } from '../settings/load.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

export interface ConfigToolParts {
  /** The settings file of the user: the only one that is written. */
  userFile: string;
  /** The settings in force. */
  current: () => LoadedSettings;
}

/** Reads and writes settings by name. What it writes counts from the next session on, or when the files are read again. */
export function createConfigTool({ userFile, current }: ConfigToolParts): WholeTool<ConfigInput> {
  return {
    name: 'Config',
    description: 'Reads a setting, or writes it to the settings file of the user.',
    inputSchema: inputSchemaOf('Config'),
    async parse(input) {
      const parsed = await parseToolInput('Config', input);
      const { checkConfigKey } = await import('../settings/config-keys.js');
      checkConfigKey(parsed.setting, parsed.value);
      return parsed;
    },
    isReadOnly: ({ value }) => value === undefined,
    // Settings files are protected: writing one is asked about in every mode.
    accesses: ({ value }) => (value === undefined ? [] : [{ path: userFile, access: 'write' }]),
    async run({ setting, value }) {
      const { readConfigKey: read, writeConfigKey } = await import('../settings/config-keys.js');
      const before = read(current(), setting);
      if (value === undefined) {
        const text = before.value === undefined ? `${setting} is not set.` : describe(setting, before);
        return { content: text, structured: { success: true, operation: 'get', setting, value: before.value } };
      }
      const { written, file } = await writeConfigKey(userFile, { key: setting, value });
      const isHidden = before.layer !== undefined && before.layer !== 'user';
      const note = isHidden ? ` The ${before.layer} settings set it too, and count more.` : '';
      return {
        content: `${setting} is now ${JSON.stringify(written)} in ${file}.${note}`,
        structured: { success: true, operation: 'set', setting, previousValue: before.value, newValue: written },
      };
    },
  };
}

const describe = (setting: string, { value, layer }: ReturnType<typeof readConfigKey>): string =>
  `${setting} is ${JSON.stringify(value)}${layer === undefined ? '' : ` (from the ${layer} settings)`}.`;
