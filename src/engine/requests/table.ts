/** Control requests that ask about an open session or steer it, each in a file that is loaded when it is first asked. */
import type { HostRequest, ParamsOf, ResultOf, SessionConfig } from '../../protocol/index.js';
import type { Session } from '../session.js';

/** `signal` aborts when whoever asked does not wait any longer. */
export type Answer<S extends HostRequest> = (
  session: Session,
  params: ParamsOf<S>,
  options: { signal: AbortSignal },
) => ResultOf<S> | Promise<ResultOf<S>>;

interface Entry<S extends HostRequest> {
  load(): Promise<Answer<S>>;
  /** It tells or changes settings of the machine: clients from elsewhere are refused. */
  isLocal?: true;
}

type Table = { readonly [S in HostRequest]?: Entry<S> };

export const SESSION_REQUESTS = {
  get_usage: { load: async () => (await import('./usage.js')).tellUsage },
  get_settings: { load: async () => (await import('./settings.js')).tellSettings, isLocal: true },
  apply_flag_settings: { load: async () => (await import('./flag-settings.js')).applyFlagSettings, isLocal: true },
  list_permission_rules: { load: async () => (await import('./permission-rules.js')).listRules, isLocal: true },
  get_hooks_listing: { load: async () => (await import('./hooks-listing.js')).listHooks, isLocal: true },
  read_file: { load: async () => (await import('./files.js')).readFile },
  seed_read_state: { load: async () => (await import('./files.js')).seedReadState },
  file_suggestions: { load: async () => (await import('./file-suggestions.js')).suggestFiles },
  get_task_output: { load: async () => (await import('./tasks.js')).tellTaskOutput },
  cancel_async_message: { load: async () => (await import('./queue.js')).cancelMessage },
  reload_plugins: { load: async () => (await import('./plugins.js')).reloadPlugins, isLocal: true },
  reload_output_styles: { load: async () => (await import('./output-styles.js')).reloadStyles },
  mcp_call: { load: async () => (await import('./mcp.js')).callTool },
  mcp_read_resource: { load: async () => (await import('./mcp.js')).readResource },
} satisfies Table;

type Handle = <S extends HostRequest>(
  subtype: S,
  handler: (params: ParamsOf<S>, options: { signal: AbortSignal }) => Promise<ResultOf<S>>,
) => void;

export function handleSessionRequests(
  handle: Handle,
  { open, config }: { open: () => Promise<Session>; config: () => SessionConfig },
): void {
  const add = <S extends HostRequest>(subtype: S, { load, isLocal }: Entry<S>): void =>
    handle(subtype, async (params, options) => {
      if (isLocal) (await import('./refuse-elsewhere.js')).refuseElsewhere(config(), subtype);
      const [answer, session] = await Promise.all([load(), open()]);
      return answer(session, params, options);
    });
  for (const [subtype, entry] of Object.entries(SESSION_REQUESTS))
    add(subtype as HostRequest, entry as Entry<HostRequest>);
}
