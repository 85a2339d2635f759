/** The hooks of a session, and the events that they can be for. */
import type { CataloguedEvent, HooksListing, ListedHook } from '../../protocol/index.js';
import type { HookDefinition } from '../hooks/definition.js';
import { HOOK_TRIGGERS } from '../hooks/events.js';
import type { Session } from '../session.js';

export async function listHooks({ scope }: Session): Promise<HooksListing> {
  const { hooks, guard } = scope;
  await guard.refresh();
  const { managedOnly, value } = guard.settings;
  const listed = hooks.list.map(toListed);
  return {
    events: [...new Set(listed.map(({ event }) => event))],
    hooks: listed,
    eventCatalog: CATALOG,
    policy: { disableAllHooks: value.disableAllHooks === true, managedOnly: managedOnly.hooks },
  };
}

/** `source` of a definition has no secrets in it. */
const toListed = ({
  event,
  action,
  layer,
  source,
  written,
  rule,
  timeoutMs,
  onFailure,
}: HookDefinition): ListedHook => ({
  event,
  ...(written !== undefined && { matcher: written }),
  type: action.kind === 'mcp-tool' ? 'mcp_tool' : action.kind,
  source: layer,
  name: source,
  ...(rule !== undefined && { if: rule }),
  timeout: timeoutMs / 1000,
  onFailure,
});

const CATALOG: CataloguedEvent[] = Object.entries(HOOK_TRIGGERS).map(([event, { when, matchField, gate, later }]) => ({
  event,
  description: when,
  ...(matchField !== undefined && { matchField }),
  gate: gate !== false,
  happens: later === undefined,
}));
