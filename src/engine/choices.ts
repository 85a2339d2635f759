/** What may be changed while a session lives. Every choice is logged, so that a resume finds it. */
import { resolve } from 'node:path';
import type {
  PermissionBehavior,
  PermissionMode,
  PermissionRuleValue,
  PermissionUpdate,
  SessionConfig,
} from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';
import type { SessionScope } from './scope.js';

/** Bypassing is only open to sessions that were opened for it. */
export const mayBypass = (config: SessionConfig): boolean =>
  config.allowDangerouslySkipPermissions === true || config.permissionMode === 'bypassPermissions';

export function setMode(scope: SessionScope, mode: PermissionMode): void {
  if (mode === 'bypassPermissions' && !mayBypass(scope.config)) {
    const text =
      'Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions';
    throw new HeddleError('invalid_config', text, { data: { error_code: 'bypass_not_launched' } });
  }
  scope.state.mode = mode;
  void scope.recorder.life({ kind: 'set', mode });
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

export function setCwd(scope: SessionScope, cwd: string): void {
  if (scope.state.cwd === cwd) return;
  scope.state.cwd = cwd;
  void scope.recorder.life({ kind: 'set', cwd });
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

/** Takes over what an answer changes about permissions, for this session. */
export function applyPermissions(scope: SessionScope, updates: readonly PermissionUpdate[]): void {
  const { state, config, logger } = scope;
  for (const update of updates) {
    if (update.destination !== 'session') {
      logger('warn', `rules are not written to ${update.destination} in this version; they hold for this session`);
    }
    switch (update.type) {
      case 'setMode':
        setMode(scope, update.mode);
        break;
      case 'addDirectories':
        state.roots.push(...update.directories.map((folder) => resolve(config.cwd, folder)));
        break;
      case 'removeDirectories': {
        const gone = new Set(update.directories.map((folder) => resolve(config.cwd, folder)));
        state.roots = state.roots.filter((root, index) => index === 0 || !gone.has(root));
        break;
      }
      case 'addRules':
        for (const rule of update.rules) listFor(scope, rule, update.behavior).push(toText(rule));
        break;
      case 'replaceRules':
        for (const list of listsOf(scope, update.behavior)) list.length = 0;
        for (const rule of update.rules) listFor(scope, rule, update.behavior).push(toText(rule));
        break;
      case 'removeRules': {
        const gone = new Set(update.rules.map(toText));
        for (const list of listsOf(scope, update.behavior))
          list.splice(0, Infinity, ...list.filter((rule) => !gone.has(rule)));
        break;
      }
    }
  }
}

const listsOf = ({ state }: SessionScope, behavior: PermissionBehavior): string[][] =>
  behavior === 'allow' ? [state.allowed] : behavior === 'deny' ? [state.denied] : [state.asked, state.denied];

/** A rule with brackets that denies or asks cannot be judged yet: among the denials it makes every call ask. */
function listFor({ state }: SessionScope, rule: PermissionRuleValue, behavior: PermissionBehavior): string[] {
  if (behavior === 'allow') return state.allowed;
  return behavior === 'ask' && rule.ruleContent === undefined ? state.asked : state.denied;
}

const toText = ({ toolName, ruleContent }: PermissionRuleValue): string =>
  ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`;
