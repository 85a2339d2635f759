/** Settings that a host gives a session that runs, as if it had been started with them. */
import type { ParamsOf } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { Session } from '../session.js';
import { isTable } from '../settings/table.js';

/** Looked at when they are needed. */
const LIVE: ReadonlySet<string> = new Set([
  '$schema',
  'allowedMcpServers',
  'autoCompactEnabled',
  'claudeMdExcludes',
  'deniedMcpServers',
  'disableAllHooks',
  'hooks',
  'includeGitInstructions',
  'model',
  'permissions',
  'permissions.additionalDirectories',
  'permissions.allow',
  'permissions.ask',
  'permissions.deny',
  'plansDirectory',
]);

/** They restrict something, and cannot do so any more: whoever gives them must not believe that they do. */
const TOO_LATE = ['sandbox', 'permissions.disableBypassPermissionsMode'];

/** Throws, and changes nothing, when a part of it cannot be used. */
export async function applyFlagSettings(
  session: Session,
  { settings }: ParamsOf<'apply_flag_settings'>,
): Promise<undefined> {
  const { guard, recorder, clock, id, config } = session.scope;
  const paths = pathsIn(settings);
  const late = paths.find((path) => TOO_LATE.includes(path));
  if (late !== undefined) {
    throw new HeddleError(
      'not_supported',
      `${late} counts from the start of a session: it cannot be changed in this one.`,
    );
  }
  await guard.apply(settings, async ({ value, origins }) => {
    // Policy counts more than the host.
    if ('model' in settings && origins.model !== 'managed') await session.setModel(value.model ?? config.model);
  });
  const idle = paths.filter((path) => !LIVE.has(path));
  if (idle.length === 0) return undefined;
  recorder.emit({
    type: 'system',
    subtype: 'informational',
    level: 'warning',
    tag: 'settings',
    content: `These settings count from the start of a session, and change nothing in this one: ${idle.join(', ')}.`,
    uuid: clock.uuid(),
    session_id: id,
  });
  return undefined;
}

/** Keys, and those below `permissions`. What is taken back is not looked at. */
const pathsIn = (settings: Record<string, unknown>): string[] =>
  Object.entries(settings).flatMap(([key, value]) => {
    if (value === null) return [];
    return key === 'permissions' && isTable(value) ? Object.keys(value).map((name) => `${key}.${name}`) : [key];
  });
