import { cpSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileStore } from '../../src/engine/index.js';
import { getSubagentMessages, listSubagents } from '../../src/engine/session-functions/messages.js';
import { resultText, scratch } from '../engine/kit.js';
import { agentIdIn, bash, open, routed, saidIn, task } from './kit.js';

/** What a process leaves behind that dies now: its logs, and no lease that anyone holds. */
const die = (configDir: string, dead: string): void =>
  cpSync(configDir, dead, {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || path.endsWith('.jsonl'),
  });

const bypass = { permissionMode: 'bypassPermissions' as const };

describe('going on with an agent', () => {
  it('in the same session: it knows what it was told before', async () => {
    const run = await open([
      { toolUse: task('t1', { subagent_type: 'Bash' }) },
      { toolUse: bash('b1', 'echo warp') },
      'first',
      () => ({ toolUse: task('t2', { resume: agentIdIn(resultText(run.messages, 't1')), prompt: 'And now?' }) }),
      'second',
      'Done.',
    ]);
    await run.ask('go');
    expect(resultText(run.messages, 't2')).toContain('second');
    const [, , , , again] = run.model.requests;
    const said = again ? saidIn(again) : '';
    for (const text of ['Do t1.', 'warp', 'first', 'And now?']) expect(said).toContain(text);
    expect(again?.body.tools?.map((tool) => 'name' in tool && tool.name)).toEqual(['Bash', 'TaskOutput', 'TaskStop']);
    expect(agentIdIn(resultText(run.messages, 't2'))).toBe(agentIdIn(resultText(run.messages, 't1')));
  });

  it('after another engine has resumed the session from the disk; others read its log', async () => {
    const configDir = scratch();
    const cwd = scratch();
    const store = () => createFileStore({ configDir });
    const first = await open([{ toolUse: task('t1') }, { toolUse: bash('b1', 'echo warp') }, 'first', 'Done.'], {
      store: store(),
      cwd,
    });
    await first.ask('go');
    const id = agentIdIn(resultText(first.messages, 't1'));
    const { id: resume } = first.session;
    await first.session.close();
    const second = await open([{ toolUse: task('t2', { resume: id, prompt: 'And now?' }) }, 'second', 'Done.'], {
      store: store(),
      cwd,
      config: { resume },
    });
    await second.ask('more');
    expect(second.model.requests.map(saidIn)[1]).toContain('warp');
    const file = join(
      (store().pathOf?.({ sessionId: resume, cwd }) ?? '').replace(/\.jsonl$/, ''),
      'subagents',
      `agent-${id}.jsonl`,
    );
    expect(existsSync(file)).toBe(true);
    expect(await listSubagents({ store: store() }, resume)).toEqual([id]);
    const messages = await getSubagentMessages({ store: store() }, { sessionId: resume, agentId: id });
    expect(messages.map(({ type }) => type)).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant']);
    const lines = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(
      lines
        .filter(({ type }) => type === 'user')
        .every(({ isSidechain, agentId }) => isSidechain === true && agentId === id),
    ).toBe(true);
  });

  it('starts with what its parent knows when its context is forked, and knows it still when it goes on', async () => {
    const agents = { twin: { description: 'd', prompt: 'p', context: 'forked' } };
    const run = await open(
      [
        'The loom is red.',
        { text: 'I hand it on.', toolUse: [bash('b1', 'echo heddle'), task('t1', { subagent_type: 'twin' })] },
        'twin says',
        () => ({ toolUse: task('t2', { resume: agentIdIn(resultText(run.messages, 't1')), prompt: 'And now?' }) }),
        'twin again',
        'Done.',
      ],
      { config: { agents } },
    );
    await run.ask('What colour has it?');
    await run.ask('go');
    const [, , forked, , again] = run.model.requests.map(saidIn);
    for (const text of ['What colour has it?', 'The loom is red.', 'I hand it on.', 'Do t1.']) {
      expect(forked).toContain(text);
      expect(again).toContain(text);
    }
    expect(forked).not.toContain('"t1"');
    expect(run.messages.filter((message) => JSON.stringify(message).includes('The loom is red.'))).toHaveLength(2);
  });
});

describe('kill -9 while an agent works', () => {
  it('in the foreground: the call gets a result that names the agent, nothing runs twice, and it can be gone on with', async () => {
    const configDir = scratch();
    const dead = scratch();
    const cwd = scratch();
    const gate = Promise.withResolvers<void>();
    const store = createFileStore({ configDir });
    const first = await open(
      [
        { toolUse: task('t1') },
        { toolUse: bash('b1', 'echo x >> ran') },
        () => {
          die(configDir, dead);
          gate.resolve();
          return 'never seen';
        },
        'Done.',
      ],
      { store, cwd, config: bypass },
    );
    const asked = first.ask('go');
    await gate.promise;
    await asked;
    const { id: resume } = first.session;
    const id = agentIdIn(resultText(first.messages, 't1'));
    const second = await open(
      ['I see.', { toolUse: task('t2', { resume: id, prompt: 'Go on.' }) }, 'I went on.', 'Done.'],
      { store: createFileStore({ configDir: dead }), cwd, config: { ...bypass, resume } },
    );
    const result = second.nextResult();
    expect(second.session.resumeTurn()).toBe(true);
    expect(await result).toMatchObject({ result: 'I see.' });
    const said = second.model.requests.map(saidIn);
    expect(said[0]).toContain(`The agent ${id} was at work when the process ended`);
    await second.ask('go on with it');
    const [, , inside] = second.model.requests.map(saidIn);
    expect(inside).toContain('Do t1.');
    expect(inside).toContain('Go on.');
    expect(readFileSync(join(cwd, 'ran'), 'utf8')).toBe('x\n');
  });

  it('in the background: the model is told with the next prompt', async () => {
    const configDir = scratch();
    const dead = scratch();
    const cwd = scratch();
    const first = await open(
      [
        { toolUse: task('t1', { run_in_background: true }) },
        ...routed(2, (_, said) => (said.includes('"go"') ? 'started' : { text: 'x', waitFor: new Promise(() => {}) })),
      ],
      { store: createFileStore({ configDir }), cwd },
    );
    await first.ask('go');
    const id = agentIdIn(resultText(first.messages, 't1'));
    die(configDir, dead);
    const second = await open(['Yes.'], {
      store: createFileStore({ configDir: dead }),
      cwd,
      config: { resume: first.session.id },
    });
    await second.ask('and?');
    const [said] = second.model.requests.map(saidIn);
    expect(said).toContain('was stopped with the process that ran it');
    expect(said).toContain(`give ${id} as resume`);
  });
});
