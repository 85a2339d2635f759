/** What may be changed while a session lives. Every choice is logged, so that a resume finds it. */
import { isDeepStrictEqual } from 'node:util';
import type { PermissionMode, PermissionUpdate, SessionConfig } from '../protocol/index.js';
import { HeddleError, isOn } from '../protocol/plain.js';
import type { SessionScope, SessionState } from './scope.js';

/** Bypassing is only open to sessions that were opened for it. */
export const mayBypass = (config: SessionConfig): boolean => config.allowDangerouslySkipPermissions === true;

/** Whoever may do anything to this machine must say once more that nothing can be broken. No settings file says it. */
export function refuseRoot(config: SessionConfig): void {
  if (!mayBypass(config) || process.getuid?.() !== 0 || isOn(config.env.IS_SANDBOX)) return;
  throw new HeddleError(
    'invalid_config',
    'bypassPermissions is refused for root. Set IS_SANDBOX=1 where nothing can be broken, or run as another user.',
  );
}

function refuseMode(config: SessionConfig, mode: PermissionMode): void {
  if (mode !== 'bypassPermissions' || mayBypass(config)) return;
  const text =
    'Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions';
  throw new HeddleError('invalid_config', text, { data: { error_code: 'bypass_not_launched' } });
}

/** Plan mode opens nothing that the mode before has closed: where nobody was asked, nobody is asked while a plan is made. */
export const isSilentPlan = ({ mode, modeBefore }: Pick<SessionState, 'mode' | 'modeBefore'>): boolean =>
  mode === 'plan' && (modeBefore === 'dontAsk' || modeBefore === 'delegate');

export function setMode(scope: SessionScope, mode: PermissionMode): void {
  refuseMode(scope.config, mode);
  const { state } = scope;
  if (mode !== 'plan') state.modeBefore = undefined;
  else if (state.mode !== 'plan') state.modeBefore = state.mode;
  state.mode = mode;
  void scope.recorder.life({
    kind: 'set',
    mode,
    ...(mode === 'plan' && { modeBefore: state.modeBefore ?? 'default' }),
  });
  const { clock, id } = scope;
  scope.recorder.emit({
    type: 'system',
    subtype: 'status',
    status: null,
    permissionMode: mode,
    uuid: clock.uuid(),
    session_id: id,
  });
}

/** From the next turn on. Gives the name of the model it stands for. */
export async function setModel(scope: SessionScope, name = 'default'): Promise<string> {
  if (typeof name !== 'string') throw new HeddleError('invalid_config', 'A model is named by a string.');
  const model = scope.catalog.resolveModel(name);
  refuseUnpriced(scope.config, [model.model], scope.catalog.hasPrice);
  const { keySource } = await scope.providerFor(model.model);
  Object.assign(scope.state, { model, keySource });
  void scope.recorder.life({ kind: 'set', model: name });
  return model.model;
}

/** From the next turn on. 0: no thinking; null: as configured. */
export function setMaxThinkingTokens(scope: SessionScope, tokens: number | null): void {
  scope.state.maxThinkingTokens = tokens;
  void scope.recorder.life({ kind: 'set', maxThinkingTokens: tokens });
}

export function setTitle({ recorder, id, clock }: SessionScope, title: string): void {
  const timestamp = new Date(clock.now()).toISOString();
  recorder.mark({ type: 'custom-title', sessionId: id, customTitle: title.trim(), uuid: clock.uuid(), timestamp });
}

export function setCwd(scope: SessionScope, cwd: string): void {
  if (scope.state.cwd === cwd) return;
  const old_cwd = scope.state.cwd;
  scope.state.cwd = cwd;
  void scope.recorder.life({ kind: 'set', cwd });
  void scope.hooks.fire('CwdChanged', { old_cwd, new_cwd: cwd }, { signal: new AbortController().signal });
}

/** A budget that cannot be watched would be no budget. */
export function refuseUnpriced(
  config: SessionConfig,
  models: readonly string[],
  hasPrice: (model: string) => boolean,
): void {
  const unpriced = config.maxBudgetUsd === undefined ? undefined : models.find((model) => !hasPrice(model));
  if (unpriced === undefined) return;
  throw new HeddleError('budget_unpriced', `The price of ${unpriced} is not known, so a USD budget cannot be kept.`);
}

/** Takes over what an answer changes about permissions: all of it, or nothing. */
export async function applyPermissions(
  scope: SessionScope,
  updates: readonly PermissionUpdate[],
  { suggested, shown }: { suggested: readonly PermissionUpdate[]; shown: { name: string; hash: string | undefined } },
): Promise<void> {
  if (updates.length === 0) return;
  const { config, guard } = scope;
  for (const update of updates) {
    if (update.type === 'setMode') refuseMode(config, update.mode);
    refuseWrite(config, update, suggested);
  }
  await guard.update(updates);
  await approveTools(scope, updates, shown);
  const granted = updates.filter(({ destination, type }) => destination === 'session' && type !== 'setMode');
  // What is granted for the session holds for all of it, also when it was an agent that asked.
  const { main = scope } = scope;
  if (granted.length > 0) void main.recorder.life({ kind: 'permissions', updates: granted });
  const all = new Set([main, scope]);
  for (const update of updates) if (update.type === 'setMode') for (const each of all) setMode(each, update.mode);
  for (const each of all) each.state.roots = await guard.roots();
}

/** Whoever says always to tools of servers means them as they are: the one in question as it was shown. */
async function approveTools(
  { mcp, toolApprovals }: SessionScope,
  updates: readonly PermissionUpdate[],
  shown: { name: string; hash: string | undefined },
): Promise<void> {
  for (const update of updates) {
    if (!('rules' in update) || update.type === 'removeRules' || update.behavior !== 'allow') continue;
    const rules = update.rules.map(({ toolName }) => toolName.replace(/__\*$/, ''));
    const isNamed = (name: string) => rules.some((rule) => rule === name || name.startsWith(`${rule}__`));
    const kept = update.destination !== 'session' && update.destination !== 'cliArg';
    for (const { name } of mcp.tools.filter((tool) => isNamed(tool.name))) {
      const hash = name === shown.name ? shown.hash : mcp.definitionOf(name);
      if (hash !== undefined) await (await toolApprovals()).approve({ name, hash }, { kept });
    }
  }
}

/** Whoever answers from elsewhere does not decide what is kept on this machine. */
function refuseWrite(
  { settingsWrites = 'any' }: SessionConfig,
  update: PermissionUpdate,
  suggested: readonly PermissionUpdate[],
): void {
  const { destination } = update;
  if (settingsWrites === 'any' || destination === 'session' || destination === 'cliArg') return;
  if (settingsWrites === 'suggested' && suggested.some((each) => isDeepStrictEqual(each, update))) return;
  const what = settingsWrites === 'none' ? 'Nothing' : 'Only what was suggested';
  throw new HeddleError('not_supported', `${what} may be written to ${destination} here.`, {
    hint: 'Answer with the destination "session".',
  });
}
