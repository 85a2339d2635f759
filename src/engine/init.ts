import type { InitMessage } from '../protocol/index.js';
import { DEFAULT_STYLE } from './output-style.js';
import type { SessionScope } from './scope.js';
import { FOLLOWED_VERSION, HEDDLE_VERSION } from './version.js';

/** The message that opens every turn: what the session is made of. */
export function toInit(scope: SessionScope): InitMessage {
  const { config, state } = scope;
  return {
    type: 'system',
    subtype: 'init',
    cwd: config.cwd,
    session_id: scope.id,
    tools: [...state.tools.names],
    mcp_servers: scope.mcp.status.map(({ name, status }) => ({ name, status })),
    model: state.model.model,
    permissionMode: state.mode,
    slash_commands: scope.commands.list.map(({ name }) => name),
    apiKeySource: state.keySource,
    claude_code_version: FOLLOWED_VERSION,
    heddle_version: HEDDLE_VERSION,
    output_style: scope.style?.name ?? DEFAULT_STYLE,
    agents: scope.agents.list.map(({ name }) => name),
    skills: scope.commands.skillNames,
    plugins: scope.definitions.plugins.map(({ name, root, source }) => ({ name, path: root, source })),
    capabilities: [],
    original_cwd: config.cwd,
    additional_directories: [...scope.guard.directories],
    ...(config.betas?.length && { betas: config.betas }),
    fast_mode_state: 'off',
    uuid: scope.clock.uuid(),
  };
}
