import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PermissionMode } from '../../src/protocol/index.js';
import { resultText } from '../engine/kit.js';
import { call, exit, modes, PLAN, plan, write } from './plan-kit.js';

const touch = (id: string) => call('Bash', id, { command: `touch ${id}.txt` });
const look = call('Glob', 'look', { pattern: '*' });

/** How a change is treated: before plan mode, in it, and after its plan was approved. */
type Way = 'runs' | 'asked' | 'denied';
const TABLE: [PermissionMode, Way, Way][] = [
  ['default', 'asked', 'asked'],
  ['acceptEdits', 'runs', 'asked'],
  ['bypassPermissions', 'runs', 'asked'],
  ['dontAsk', 'denied', 'denied'],
  ['delegate', 'denied', 'denied'],
];

const ENTERS: ['the model' | 'the host'][] = [['the model'], ['the host']];

describe.each(ENTERS)('plan mode that %s begins never opens what the mode before has closed', (who) => {
  it.each(TABLE)('%s: outside a change %s, inside it is %s', async (mode, outside, inside) => {
    const enter = who === 'the model' ? [call('EnterPlanMode', 'enter')] : [];
    const script = [
      write('before', 'before.txt'),
      'first',
      ...enter,
      look,
      write('within', 'within.txt'),
      touch('shell'),
      'second',
      exit('exit', { plan: 'warp' }),
      write('after', 'after.txt'),
      'third',
    ];
    const run = await plan(script, { config: { permissionMode: mode, allowedTools: ['EnterPlanMode'] } });
    await run.ask('one');
    if (who === 'the host') run.session.setPermissionMode('plan');
    await run.ask('two');
    expect(run.session.scope.state.mode).toBe('plan');
    expect(resultText(run.messages, 'look')).not.toContain('denied');
    await run.ask('three');
    expect(modes(run)).toEqual(['plan', mode]);

    const asked = run.asked.map(({ tool_use_id }) => tool_use_id);
    const wayOf = (id: string): Way => {
      if (asked.includes(id)) return 'asked';
      return existsSync(join(run.cwd, `${id}.txt`)) ? 'runs' : 'denied';
    };
    expect(['before', 'within', 'shell', 'after'].map(wayOf)).toEqual([outside, inside, inside, outside]);
    expect(asked).toContain('exit');
  });
});

describe('where nobody is asked', () => {
  it('an agent of a session that plans asks nobody either', async () => {
    const script = [
      call('EnterPlanMode', 'enter'),
      call('Task', 'task', { description: 'd', prompt: 'p', subagent_type: 'general-purpose' }),
      write('agent', 'agent.txt'),
      'done',
      'end',
    ];
    const run = await plan(script, { config: { permissionMode: 'dontAsk', allowedTools: ['EnterPlanMode'] } });
    await run.ask('go');
    expect(run.asked).toEqual([]);
    expect(existsSync(join(run.cwd, 'agent.txt'))).toBe(false);
  });

  it('a resumed session that plans still asks nobody', async () => {
    const run = await plan([call('EnterPlanMode', 'enter'), 'ok'], {
      config: { permissionMode: 'dontAsk', allowedTools: ['EnterPlanMode'] },
    });
    await run.ask('go');
    const { store, cwd } = run;
    const again = await plan([write('w', 'made.txt'), 'ok'], { store, cwd, config: { resume: run.session.id } });
    await again.ask('go');
    expect(again.session.scope.state.mode).toBe('plan');
    expect(again.asked).toEqual([]);
    expect(existsSync(join(cwd, 'made.txt'))).toBe(false);
  });
});

describe('two ExitPlanMode in one answer', () => {
  const both = { toolUse: [exit('one', { plan: 'ONE' }), exit('two', { plan: 'TWO' })].map(toUse) };

  it('neither is put to the person, who could not tell which one counts; one alone is', async () => {
    const run = await plan([both, exit('three', { plan: 'THREE' }), 'ok'], { config: PLAN });
    await run.ask('go');
    expect(run.asked.map(({ tool_use_id, input }) => [tool_use_id, input.plan])).toEqual([['three', 'THREE']]);
    for (const id of ['one', 'two']) expect(resultText(run.messages, id)).toContain('several calls of ExitPlanMode');
    expect(modes(run)).toEqual(['default']);
  });

  it('where nothing is planned that is what is said', async () => {
    const run = await plan([both, 'ok']);
    await run.ask('go');
    expect(run.asked).toEqual([]);
    for (const id of ['one', 'two']) expect(resultText(run.messages, id)).toContain('Plan mode is not on');
  });
});

function toUse(step: ReturnType<typeof call>) {
  if (typeof step === 'string' || !('toolUse' in step)) throw new Error('That is no call.');
  return step.toolUse as never;
}
