/** One small, valid example of everything that has a schema in a table. */

const ids = { uuid: 'u-1', session_id: 's-1' };
const usage = {
  input_tokens: 1,
  output_tokens: 2,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};
const modelUsage = {
  inputTokens: 1,
  outputTokens: 2,
  cacheReadInputTokens: 0,
  cacheCreationInputTokens: 0,
  webSearchRequests: 0,
  costUSD: 0.01,
  contextWindow: 200_000,
};

const result = {
  type: 'result',
  ...ids,
  is_error: false,
  duration_ms: 5,
  duration_api_ms: 4,
  num_turns: 1,
  total_cost_usd: 0.01,
  usage,
  modelUsage: { 'model-a': modelUsage },
  permission_denials: [{ tool_name: 'Bash', tool_use_id: 't-1', tool_input: { command: 'ls' } }],
};

export const apiMessage = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'model-a',
  content: [
    { type: 'text', text: 'hello' },
    { type: 'tool_use', id: 't-1', name: 'Read', input: { file_path: '/a' } },
  ],
  stop_reason: null,
  stop_sequence: null,
  usage,
};

const system = (subtype: string, fields: object) => ({ type: 'system', subtype, ...ids, ...fields });
const hook = { hook_id: 'h', hook_name: 'PreToolUse:Bash', hook_event: 'PreToolUse' };

/** By type, or by type and subtype. */
export const messages: Record<string, Record<string, unknown>> = {
  user: { type: 'user', message: { role: 'user', content: 'hi' } },
  assistant: { type: 'assistant', message: apiMessage, parent_tool_use_id: null, ...ids },
  stream_event: { type: 'stream_event', event: { type: 'ping' }, parent_tool_use_id: null, ...ids },
  tool_progress: {
    type: 'tool_progress',
    tool_use_id: 't-1',
    tool_name: 'Bash',
    parent_tool_use_id: null,
    elapsed_time_seconds: 2,
    ...ids,
  },
  tool_use_summary: { type: 'tool_use_summary', summary: 'Read two files', ...ids },
  auth_status: { type: 'auth_status', isAuthenticating: false, output: [], ...ids },
  command_lifecycle: { type: 'command_lifecycle', command_uuid: 'c', state: 'queued', ...ids },
  conversation_reset: { type: 'conversation_reset', new_conversation_id: 'n', ...ids },
  prompt_suggestion: { type: 'prompt_suggestion', suggestion: 'run the tests', ...ids },
  rate_limit_event: { type: 'rate_limit_event', rate_limit_info: { status: 'allowed', resetsAt: 1 }, ...ids },
  keep_alive: { type: 'keep_alive' },
  update_environment_variables: { type: 'update_environment_variables', variables: { A: 'b' } },
  control_request: { type: 'control_request', request_id: 'r', request: { subtype: 'interrupt' } },
  control_response: {
    type: 'control_response',
    response: { subtype: 'error', request_id: 'r', error: 'no', error_code: 'invalid_mode' },
  },
  control_cancel_request: { type: 'control_cancel_request', request_id: 'r' },
  'result/success': { ...result, subtype: 'success', result: 'done' },
  'result/error_during_execution': { ...result, subtype: 'error_during_execution', errors: ['x'] },
  'result/error_max_turns': { ...result, subtype: 'error_max_turns', errors: [] },
  'result/error_max_budget_usd': { ...result, subtype: 'error_max_budget_usd', errors: [] },
  'result/error_max_structured_output_retries': {
    ...result,
    subtype: 'error_max_structured_output_retries',
    errors: [],
  },
  'system/init': system('init', {
    cwd: '/p',
    model: 'model-a',
    tools: ['Read'],
    mcp_servers: [{ name: 'm', status: 'pending' }],
    permissionMode: 'default',
    slash_commands: [],
    apiKeySource: 'none',
    claude_code_version: '2.1.50',
  }),
  'system/status': system('status', { status: null }),
  'system/api_retry': system('api_retry', {
    attempt: 1,
    max_retries: 10,
    retry_delay_ms: 500,
    error_status: 529,
    error: 'server_error',
    aborted_message_id: 'msg_1',
  }),
  'system/model_fallback': system('model_fallback', {
    trigger: 'overloaded',
    original_model: 'a',
    fallback_model: 'b',
    content: 'Switched to b.',
  }),
  'system/permission_denied': system('permission_denied', { tool_name: 'Bash', tool_use_id: 't', message: 'no' }),
  'system/session_state_changed': system('session_state_changed', { state: 'idle' }),
  'system/session_title_changed': system('session_title_changed', { title: 'x' }),
  'system/mirror_error': system('mirror_error', { error: 'gone', key: { projectKey: '-w', sessionId: 's' } }),
  'system/session_writes_lost': system('session_writes_lost', { error: 'ENOSPC', lost: 3 }),
  'system/compact_boundary': system('compact_boundary', { compact_metadata: { trigger: 'auto', pre_tokens: 9 } }),
  'system/hook_started': system('hook_started', hook),
  'system/hook_progress': system('hook_progress', { ...hook, stdout: '', stderr: '', output: '' }),
  'system/hook_response': system('hook_response', { ...hook, output: '', stdout: '', stderr: '', outcome: 'success' }),
  'system/files_persisted': system('files_persisted', { files: [], failed: [], processed_at: 'now' }),
  'system/task_started': system('task_started', { task_id: 'b1', description: 'x' }),
  'system/task_progress': system('task_progress', {
    task_id: 'b1',
    description: 'x',
    usage: { total_tokens: 1, tool_uses: 1, duration_ms: 1 },
  }),
  'system/task_updated': system('task_updated', { task_id: 'b1', patch: { status: 'killed' } }),
  'system/task_notification': system('task_notification', {
    task_id: 'b1',
    status: 'completed',
    output_file: '/o',
    summary: 's',
  }),
  'system/background_tasks_changed': system('background_tasks_changed', { tasks: [{ task_id: 'b1' }] }),
  'system/commands_changed': system('commands_changed', {
    commands: [{ name: 'compact', description: 'd', argumentHint: '' }],
  }),
  'system/informational': system('informational', { content: 'c', level: 'warning' }),
  'system/notification': system('notification', { key: 'k', text: 't', priority: 'low' }),
  'system/thinking_tokens': system('thinking_tokens', { estimated_tokens: 3, estimated_tokens_delta: 1 }),
};

