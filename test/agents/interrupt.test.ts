import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/engine/index.js';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';
import { systemClock } from '../../src/protocol/plain.js';
import type { SessionStore } from '../../src/protocol/index.js';
import { resultText } from '../engine/kit.js';
import { until } from '../workspace/running.js';
import { agentIdIn, bash, ofSubtype, open, saidIn, task } from './kit.js';

describe('G1: an interrupt', () => {
  it('ends an agent in the foreground, and the next message works; it can be gone on with', async () => {
    const gate = Promise.withResolvers<void>();
    const run = await open([
      { toolUse: task('t1') },
      () => {
        gate.resolve();
        return { text: 'half', waitFor: new Promise(() => {}) };
      },
      () => ({
        toolUse: task('t2', {
          resume: agentIdIn(JSON.stringify(ofSubtype(run.messages, 'task_started'))),
          prompt: 'Go on.',
        }),
      }),
      'whole',
      'Done.',
    ]);
    const asked = run.ask('go');
    await gate.promise;
    run.session.interrupt();
    expect(await asked).toMatchObject({ is_error: false, terminal_reason: 'aborted_tools' });
    expect(ofSubtype(run.messages, 'task_notification')).toMatchObject([{ status: 'stopped' }]);
    expect(run.session.scope.agents.tree.working.size).toBe(0);
    expect(await run.ask('again')).toMatchObject({ result: 'Done.' });
    expect(run.model.requests.map(saidIn)[3]).toContain('Do t1.');
    expect(resultText(run.messages, 't2')).toContain('whole');
  });

  it('ends what nested agents run', async () => {
    const workspace = createLocalWorkspace({ clock: systemClock });
    const run = await open(
      [{ toolUse: task('t1') }, { toolUse: task('t2') }, { toolUse: bash('b1', 'echo begun > begun; sleep 60') }],
      { workspace, config: { permissionMode: 'bypassPermissions' } },
    );
    const asked = run.ask('go');
    await run.seen((message) => message.type === 'assistant' && JSON.stringify(message).includes('"b1"'));
    run.session.interrupt();
    await asked;
    await Promise.all(run.session.scope.agents.tree.working.values());
    const inside = run.messages.filter((message) => 'parent_tool_use_id' in message && message.parent_tool_use_id);
    expect(inside.map((message) => ('parent_tool_use_id' in message ? message.parent_tool_use_id : ''))).toContain(
      't2',
    );
    expect(ofSubtype(run.messages, 'task_notification').map(({ status }) => status)).toEqual(['stopped', 'stopped']);
  });
});

describe('an interrupt while a server of its own hangs', () => {
  it('ends the wait for it', async () => {
    const own = { command: 'sleep', args: ['60'] };
    const agents = { weaver: { description: 'd', prompt: 'p', mcpServers: [{ own }] } };
    const workspace = createLocalWorkspace({ clock: systemClock });
    const run = await open([{ toolUse: task('t1', { subagent_type: 'weaver' }) }, 'Next.'], {
      workspace,
      config: { agents },
    });
    const asked = run.ask('go');
    const { working } = run.session.scope.agents.tree;
    await until(() => working.size === 1);
    const [over] = working.values();
    run.session.interrupt();
    const advancing = setInterval(() => run.clock.advance(1_000), 5);
    await Promise.all([asked, over]);
    clearInterval(advancing);
    expect(working.size).toBe(0);
    expect(await run.ask('again')).toMatchObject({ result: 'Next.' });
  });
});

describe('a store that writes later', () => {
  it('C4: the call is shown before anyone is asked about it', async () => {
    const memory = createMemoryStore();
    // As a remote one: nothing is written in the same moment.
    const store: SessionStore = Object.create(memory, {
      append: {
        value: async (...args: Parameters<SessionStore['append']>) => {
          await new Promise(setImmediate);
          return memory.append(...args);
        },
      },
    });
    const shown: boolean[] = [];
    const script = [
      { toolUse: bash('b0', 'touch x') },
      { toolUse: task('t1') },
      { toolUse: bash('b1', 'touch x') },
      'a',
      'Done.',
    ];
    const run = await open(script, {
      store,
      ask: async ({ tool_use_id }) => {
        shown.push(
          run.messages.some(
            (message) => message.type === 'assistant' && JSON.stringify(message).includes(`"${tool_use_id}"`),
          ),
        );
        return { behavior: 'deny', message: 'no' };
      },
    });
    await run.ask('go');
    expect(shown).toEqual([true, true]);
  });
});
