/** The sandbox of a session, where settings ask for one: files, or options of the call, which are settings too. */
import type { SessionConfig } from '../../protocol/index.js';
import type { LoadedSettings } from '../settings/load.js';
import type { SettingsNotice } from '../settings/notice.js';
import type { Sandbox } from './sandbox.js';
import type { Surroundings } from './session-sandbox.js';

/** Undefined when none is wanted. Throws `sandbox_unavailable`: a sandbox that was asked for is never left out (E8). */
export async function openSandbox(
  config: SessionConfig,
  loaded: LoadedSettings,
  surroundings: Surroundings,
): Promise<Sandbox | undefined> {
  const { sandbox: settings } = loaded.value;
  if (settings?.enabled !== true) return undefined;
  const { createSessionSandbox } = await import('./session-sandbox.js');
  return createSessionSandbox(settings, config, surroundings);
}

/** That commands run outside of a sandbox which settings would like is no secret between the settings and the log. */
export const noticesOf = (sandbox: Sandbox | undefined): SettingsNotice[] =>
  sandbox?.unavailable === undefined
    ? []
    : [{ level: 'warning', content: `Commands run without a sandbox, as settings allow. ${sandbox.unavailable}` }];
