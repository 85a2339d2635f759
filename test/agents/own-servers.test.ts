/** Servers that a definition brings along are judged by where the definition comes from. */
import { describe, expect, it } from 'vitest';
import { runMcp } from '../../src/cli/mcp.js';
import { createTrust } from '../../src/engine/settings/trust.js';
import { resultText, type Run } from '../engine/kit.js';
import { type Asked, createStage, listen, notices, person, type Stage } from '../guard/stage.js';
import { program, V1 } from '../mcp/session/kit.js';
import { MANAGED, PROJECT, USER } from '../settings/place.js';
import { task } from './kit.js';

const OF_PROJECT = 'home/shop/.claude/agents/weaver.md';
const OF_USER = 'home/.claude/agents/weaver.md';

const fileWith = (own: object): string =>
  `---\nname: weaver\ndescription: d\nmcpServers:\n  - own: ${JSON.stringify(own)}\n---\nYou weave.\n`;

/** A server that leaves a trace when it starts. */
const tracing = (stage: Stage) => ({ ...program(V1), env: { CANARY: stage.path('started') } });

const script = [{ toolUse: task('t1', { subagent_type: 'weaver' }) }, 'woven', 'Done.'];

async function weave(stage: Stage, config: object = {}): Promise<Run> {
  const run = await stage.open(script, { config: { permissionMode: 'bypassPermissions', ...config } });
  await run.ask('go');
  return run;
}

/** As a person does it in a terminal. */
async function approve(stage: Stage, name = 'own'): Promise<string> {
  let said = '';
  const output = { write: (text: string) => (said += text) };
  const { config: configDir, home, managed: managedDir, project: cwd } = stage;
  const place = { configDir, home, managedDir, cwd };
  await createTrust({ configDir, home }).trust(cwd);
  await runMcp(['approve', name], { stdin: process.stdin, stdout: output, stderr: output, env: {}, ...place });
  return said;
}

const WAITS = 'works without its MCP server own: it waits for your approval. To approve it: heddle mcp approve own';

describe('an agent file of a project', () => {
  it('starts no server that nobody has approved; the agent works without it, and says so', async () => {
    const stage = createStage();
    stage.write(OF_PROJECT, fileWith(tracing(stage)));
    // The project cannot approve itself.
    stage.write(PROJECT, { enableAllProjectMcpServers: true, enabledMcpjsonServers: ['own'] });
    const { messages } = await weave(stage);
    expect(resultText(messages, 't1')).toMatch(/^woven/);
    expect(resultText(messages, 't1')).toContain(WAITS);
    expect(notices(messages).filter((text) => text.includes(WAITS))).toHaveLength(1);
    expect(stage.exists('started')).toBe(false);
  });

  it('starts one that was approved in a terminal, as it is now', async () => {
    const stage = createStage();
    stage.write(OF_PROJECT, fileWith(tracing(stage)));
    expect(await approve(stage)).toContain('own, in ');
    const first = await weave(stage);
    expect(resultText(first.messages, 't1')).not.toContain('works without');
    expect(stage.exists('started')).toBe(true);
    stage.write(OF_PROJECT, fileWith({ ...tracing(stage), env: { CANARY: stage.path('again') } }));
    const second = await weave(stage);
    expect(resultText(second.messages, 't1')).toContain('it has changed since you decided about it');
    expect(stage.exists('again')).toBe(false);
  });

  it.each([
    [{ enabledMcpjsonServers: ['own'] }, undefined],
    [{ enableAllProjectMcpServers: true }, undefined],
    [{ enableAllProjectMcpServers: true, disabledMcpjsonServers: ['own'] }, 'disabledMcpjsonServers names it'],
  ])('what the user says of such servers counts: %j', async (settings, why) => {
    const stage = createStage();
    stage.write(OF_PROJECT, fileWith(tracing(stage)));
    stage.write(USER, settings);
    const { messages } = await weave(stage);
    expect(stage.exists('started')).toBe(why === undefined);
    if (why !== undefined) expect(resultText(messages, 't1')).toContain(why);
  });

  it('what policy says of servers counts', async () => {
    const stage = createStage();
    stage.write(OF_PROJECT, fileWith(tracing(stage)));
    stage.write(USER, { enableAllProjectMcpServers: true });
    stage.write(MANAGED, { deniedMcpServers: [{ serverName: 'own' }] });
    const { messages } = await weave(stage);
    expect(resultText(messages, 't1')).toContain('cannot be used here: own: ');
    expect(stage.exists('started')).toBe(false);
  });

  it('never gets a key of the engine, and no variable before it is approved', async () => {
    const stage = createStage();
    const { url, requests } = await listen((_, { url: path }) => ({ status: 500, body: path ?? '' }));
    const env = { ...stage.env, MINE: 'mine', ANTHROPIC_API_KEY: 'sk-ant-x' };
    stage.write(OF_PROJECT, fileWith({ type: 'http', url: `${url}/\${MINE}` }));
    await weave(stage, { env });
    expect(requests).toEqual([]);
    stage.write(OF_PROJECT, fileWith({ type: 'http', url, headers: { 'X-K': '${ANTHROPIC_API_KEY}' } }));
    stage.write(USER, { enableAllProjectMcpServers: true });
    const { messages } = await weave(stage, { env });
    expect(resultText(messages, 't1')).toContain('ANTHROPIC_API_KEY');
    expect(requests).toEqual([]);
  });

  it('is judged so as the main thread, too', async () => {
    const stage = createStage();
    stage.write(OF_PROJECT, fileWith(tracing(stage)));
    const open = async () => {
      const run = await stage.open(['hello'], { config: { agent: 'weaver' } });
      run.session.scope.mcp.begin();
      const signal = new AbortController().signal;
      await run.session.scope.mcp.toolArrived('mcp__own__echo', { signal, withinMs: 30_000 });
      return run.session.scope.mcp.status.find(({ name }) => name === 'own');
    };
    expect(await open()).toMatchObject({
      status: 'disabled',
      scope: 'project',
      error: expect.stringContaining('it waits for your approval'),
    });
    expect(stage.exists('started')).toBe(false);
    await approve(stage);
    expect(await open()).toMatchObject({ status: 'connected', scope: 'project' });
  });
});

