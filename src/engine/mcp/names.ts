/** How tools of MCP servers are called: `mcp__<server>__<tool>`. */
export const mcpToolName = (server: string, tool: string): string => `mcp__${clean(server)}__${clean(tool)}`;

/** The model API takes letters, digits, `_` and `-` only. */
const clean = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, '_');
