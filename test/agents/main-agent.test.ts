import { describe, expect, it } from 'vitest';
import { findMainAgent, toMainAgent } from '../../src/engine/agents/main-agent.js';
import type { Agent } from '../../src/engine/definitions/definition.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { query } from '../../src/sdk/index.js';
import { PATH_ENV, scratch } from '../engine/kit.js';
import { open } from './kit.js';

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
    const {
      config,
      bounds: { permits },
      opening,
      model,
      mode,
    } = toMainAgent(called({ disallowedTools: ['Edit'] }), weaver);
    expect(config).toMatchObject({
      systemPrompt: ['You weave.'],
      tools: ['Read', 'Grep'],
      disallowedTools: ['Edit', 'Write'],
      maxTurns: 7,
    });
    expect({ model, mode }).toEqual({ model: 'haiku', mode: 'acceptEdits' });
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

  it.each([{ systemPrompt: '' }, { systemPrompt: ' ' }, { systemPrompt: [] }, { systemPrompt: [''] }])(
    'a prompt that says nothing, %j, is none of the caller',
    ({ systemPrompt }) => {
      expect(toMainAgent(called({ systemPrompt }), weaver).config.systemPrompt).toEqual(['You weave.']);
    },
  );

  it('its prompt is what the model gets through query()', async () => {
    const model = createScriptedModel(['ok']);
    const { name: _, origin: __, ...agent } = weaver;
    const options = { agent: 'weaver', agents: { weaver: agent }, heddle: { provider: model, trusted: true } };
    for await (const message of query({ prompt: 'hi', options: { ...options, cwd: scratch(), env: PATH_ENV } })) {
      if (message.type === 'result') expect(message.subtype).toBe('success');
    }
    expect(JSON.stringify(model.requests[0]?.body.system)).toContain('You weave.');
  });

  it('a resumed session keeps the mode and the model that were chosen in it', async () => {
    const { name: _, origin: __, ...agent } = weaver;
    const config = { agent: 'weaver', agents: { weaver: agent } };
    const first = await open(['ok'], { config });
    await first.ask('hi');
    expect(first.session.scope.state).toMatchObject({ mode: 'acceptEdits' });
    expect(first.session.scope.state.model.model).toContain('haiku');
    first.session.setPermissionMode('plan');
    await first.session.setModel('opus');
    const second = await open([], {
      store: first.store,
      cwd: first.cwd,
      config: { ...config, resume: first.session.id },
    });
    expect(second.session.scope.state).toMatchObject({ mode: 'plan', modeBefore: 'acceptEdits' });
    expect(second.session.scope.state.model.model).toContain('opus');
  });

  it('bypasses nothing unless the session may', () => {
    const agent = { ...weaver, permissionMode: 'bypassPermissions' as const };
    expect(toMainAgent(called(), agent).mode).toBe('default');
    const may = called({ allowDangerouslySkipPermissions: true });
    expect(toMainAgent(may, agent).mode).toBe('bypassPermissions');
  });

  it('an agent without tools of its own leaves those of the session', () => {
    const { tools: _, ...toolless } = weaver;
    const { permissionMode: __, ...without } = toolless;
    const {
      config,
      bounds: { permits },
      mode,
    } = toMainAgent(called(), without);
    expect(config.tools).toBeUndefined();
    expect(mode).toBeUndefined();
    expect(permits('Bash')).toBe(true);
  });

  it('a name that nobody has is an error that says which there are', () => {
    expect(() => findMainAgent(new Map([['weaver', weaver]]), 'nobody')).toThrow('There is no agent "nobody"');
    expect(findMainAgent(new Map([['weaver', weaver]]), 'weaver')).toBe(weaver);
  });
});