const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const preToolUse = {
  hook_event_name: 'PreToolUse',
  session_id: 's',
  transcript_path: '/t',
  cwd: '/p',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_use_id: 't-1',
};

/** By subtype: params and result. */
export const requests: Record<string, { params: Record<string, unknown>; result: unknown }> = {
  initialize: {
    params: {
      hooks: { PreToolUse: [{ matcher: 'Bash', hookCallbackIds: ['hook_0'], timeout: 10 }] },
      sdkMcpServers: ['calc'],
      systemPrompt: ['one', 'two'],
      agents: { helper: { description: 'd', prompt: 'p' } },
    },
    result: {},
  },
  interrupt: { params: {}, result: undefined },
  set_permission_mode: { params: { mode: 'plan' }, result: { mode: 'plan' } },
  set_model: { params: {}, result: { model: 'm' } },
  set_max_thinking_tokens: { params: { max_thinking_tokens: null }, result: undefined },
  mcp_status: { params: {}, result: { mcpServers: [{ name: 'a', status: 'failed', error: 'start: ENOENT' }] } },
  mcp_set_servers: {
    params: { servers: { a: { command: 'x' }, b: { type: 'http', url: 'http://127.0.0.1' } } },
    result: { added: ['a'], removed: [], errors: { b: 'refused' } },
  },
  mcp_reconnect: { params: { serverName: 'a' }, result: undefined },
  mcp_toggle: { params: { serverName: 'a', enabled: false }, result: undefined },
  mcp_message: {
    params: { server_name: 'a', message: rpc },
    result: { mcp_response: { jsonrpc: '2.0', id: 1, result: {} } },
  },
  mcp_call: { params: { server_name: 'a', tool_name: 't' }, result: {} },
  mcp_read_resource: { params: { server_name: 'a', uri: 'x:y' }, result: {} },
  rewind_files: { params: { user_message_id: 'u' }, result: { canRewind: true } },
  continue_turn: { params: {}, result: { continued: true } },
  seed_read_state: { params: { path: '/a', mtime: 1 }, result: undefined },
  read_file: { params: { path: '/a' }, result: { contents: 'x', absPath: '/a' } },
  file_suggestions: { params: { query: 'a' }, result: { suggestions: [] } },
  stop_task: { params: { task_id: 'b1' }, result: {} },
  end_session: { params: {}, result: {} },
  background_tasks: { params: {}, result: {} },
  get_task_output: { params: { task_id: 'b1' }, result: {} },
  get_context_usage: {
    params: {},
    result: { categories: [{ name: 'Messages', tokens: 4 }], totalTokens: 4, maxTokens: 10, percentage: 40 },
  },
  get_settings: {
    params: {},
    result: {
      effective: {},
      sources: [{ source: 'userSettings', settings: {} }],
      applied: { model: 'm', effort: null },
    },
  },
  apply_flag_settings: { params: { settings: { model: 'm' } }, result: undefined },
  update_settings: { params: {}, result: undefined },
  list_permission_rules: {
    params: {},
    result: { state: { rules: [{ rule: 'Bash(ls)', behavior: 'allow', source: 'user' }], originalCwd: '/p' } },
  },
  get_hooks_listing: {
    params: {},
    result: {
      events: ['Stop'],
      hooks: [{ event: 'Stop', type: 'command', source: 'user', name: 'x', timeout: 60, onFailure: 'ask' }],
    },
  },
  list_models: { params: {}, result: { models: [{ value: 'a', displayName: 'A', description: 'd' }] } },
  get_session_cost: { params: {}, result: { text: '$0' } },
  get_usage: { params: {}, result: { session: { total_cost_usd: 0 }, rate_limits: null } },
  get_binary_version: { params: {}, result: { version: '1' } },
  rename_session: { params: { title: 't' }, result: undefined },
  reload_skills: { params: {}, result: { skills: [] } },
  reload_plugins: { params: {}, result: {} },
  reload_output_styles: { params: {}, result: {} },
  register_repo_root: { params: {}, result: undefined },
  cancel_async_message: { params: { message_uuid: 'u' }, result: { cancelled: true } },
  set_color: { params: {}, result: undefined },
  set_has_subscribers: { params: {}, result: undefined },
  can_use_tool: {
    params: {
      tool_name: 'Bash',
      input: { command: 'ls' },
      tool_use_id: 't-1',
      permission_suggestions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
    },
    result: { behavior: 'allow' },
  },
  hook_callback: {
    params: { callback_id: 'hook_0', input: preToolUse },
    result: { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask' } },
  },
  elicitation: {
    params: { mcp_server_name: 'a', message: 'Name?' },
    result: { action: 'accept', content: { name: 'x' } },
  },
  request_user_dialog: { params: { dialog_kind: 'k' }, result: {} },
};

/** By tool: the least that is accepted. */
export const toolInputs: Record<string, Record<string, unknown>> = {
  Task: { description: 'd', prompt: 'p' },
  TaskOutput: { task_id: 'b1' },
  TaskStop: { task_id: 'b1' },
  Bash: { command: 'ls' },
  Read: { file_path: '/a' },
  Write: { file_path: '/a', content: '' },
  Edit: { file_path: '/a', old_string: 'a', new_string: 'b' },
  Glob: { pattern: '*' },
  Grep: { pattern: 'a' },
  NotebookEdit: { notebook_path: '/a.ipynb', new_source: '' },
  WebFetch: { url: 'https://example.org', prompt: 'p' },
  WebSearch: { query: 'ab' },
  TodoWrite: { todos: [{ content: 'c', status: 'pending', activeForm: 'a' }] },
  TaskCreate: { subject: 's', description: 'd' },
  TaskUpdate: { taskId: '1' },
  TaskGet: { taskId: '1' },
  TaskList: {},
  ExitPlanMode: {},
  EnterPlanMode: {},
  AskUserQuestion: {
    questions: [
      {
        question: 'Which?',
        header: 'Pick',
        options: [
          { label: 'a', description: 'A' },
          { label: 'b', description: 'B' },
        ],
      },
    ],
  },
  Config: { setting: 'model' },
  ListMcpResourcesTool: {},
  ReadMcpResourceTool: { server: 's', uri: 'u' },
  Skill: { skill: 's' },
  ToolSearch: { query: 'q' },
};

const base = { session_id: 's', transcript_path: '/t', cwd: '/p' };
const tool = { tool_name: 'Bash', tool_input: {}, tool_use_id: 't' };
const todo = { task_id: '1', task_subject: 's' };

/** By event, without the common fields. */
const hookFields: Record<string, object> = {
  PreToolUse: tool,
  PostToolUse: { ...tool, tool_response: 'ok' },
  PostToolUseFailure: { ...tool, error: 'e' },
  PostToolBatch: { tool_calls: [] },
  PermissionRequest: { tool_name: 'Bash', tool_input: {} },
  PermissionDenied: { ...tool, reason: 'r' },
  Notification: { message: 'm' },
  UserPromptSubmit: { prompt: 'p' },
  UserPromptExpansion: { expansion_type: 'command', command_name: 'c', command_args: '', prompt: 'p' },
  SessionStart: { source: 'startup' },
  SessionEnd: { reason: 'other' },
  Setup: { trigger: 'init' },
  Stop: { stop_hook_active: false },
  StopFailure: { error: 'e' },
  SubagentStart: { agent_id: 'a', agent_type: 't' },
  SubagentStop: { stop_hook_active: false, agent_id: 'a', agent_transcript_path: '/t' },
  PreCompact: { trigger: 'auto', custom_instructions: null },
  PostCompact: { trigger: 'manual', compact_summary: 's' },
  TaskCreated: todo,
  TaskCompleted: todo,
  TeammateIdle: { teammate_name: 'n', team_name: 't' },
  ConfigChange: { source: 'user' },
  InstructionsLoaded: { file_path: '/f', memory_type: 'project', load_reason: 'start' },
  CwdChanged: { old_cwd: '/a', new_cwd: '/b' },
  WorktreeCreate: { name: 'w' },
  WorktreeRemove: { worktree_path: '/w' },
  DirectoryAdded: { directory: '/d', source: 's' },
  FileChanged: { file_path: '/f', event: 'change' },
  Elicitation: { mcp_server_name: 's', message: 'm' },
  ElicitationResult: { mcp_server_name: 's', action: 'accept' },
};

export const hookInputs: Record<string, Record<string, unknown>> = Object.fromEntries(
  Object.entries(hookFields).map(([event, fields]) => [event, { hook_event_name: event, ...base, ...fields }]),
);
