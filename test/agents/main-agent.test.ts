import { describe, expect, it } from 'vitest';
import { findMainAgent, toMainAgent } from '../../src/engine/agents/main-agent.js';
import type { Agent } from '../../src/engine/definitions/definition.js';
import type { SessionConfig } from '../../src/protocol/index.js';

const weaver: Agent = {
  name: 'weaver',
  description: 'd',
  prompt: 'You weave.',
  tools: ['Read', 'Grep', 'mcp__linear__look'],
  disallowedTools: ['Write'],
  model: 'haiku',
  permissionMode: 'acceptEdits',
  maxTurns: 7,
  initialPrompt: 'Warp first.',
  origin: { scope: 'user' },
};
const called = (fields: Partial<SessionConfig> = {}): SessionConfig => ({
  cwd: '/p',
  env: {},
  configDir: '/c',
  ...fields,
});

describe('the main thread as an agent', () => {
  it('takes all that the caller leaves open from the definition', () => {
    const { config, permits, opening } = toMainAgent(called({ disallowedTools: ['Edit'] }), weaver);
    expect(config).toMatchObject({
      systemPrompt: ['You weave.'],
      tools: ['Read', 'Grep'],
      disallowedTools: ['Edit', 'Write'],
      model: 'haiku',
      permissionMode: 'acceptEdits',
      maxTurns: 7,
    });
    expect(['Read', 'Bash', 'mcp__linear__look', 'mcp__linear__save'].filter(permits)).toEqual([
      'Read',
      'mcp__linear__look',
    ]);
    expect(opening).toEqual(['Warp first.']);
  });

  it('what the caller names stays', () => {
    const { config } = toMainAgent(
      called({ model: 'opus', permissionMode: 'plan', maxTurns: 3, tools: ['Read', 'Bash'], systemPrompt: 'Mine.' }),
      weaver,
    );
    expect(config).toMatchObject({
      model: 'opus',
      permissionMode: 'plan',
      maxTurns: 3,
      tools: ['Read'],
      systemPrompt: 'Mine.',
    });
  });

  it('what is appended to the preset is kept', () => {
    const systemPrompt = { type: 'preset', preset: 'claude_code', append: 'And this.' } as const;
    expect(toMainAgent(called({ systemPrompt }), weaver).config.systemPrompt).toEqual(['You weave.', 'And this.']);
  });

  it('bypasses nothing unless the session may', () => {
    const agent = { ...weaver, permissionMode: 'bypassPermissions' as const };
    expect(toMainAgent(called(), agent).config.permissionMode).toBe('default');
    const may = called({ allowDangerouslySkipPermissions: true });
    expect(toMainAgent(may, agent).config.permissionMode).toBe('bypassPermissions');
  });

  it('an agent without tools of its own leaves those of the session', () => {
    const { tools: _, ...open } = weaver;
    const { permissionMode: __, ...without } = open;
    const { config, permits } = toMainAgent(called(), without);
    expect(config.tools).toBeUndefined();
    expect(config.permissionMode).toBeUndefined();
    expect(permits('Bash')).toBe(true);
  });

  it('a name that nobody has is an error that says which there are', () => {
    expect(() => findMainAgent(new Map([['weaver', weaver]]), 'nobody')).toThrow('There is no agent "nobody"');
    expect(findMainAgent(new Map([['weaver', weaver]]), 'weaver')).toBe(weaver);
  });
});
