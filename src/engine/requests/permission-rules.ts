/** The permission rules of a session, for its host. */
import type { ListedRule, ResultOf } from '../../protocol/index.js';
import type { Session } from '../session.js';

const BEHAVIORS = ['deny', 'ask', 'allow'] as const;

export async function listRules({ scope }: Session): Promise<ResultOf<'list_permission_rules'>> {
  const { guard, config } = scope;
  await guard.refresh();
  const rules = guard.layers.flatMap((layer): ListedRule[] =>
    BEHAVIORS.flatMap((behavior) =>
      (layer[behavior] ?? []).map((rule) => ({
        rule: typeof rule === 'string' ? rule : JSON.stringify(rule),
        behavior,
        source: layer.name,
      })),
    ),
  );
  return {
    state: {
      rules,
      workspaceDirectories: [...guard.directories],
      originalCwd: config.cwd,
      managedOnly: guard.settings.managedOnly.rules,
    },
  };
}
