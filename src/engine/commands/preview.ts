/** What a session will offer, for a host that asks before there is one. */
import type {
  AccountInfo,
  AgentInfo,
  Clock,
  ModelProvider,
  SessionConfig,
  SlashCommand,
} from '../../protocol/index.js';
import { type SessionDefinitions, openDefinitions } from '../definitions/open.js';
import { DEFAULT_STYLE, findStyle, stylesOf } from '../output-style.js';
import { takesStyle } from '../prompt.js';
import { findKeySource } from '../provider.js';
import { openSettings, withSettings } from '../settings/session-settings.js';
import { indexCommands, toSlashCommand } from './index-commands.js';

export interface Preview {
  commands: SlashCommand[];
  agents: AgentInfo[];
  output_style: string;
  available_output_styles: string[];
  account: AccountInfo;
}

/** Who answers every session, when the engine was given someone. */
interface PreviewParts {
  clock: Clock;
  provider: ModelProvider | undefined;
}

/** Never rejects: what is wrong is told when the session opens. Prompts of servers come later. */
export async function previewSession(called: SessionConfig, { clock, provider }: PreviewParts): Promise<Preview> {
  try {
    const { loaded } = await openSettings(called, { clock, home: called.env.HOME || '/' });
    const config = withSettings(called, loaded);
    const definitions = await openDefinitions(config, loaded);
    const keySource = await findKeySource(config, provider);
    return describeOffer(definitions, { config, outputStyle: loaded.value.outputStyle, keySource });
  } catch {
    const styles = { output_style: DEFAULT_STYLE, available_output_styles: [DEFAULT_STYLE] };
    return { commands: [], agents: [], ...styles, account: { tokenSource: 'none' } };
  }
}

export function describeOffer(
  definitions: Pick<SessionDefinitions, 'agents' | 'commands' | 'skills' | 'styles'>,
  parts: { config: SessionConfig; outputStyle: string | undefined; keySource: string },
): Preview {
  const { config, outputStyle, keySource } = parts;
  const styles = stylesOf(definitions.styles);
  const commands = config.disableSlashCommands ? [] : [...indexCommands(definitions, []).values()];
  return {
    commands: commands.map(toSlashCommand),
    agents: [...definitions.agents.values()].map(({ name, description, model, color }) => ({
      name,
      description,
      ...(model !== undefined && { model }),
      ...(color !== undefined && { color }),
    })),
    output_style: (takesStyle(config) && findStyle(outputStyle, styles).style?.name) || DEFAULT_STYLE,
    available_output_styles: [DEFAULT_STYLE, ...styles.keys()],
    account: { tokenSource: 'none', apiKeySource: keySource },
  };
}
