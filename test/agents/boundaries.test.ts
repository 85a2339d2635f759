import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CONNECT_MS } from '../../src/engine/agents/own-servers.js';
import type { PermissionMode, SessionConfig } from '../../src/protocol/index.js';
import { query } from '../../src/sdk/index.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import { PATH_ENV, resultText, scratch } from '../engine/kit.js';
import { agentIdIn, bash, open, task } from './kit.js';

const define = (extra: object = {}): NonNullable<SessionConfig['agents']> => ({
  weaver: { description: 'd', prompt: 'You weave.', ...extra },
});

describe('limits and rules that a caller defines', () => {
  it.each([
    ['maxTurns', -1],
    ['maxTurns', 1.5],
    ['maxBudgetUsd', 0],
    ['maxTokens', 0],
    ['maxTokens', 2.5],
    ['maxSeconds', 0],
    ['disallowedTools', ['Bash(']],
    ['disallowedTools', ['Bahs']],
  ])('%s %j is refused before the session opens', async (name, value) => {
    const agents = define({ [name]: value });
    const refusal = {
      code: 'invalid_config',
      message: expect.stringMatching(new RegExp(`${name}.* of the agent weaver`)),
    };
    await expect(open([], { config: { agents } })).rejects.toMatchObject(refusal);
    await expect(open([], { config: { agents, agent: 'weaver' } })).rejects.toMatchObject(refusal);
  });
});

describe('an agent that fails', () => {
  it.each([false, true])(
    'when it is run (in the background: %s) holds no place: the session ends',
    async (background) => {
      const run = await open([{ toolUse: task('t1', { run_in_background: background }) }, 'Done.', 'Told.']);
      const { recorder } = run.session.scope;
      const life = recorder.life.bind(recorder);
      let broken = 0;
      recorder.life = (entry, ...more) => {
        if (entry.kind !== 'agent') return life(entry, ...more);
        broken += 1;
        throw new Error('the log is gone');
      };
      await run.ask('go');
      run.session.endInput();
      await run.session.finished;
      expect(broken).toBe(1);
      expect(run.session.scope.agents.tree.working.size).toBe(0);
      await run.session.close();
    },
  );

  it('a turn that fails in every way ends the session all the same', async () => {
    const run = await open(['ok']);
    const { recorder } = run.session.scope;
    recorder.life = () => {
      throw new Error('the log is gone');
    };
    run.session.submit({ type: 'user', message: { role: 'user', content: 'go' }, parent_tool_use_id: null });
    run.session.endInput();
    await run.session.finished;
    expect(run.session.busy).toBe(false);
  });
});

describe('a rule about an agent', () => {
  it.each([
    ['Task(Explore)', 'Explore'],
    ['Task(Explore)', 'explore'],
    ['Agent(Explore)', 'EXPLORE'],
    ['Task(explore)', 'Explore'],
    ['Task(Exp*)', 'eXPLORE'],
  ])('%s denies %s', async (rule, subagent_type) => {
    const run = await open([{ toolUse: task('t1', { subagent_type }) }, 'Done.'], {
      config: { disallowedTools: [rule] },
    });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain('has been denied');
    expect(run.model.requests).toHaveLength(2);
  });

  it.each([undefined, 'Plan', 'explore'])('denies one that is gone on with as %s', async (subagent_type) => {
    const first = await open([{ toolUse: task('t1', { subagent_type: 'Explore' }) }, 'seen', 'Done.']);
    await first.ask('go');
    const resume = agentIdIn(resultText(first.messages, 't1'));
    const again = task('t2', { resume, ...(subagent_type && { subagent_type }) });
    const second = await open([{ toolUse: again }, 'Done.'], {
      store: first.store,
      cwd: first.cwd,
      config: { resume: first.session.id, disallowedTools: ['Task(Explore)'] },
    });
    await second.ask('on');
    expect(resultText(second.messages, 't2')).toContain('has been denied');
  });
});

