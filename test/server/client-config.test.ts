import { describe, expect, it } from 'vitest';
import type { Frame } from '../../src/protocol/index.js';
import { askedIn, pickSafe } from '../../src/server/client-config.js';

describe('what a client may choose', () => {
  it.each([
    [{ model: 'haiku', maxTurns: 2, includePartialMessages: true }, ['model', 'maxTurns', 'includePartialMessages']],
    [{ permissionMode: 'plan', permissionPromptTool: 'stdio' }, ['permissionMode', 'permissionPromptTool']],
    [{ maxThinkingTokens: null, effort: 'high', maxBudgetUsd: 0.5 }, ['maxThinkingTokens', 'effort', 'maxBudgetUsd']],
    [{ jsonSchema: { type: 'object' }, planModeInstructions: 'Plan.' }, ['jsonSchema', 'planModeInstructions']],
    [{ jsonSchema: 'no table', agents: { a: { description: 'd', prompt: 'p' } }, agent: 'a', hooks: {} }, []],
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

  const initialize = (fields: object) => ({
    type: 'control_request',
    request_id: 'r',
    request: { subtype: 'initialize', ...fields },
  });

  it.each([
    [undefined, {}],
    [{ type: 'user', request: { subtype: 'initialize', config: { model: 'x' } } }, {}],
    [{ type: 'control_request', request: { subtype: 'set_model', model: 'x' } }, {}],
    [{ type: 'control_request', request: null }, {}],
    [initialize({ config: 'x' }), {}],
    [
      initialize({ config: { model: 'x' }, hooks: {}, sdkMcpServers: ['a'], sdkMcpServerManifests: {} }),
      { model: 'x' },
    ],
    [
      initialize({ config: { skills: [], maxTurns: 1 }, skills: ['a'], agents: {} }),
      { skills: ['a'], maxTurns: 1, agents: {} },
    ],
  ])('%j asks for %j', (frame, asked) => {
    expect(askedIn(frame as Frame | undefined)).toEqual(asked);
  });

  it.each([undefined, null, 'x', 7])('%j is nothing', (asked) => {
    expect(pickSafe(asked)).toEqual({ safe: {}, ignored: [] });
  });
});
