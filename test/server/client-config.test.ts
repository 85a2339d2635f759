import { describe, expect, it } from 'vitest';
import { pickSafe } from '../../src/server/client-config.js';

describe('what a client may choose', () => {
  it.each([
    [{ model: 'haiku', maxTurns: 2, includePartialMessages: true }, ['model', 'maxTurns', 'includePartialMessages']],
    [{ permissionMode: 'plan', permissionPromptTool: 'stdio' }, ['permissionMode', 'permissionPromptTool']],
    [{ maxThinkingTokens: null, effort: 'high', maxBudgetUsd: 0.5 }, ['maxThinkingTokens', 'effort', 'maxBudgetUsd']],
    [{ permissionMode: 'bypassPermissions' }, []],
    [{ allowDangerouslySkipPermissions: true, allowedTools: ['Bash'] }, []],
    [{ cwd: '/', env: {}, configDir: '/', additionalDirectories: ['/'], apiKeyHelper: 'id' }, []],
    [{ settings: '{}', mcpConfig: ['{}'], pluginDirs: ['/'], managedSettings: '{}', debugFile: '/x' }, []],
    [{ model: 7, maxTurns: 'many', includePartialMessages: 'yes', permissionMode: 'bogus' }, []],
    [{ permissionPromptTool: 'mcp__x__y', constructor: 'x', toString: 'x' }, []],
  ])('%j', (asked, names) => {
    const { safe, ignored } = pickSafe(asked);
    expect(Object.keys(safe)).toEqual(names);
    expect([...Object.keys(safe), ...ignored].toSorted()).toEqual(Object.keys(asked).toSorted());
  });

  it.each([undefined, null, 'x', 7])('%j is nothing', (asked) => {
    expect(pickSafe(asked)).toEqual({ safe: {}, ignored: [] });
  });
});