describe('definitions of others', () => {
  it('a file of the user answers for its servers', async () => {
    const stage = createStage();
    stage.write(OF_USER, fileWith(tracing(stage)));
    stage.write(USER, { disabledMcpjsonServers: ['own'] });
    const { messages } = await weave(stage);
    expect(resultText(messages, 't1')).not.toContain('works without');
    expect(stage.exists('started')).toBe(true);
  });

  it('so does the caller', async () => {
    const stage = createStage();
    const weaver = { description: 'd', prompt: 'You weave.', mcpServers: [{ own: tracing(stage) }] };
    await weave(stage, { agents: { weaver } });
    expect(stage.exists('started')).toBe(true);
  });

  it.each([
    [PROJECT, false],
    [USER, true],
    [undefined, true],
  ])('an agent of a plugin is judged as its plugin, which is enabled in %s', async (settings, starts) => {
    const stage = createStage();
    const plugin = 'home/shop/market/plugins/loom';
    stage.write('home/shop/market/.claude-plugin/marketplace.json', {
      name: 'market',
      owner: { name: 'o' },
      plugins: [{ name: 'loom', source: './plugins/loom' }],
    });
    stage.write(`${plugin}/.claude-plugin/plugin.json`, { name: 'loom' });
    stage.write(`${plugin}/agents/weaver.md`, fileWith(tracing(stage)));
    if (settings !== undefined) {
      const source = { source: 'directory', path: settings === PROJECT ? './market' : stage.path('home/shop/market') };
      const wishes = { enabledPlugins: { 'loom@market': true }, extraKnownMarketplaces: { market: { source } } };
      stage.write(settings, wishes);
    }
    const dirs = settings === undefined ? { pluginDirs: [stage.path(plugin)] } : {};
    const run = await stage.open([{ toolUse: task('t1', { subagent_type: 'loom:weaver' }) }, 'woven', 'Done.'], {
      config: { permissionMode: 'bypassPermissions', ...dirs },
    });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toMatch(/^woven/);
    expect(stage.exists('started')).toBe(starts);
    if (!starts) expect(resultText(run.messages, 't1')).toContain(WAITS);
  });
});

describe('what is granted to a server of an agent', () => {
  it('is not granted to that of another agent, though it is called the same', async () => {
    const stage = createStage();
    const define = (...args: string[]) => ({
      description: 'd',
      prompt: 'You weave.',
      mcpServers: [{ x: program(V1, ...args) }],
    });
    const echo = (id: string) => ({ toolUse: { name: 'mcp__x__echo', id, input: { text: id } } });
    const always = ({ permission_suggestions: given }: Asked) => ({
      behavior: 'allow',
      updatedPermissions: given?.map((each) => ({ ...(each as object), destination: 'session' })),
    });
    const { ask, ids } = person(always);
    const run = await stage.open(
      [
        { toolUse: task('t1', { subagent_type: 'a' }) },
        echo('a1'),
        echo('a2'),
        'woven',
        { toolUse: task('t2', { subagent_type: 'b' }) },
        echo('b1'),
        echo('b2'),
        'woven',
        { toolUse: task('t3', { subagent_type: 'a' }) },
        echo('a3'),
        'woven',
        'Done.',
      ],
      { ask, config: { agents: { a: define(), b: define('other') } } },
    );
    await run.ask('go');
    expect(ids().filter((id) => /^[ab]\d/.test(id))).toEqual(['a1', 'b1']);
    for (const id of ['a1', 'a2', 'b1', 'b2', 'a3']) expect(resultText(run.messages, id)).toContain(id);
  });

  it.each([
    ['a', 'a__b'],
    ['a__b', 'a'],
    ['a b', 'a_b'],
  ])('nor may its tools be called as those of the session are: %s, %s', async (ofSession, own) => {
    const stage = createStage();
    stage.write(USER, { mcpServers: { [ofSession]: program(V1) } });
    const weaver = { description: 'd', prompt: 'You weave.', mcpServers: [{ [own]: tracing(stage) }] };
    const { messages } = await weave(stage, { agents: { weaver } });
    expect(resultText(messages, 't1')).toContain(`cannot be called as servers of the session are: ${own}`);
    await expect(stage.open(['x'], { config: { agents: { weaver }, agent: 'weaver' } })).rejects.toThrow(
      `that the session has: ${own}`,
    );
    expect(stage.exists('started')).toBe(false);
  });
});

it('a server that the agent above does not reach is not started, and that is said', async () => {
  const stage = createStage();
  const above = { description: 'd', prompt: 'You spin.', mcpServers: [] };
  const weaver = { description: 'd', prompt: 'You weave.', mcpServers: [{ own: tracing(stage) }] };
  const run = await stage.open(
    [
      { toolUse: task('t1', { subagent_type: 'above' }) },
      { toolUse: task('t2', { subagent_type: 'weaver' }) },
      'woven',
      'spun',
      'Done.',
    ],
    { config: { permissionMode: 'bypassPermissions', agents: { above, weaver } } },
  );
  await run.ask('go');
  expect(resultText(run.messages, 't2')).toContain(
    'without its MCP server own: the agent above reaches no such server',
  );
  expect(stage.exists('started')).toBe(false);
});
