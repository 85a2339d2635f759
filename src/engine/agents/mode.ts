import type { PermissionMode } from '../../protocol/index.js';
import { mayBypass } from '../choices.js';
import type { Agent } from '../definitions/definition.js';
import type { SessionScope } from '../scope.js';

/** From strict to loose. */
const LOOSENESS: readonly PermissionMode[] = ['plan', 'dontAsk', 'default', 'acceptEdits', 'bypassPermissions'];

const isLooser = (one: PermissionMode, other: PermissionMode): boolean =>
  LOOSENESS.indexOf(one) > LOOSENESS.indexOf(other);

export interface ModeWishes {
  agent: Pick<Agent, 'permissionMode' | 'origin'>;
  /** What the model that starts it asks for. */
  asked?: PermissionMode | undefined;
  /** What a person has answered while it worked. */
  granted?: PermissionMode | undefined;
}

/** Where nobody is asked, a mode that asks does not change that: what would be asked is denied. */
export function asksNobody(
  { mode, asksNobody: isInherited }: { mode: PermissionMode; asksNobody?: boolean | undefined },
  { agent: { permissionMode: defined }, asked, granted }: ModeWishes,
): boolean {
  if (isInherited === true || mode === 'dontAsk') return true;
  return granted === undefined && (defined === 'dontAsk' || asked === 'dontAsk');
}

/**
 * The mode in which an agent works: that of the session as it is now, or that of its definition. A session that plans, or
 * asks nobody, has no looser agents; nobody bypasses where the session may not; what comes with a plugin, and what a
 * model asks for, may only be stricter.
 */
export function chooseMode(
  { mode, config }: { mode: PermissionMode; config: SessionScope['config'] },
  { agent: { permissionMode: defined, origin }, asked, granted }: ModeWishes,
): PermissionMode {
  // A session that only delegates has others work under their own modes.
  const inherited = mode === 'delegate' ? 'default' : mode;
  const isBound = inherited === 'plan' || inherited === 'dontAsk';
  const mayHave = (wanted: PermissionMode, onlyStricter: boolean): boolean => {
    if (wanted === 'delegate' || (wanted === 'bypassPermissions' && !mayBypass(config))) return false;
    return !((isBound || onlyStricter) && isLooser(wanted, inherited));
  };
  let chosen: PermissionMode = inherited;
  if (defined !== undefined && mayHave(defined, origin.scope === 'plugin')) chosen = defined;
  if (granted !== undefined && mayHave(granted, false)) chosen = granted;
  else if (asked !== undefined && asked !== 'delegate' && isLooser(chosen, asked)) chosen = asked;
  return chosen;
}
