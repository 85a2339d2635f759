/** THE TABLE: every control request with its sender, its params and its result. Senders and handlers are typed from it. */
import { z } from 'zod';
import { ModelInfo } from './agent.js';
import { ContextUsage } from './context-usage.js';
import { HookOutput } from './hook-output.js';
import { type Infer, lazy } from './lazy.js';
import { JsonRpcMessage, McpServerConfig, McpServerStatus, McpSetServersResult } from './mcp.js';
import { PERMISSION_MODES } from './names.js';
import { foreignName, jsonObject, openName } from './open-union.js';
import { PermissionAlias, PermissionResult } from './permission.js';
import {
  AnyObject,
  CanUseToolParams,
  ElicitationParams,
  HookCallbackParams,
  InitializeParams,
  InitializeResult,
  McpServerName,
  NoParams,
  NoResult,
  RewindFilesResult,
} from './request-shapes.js';
import {
  FileSuggestion,
  HooksListing,
  McpCallAnswer,
  McpResourceAnswer,
  PermissionRulesState,
  PluginsReport,
  SessionUsage,
  SettingsReport,
  TaskOutputReport,
} from './session-report.js';

interface RequestSpec {
  /** What it does, in a line for the reference. */
  about: string;
  /** `both`: either side may send it. */
  from: 'host' | 'engine' | 'both';
  params: () => z.ZodType<object>;
  result: () => z.ZodType;
}

const spec = <const S extends RequestSpec>(one: S): S => one;