describe('what a definition denies with a pattern', () => {
  const config = { allowedTools: ['Bash'] };
  const denied = { disallowedTools: ['Bash(touch:*)'] };

  it('is denied to the agent, to agents that it starts, and to nobody else', async () => {
    const run = await open(
      [
        { toolUse: task('t1', { subagent_type: 'weaver' }) },
        { toolUse: [bash('b1', 'touch one'), task('t2')] },
        { toolUse: bash('b2', 'touch two') },
        'deep',
        'woven',
        { toolUse: bash('b3', 'touch three') },
        'Done.',
      ],
      { config: { ...config, agents: define(denied) } },
    );
    await run.ask('go');
    expect(['one', 'two', 'three'].filter((name) => existsSync(join(run.cwd, name)))).toEqual(['three']);
    expect(resultText(run.messages, 'b1')).toContain('has been denied');
  });

  it('is denied to the main thread that runs as one', async () => {
    const run = await open([{ toolUse: bash('b1', 'touch one') }, 'Done.'], {
      config: { ...config, agent: 'weaver', agents: define(denied) },
    });
    await run.ask('go');
    expect(existsSync(join(run.cwd, 'one'))).toBe(false);
  });

  it.each(['Bash(touch:*)', 'Bash(touch'])('is denied by a file, too: %s', async (rule) => {
    const cwd = scratch();
    mkdirSync(join(cwd, '.claude', 'agents'), { recursive: true });
    const text = `---\nname: weaver\ndescription: d\ndisallowedTools: ["${rule}"]\n---\nYou weave.\n`;
    writeFileSync(join(cwd, '.claude', 'agents', 'weaver.md'), text);
    const run = await open(
      [{ toolUse: task('t1', { subagent_type: 'weaver' }) }, { toolUse: bash('b1', 'touch one') }, 'woven', 'Done.'],
      { cwd, config: { ...config, settingSources: ['project'], trusted: true } },
    );
    await run.ask('go');
    expect(existsSync(join(cwd, 'one'))).toBe(false);
  });
});

describe('where nobody is asked', () => {
  it.each<[PermissionMode, PermissionMode | undefined, PermissionMode | undefined]>([
    ['dontAsk', undefined, 'plan'],
    ['dontAsk', 'plan', undefined],
    ['dontAsk', undefined, undefined],
    ['default', 'dontAsk', 'plan'],
    ['plan', 'dontAsk', undefined],
  ])('in %s, defined as %s, asked as %s: no agent asks', async (permissionMode, defined, mode) => {
    let asked = 0;
    const run = await open(
      [
        { toolUse: task('t1', { subagent_type: 'weaver', ...(mode && { mode }) }) },
        { toolUse: [bash('b1', 'touch one'), task('t2')] },
        { toolUse: bash('b2', 'touch two') },
        'deep',
        'woven',
        'Done.',
      ],
      {
        config: { permissionMode, agents: define({ ...(defined && { permissionMode: defined }) }) },
        async ask() {
          asked += 1;
          return { behavior: 'allow' };
        },
      },
    );
    await run.ask('go');
    expect(asked).toBe(0);
    expect(existsSync(join(run.cwd, 'one')) || existsSync(join(run.cwd, 'two'))).toBe(false);
  });

  it('an agent that plans there does not run what is allowed to others', async () => {
    const run = await open(
      [{ toolUse: task('t1', { mode: 'plan' }) }, { toolUse: bash('b1', 'touch one') }, 'seen', 'Done.'],
      { config: { permissionMode: 'dontAsk', allowedTools: ['Bash(touch:*)'] } },
    );
    await run.ask('go');
    expect(existsSync(join(run.cwd, 'one'))).toBe(false);
  });
});

describe('what an answer says', () => {
  it('nothing of going on where nothing is kept', async () => {
    const run = await open([{ toolUse: task('t1') }, 'seen', 'Done.'], { config: { persistSession: false } });
    await run.ask('go');
    const text = resultText(run.messages, 't1');
    expect(text).toContain('agentId: a');
    expect(text).not.toContain('resume');
  });

  it('C4: whoever is asked is told the agent and the call that started it', async () => {
    const model = createScriptedModel([{ toolUse: task('t1') }, { toolUse: bash('b1', 'touch one') }, 'ok', 'Done.']);
    const told: unknown[] = [];
    const options = { cwd: scratch(), env: PATH_ENV, heddle: { provider: model, trusted: true } };
    const conversation = query({
      prompt: 'go',
      options: {
        ...options,
        async canUseTool(_tool, _input, { agentID, parentToolUseID, toolUseID }) {
          told.push({ agentID, parentToolUseID, toolUseID });
          return { behavior: 'deny', message: 'no' };
        },
      },
    });
    for await (const message of conversation) if (message.type === 'result') break;
    expect(told).toEqual([{ agentID: expect.stringMatching(/^a/), parentToolUseID: 't1', toolUseID: 'b1' }]);
  });
});

describe('a server of an agent that says nothing', () => {
  it('holds it up for a while, and not for ever', async () => {
    const silent = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] };
    const run = await open([{ toolUse: task('t1', { subagent_type: 'weaver' }) }, 'woven', 'Done.'], {
      config: { agents: define({ mcpServers: [{ silent }] }) },
    });
    const result = run.ask('go');
    while (!run.clock.pending.includes(CONNECT_MS)) await run.clock.armed(run.clock.pending.length + 1);
    run.clock.advance(CONNECT_MS);
    expect((await result).subtype).toBe('success');
    expect(resultText(run.messages, 't1')).toContain('woven');
  });
});