export const REQUESTS = {
  initialize: spec({
    about: 'Opens the session: callbacks, prompts, agents.',
    from: 'host',
    params: InitializeParams,
    result: InitializeResult,
  }),
  interrupt: spec({
    about: 'Stops the turn; the session stays usable.',
    from: 'host',
    params: lazy(() => z.object({ cancel_queued: z.boolean().optional() })),
    result: lazy(() =>
      z
        .object({ still_queued: z.array(z.unknown()).optional() })
        .nullable()
        .optional(),
    ),
  }),
  set_permission_mode: spec({
    about: 'Changes the permission mode.',
    from: 'host',
    params: lazy(() => z.object({ mode: openName(...PERMISSION_MODES) })),
    result: lazy(() =>
      z
        .object({ mode: foreignName(...PERMISSION_MODES).optional() })
        .nullable()
        .optional(),
    ),
  }),
  set_model: spec({
    about: 'Changes the model.',
    from: 'host',
    params: lazy(() => z.object({ model: z.string().nullable().optional().describe('Absent: the default model.') })),
    result: lazy(() => z.object({ model: z.string().optional() }).nullable().optional()),
  }),
  set_max_thinking_tokens: spec({
    about: 'Changes the budget for thinking.',
    from: 'host',
    params: lazy(() =>
      z.object({ max_thinking_tokens: z.number().nullable(), thinking_display: z.string().optional() }),
    ),
    result: NoResult,
  }),
  mcp_status: spec({
    about: 'How each MCP server fares.',
    from: 'host',
    params: NoParams,
    result: lazy(() => z.object({ mcpServers: z.array(McpServerStatus()) })),
  }),
  mcp_set_servers: spec({
    about: 'Replaces the servers that were added at run time.',
    from: 'host',
    params: lazy(() => z.object({ servers: z.record(z.string(), McpServerConfig()) })),
    result: McpSetServersResult,
  }),
  mcp_reconnect: spec({
    about: 'Connects a server anew.',
    from: 'host',
    params: McpServerName,
    result: NoResult,
  }),
  mcp_toggle: spec({
    about: 'Switches a server on or off.',
    from: 'host',
    params: lazy(() => z.object({ serverName: z.string(), enabled: z.boolean() })),
    result: NoResult,
  }),
  mcp_message: spec({
    about: 'Carries JSON-RPC to or from a server of the host.',
    from: 'both',
    params: lazy(() => z.object({ server_name: z.string(), message: JsonRpcMessage() })),
    result: lazy(() => z.object({ mcp_response: JsonRpcMessage().optional() }).nullable().optional()),
  }),
  mcp_call: spec({
    about: 'Calls a tool of a server, under the rules and hooks that the model is under.',
    from: 'host',
    params: lazy(() =>
      z.object({ server_name: z.string(), tool_name: z.string(), arguments: jsonObject().optional() }),
    ),
    result: McpCallAnswer,
  }),
  mcp_read_resource: spec({
    about: 'Reads a resource of a server, where the rules allow it unasked.',
    from: 'host',
    params: lazy(() => z.object({ server_name: z.string(), uri: z.string() })),
    result: McpResourceAnswer,
  }),
  rewind_files: spec({
    about: 'Puts files back to how they were before a user message.',
    from: 'host',
    params: lazy(() =>
      z.object({
        user_message_id: z.string(),
        dry_run: z.boolean().optional().describe('Only say what would change.'),
        overwrite_edits: z.boolean().optional().describe('Also where someone else changed a file later.'),
      }),
    ),
    result: RewindFilesResult,
  }),
  seed_read_state: spec({
    about: 'Says that the model knows a file as it was at that time; one that has changed since stays unknown.',
    from: 'host',
    params: lazy(() => z.object({ path: z.string(), mtime: z.number().describe('Milliseconds since 1970.') })),
    result: NoResult,
  }),
  read_file: spec({
    about: 'Reads a file that Read may read unasked.',
    from: 'host',
    params: lazy(() =>
      z.object({
        path: z.string(),
        max_bytes: z.number().optional().describe('1 MB when absent; 16 MB at most.'),
        encoding: openName('utf-8', 'base64').optional(),
      }),
    ),
    result: lazy(() =>
      z.object({
        contents: z.string(),
        absPath: z.string(),
        lossy: z.boolean().optional().describe('It is cut, or had bytes that are no text.'),
        requested_path: z.string().optional(),
      }),
    ),
  }),
  file_suggestions: spec({
    about: 'Files whose path matches, the best first; what .gitignore names and what Read may not read is left out.',
    from: 'host',
    params: lazy(() => z.object({ query: z.string() })),
    result: lazy(() => z.object({ suggestions: z.array(FileSuggestion()), cwd: z.string().optional() })),
  }),
  stop_task: spec({
    about: 'Stops a background task.',
    from: 'host',
    params: lazy(() => z.object({ task_id: z.string() })),
    result: NoResult,
  }),
  end_session: spec({
    about: 'Nothing more will be asked: the SessionEnd hooks run while the host can still answer them.',
    from: 'host',
    params: NoParams,
    result: NoResult,
  }),
  continue_turn: spec({
    about: 'Goes on with a turn that a dead process left unfinished, if there is one.',
    from: 'host',
    params: NoParams,
    result: lazy(() => z.object({ continued: z.boolean() })),
  }),
  background_tasks: spec({
    about: 'Moves running work to the background.',
    from: 'host',
    params: lazy(() => z.object({ tool_use_id: z.string().optional() })),
    result: NoResult,
  }),
  get_task_output: spec({
    about: 'What a background task has printed.',
    from: 'host',
    params: lazy(() => z.object({ task_id: z.string() })),
    result: TaskOutputReport,
  }),
  get_context_usage: spec({
    about: 'What fills the context window.',
    from: 'host',
    params: lazy(() => z.object({ detail: z.unknown().optional() })),
    result: ContextUsage,
  }),
  get_settings: spec({
    about: 'The settings in force, without secrets.',
    from: 'host',
    params: NoParams,
    result: SettingsReport,
  }),
  apply_flag_settings: spec({
    about: 'Sets settings as if by flag, key by key; null takes back what was set so before.',
    from: 'host',
    params: lazy(() => z.object({ settings: jsonObject() })),
    result: NoResult,
  }),
  update_settings: spec({
    about: 'Writes settings.',
    from: 'host',
    params: AnyObject,
    result: NoResult,
  }),
  list_permission_rules: spec({
    about: 'The permission rules in force.',
    from: 'host',
    params: NoParams,
    result: lazy(() => z.object({ state: PermissionRulesState() })),
  }),
  get_hooks_listing: spec({
    about: 'The hooks in force.',
    from: 'host',
    params: NoParams,
    result: HooksListing,
  }),
  list_models: spec({
    about: 'The models to choose from.',
    from: 'host',
    params: NoParams,
    result: lazy(() => z.object({ models: z.array(ModelInfo()) })),
  }),
  get_session_cost: spec({
    about: 'The cost so far, as text.',
    from: 'host',
    params: NoParams,
    result: lazy(() => z.object({ text: z.string() })),
  }),
  get_usage: spec({
    about: 'The usage so far, and what is known of rate limits.',
    from: 'host',
    params: NoParams,
    result: SessionUsage,
  }),
  get_binary_version: spec({
    about: 'The version of the engine.',
    from: 'host',
    params: NoParams,
    result: lazy(() => z.object({ version: z.string(), buildTime: z.string().optional() })),
  }),
  rename_session: spec({
    about: 'Gives the session a title.',
    from: 'host',
    params: lazy(() => z.object({ title: z.string() })),
    result: NoResult,
  }),
  reload_skills: spec({
    about: 'Reads the skills again.',
    from: 'host',
    params: NoParams,
    result: lazy(() => z.object({ skills: z.array(z.unknown()) })),
  }),
  reload_plugins: spec({
    about: 'Reads the plugins again, with the commands, agents, hooks and servers that they bring.',
    from: 'host',
    params: AnyObject,
    result: PluginsReport,
  }),
  reload_output_styles: spec({
    about: 'Reads the output styles again; the one in use stays as it was.',
    from: 'host',
    params: NoParams,
    result: lazy(() =>
      z.object({
        output_style: z.string().optional().describe('The one in use.'),
        available_output_styles: z.array(z.string()).optional(),
      }),
    ),
  }),
  register_repo_root: spec({
    about: 'Names a folder of the workspace.',
    from: 'host',
    params: AnyObject,
    result: NoResult,
  }),
  cancel_async_message: spec({
    about: 'Takes back a queued user message.',
    from: 'host',
    params: lazy(() => z.object({ message_uuid: z.string() })),
    result: lazy(() => z.object({ cancelled: z.boolean().optional() }).nullable().optional()),
  }),
  set_color: spec({
    about: 'Sets the colour of the session. Nothing here has one.',
    from: 'host',
    params: AnyObject,
    result: NoResult,
  }),
  set_has_subscribers: spec({
    about: 'Says whether anybody watches. Nothing here depends on it.',
    from: 'host',
    params: AnyObject,
    result: NoResult,
  }),

  can_use_tool: spec({
    about: 'Asks whether a tool call may run.',
    from: 'engine',
    params: CanUseToolParams,
    result: lazy(() => z.union([PermissionResult(), PermissionAlias()])),
  }),
  hook_callback: spec({
    about: 'Calls a hook of the host.',
    from: 'engine',
    params: HookCallbackParams,
    result: lazy(() => HookOutput().nullable().optional()),
  }),
  elicitation: spec({
    about: 'Puts a question of an MCP server to the person.',
    from: 'engine',
    params: ElicitationParams,
    result: lazy(() => z.object({ action: z.enum(['accept', 'decline', 'cancel']), content: jsonObject().optional() })),
  }),
  request_user_dialog: spec({
    about: 'Asks the host to show a dialog.',
    from: 'engine',
    params: lazy(() => z.object({ dialog_kind: z.string(), payload: z.unknown().optional() })),
    result: AnyObject,
  }),
} as const;

type Requests = typeof REQUESTS;

export type RequestSubtype = keyof Requests;
export type ParamsOf<S extends RequestSubtype> = Infer<Requests[S]['params']>;
export type ResultOf<S extends RequestSubtype> = Infer<Requests[S]['result']>;

type SentBy<F extends string> = {
  [S in RequestSubtype]: Requests[S]['from'] extends F ? S : never;
}[RequestSubtype];

/** Subtypes that the host sends and the engine answers. */
export type HostRequest = SentBy<'host' | 'both'>;
/** Subtypes that the engine sends and the host answers. */
export type EngineRequest = SentBy<'engine' | 'both'>;

/** The `request` of an envelope: the params with their subtype. */
export type RequestBody = { [S in RequestSubtype]: { subtype: S } & ParamsOf<S> }[RequestSubtype];
