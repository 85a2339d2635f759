import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isPlanName, toWords } from '../../src/engine/plan/words.js';
import { resultText, scratch } from '../engine/kit.js';
import { call, exit, fileOf, PLAN, plan, told, write } from './plan-kit.js';

const no = () => ({ behavior: 'deny', message: 'no' });

/** A session that has planned before, and its file. */
async function planned(config: Record<string, unknown> = {}) {
  const run = await plan(['ok'], { config: { ...PLAN, ...config } });
  await run.ask('look');
  return { path: fileOf(run), next: { store: run.store, cwd: run.cwd, config: { resume: run.session.id, ...config } } };
}

describe('what the file of the plan does not open', () => {
  it('a file that a link in its place leads to', async () => {
    const { path, next } = await planned();
    const target = join(scratch(), 'elsewhere');
    writeFileSync(target, 'old');
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
    const run = await plan([write('w', path), 'ok'], { ...next, answers: no });
    await run.ask('go');
    expect(run.asked.map(({ tool_use_id }) => tool_use_id)).toEqual(['w']);
    expect(readFileSync(target, 'utf8')).toBe('old');
  });

  it('the same when the plan is shown: nothing is written through the link', async () => {
    const { path, next } = await planned();
    const target = join(scratch(), 'elsewhere');
    writeFileSync(target, 'old');
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
    const run = await plan([exit('exit', { plan: 'warp' }), 'ok'], next);
    await run.ask('go');
    expect(readFileSync(target, 'utf8')).toBe('old');
    expect(resultText(run.messages, 'exit')).toContain('approved the plan');
  });

  it.each([
    ['where files decide what may run', (cwd: string) => join(cwd, '.claude', 'agents')],
    ['a place outside of the project', () => join(scratch(), 'agents')],
  ])('a folder of the project that is a link to %s', async (_, placeOf) => {
    const { next } = await planned();
    const place = placeOf(next.cwd);
    mkdirSync(place, { recursive: true });
    symlinkSync(place, join(next.cwd, 'notes'));
    const settings = JSON.stringify({ plansDirectory: 'notes' });
    const begun = await plan(['ok'], { cwd: next.cwd, config: { ...PLAN, settings } });
    await begun.ask('look');
    const file_path = begun.session.scope.state.planFile ?? '';
    expect(file_path.startsWith(join(next.cwd, 'notes'))).toBe(true);
    const run = await plan([write('w', file_path), exit('exit', { plan: 'warp' }), 'ok'], {
      store: begun.store,
      cwd: next.cwd,
      config: { resume: begun.session.id, settings },
      answers: no,
    });
    await run.ask('go');
    expect(run.asked.map(({ tool_use_id }) => tool_use_id)).toEqual(['w', 'exit']);
    expect(existsSync(file_path)).toBe(false);
  });

  it('but that of a project which is a link itself', async () => {
    const { next } = await planned();
    const cwd = join(scratch(), 'link');
    symlinkSync(next.cwd, cwd);
    const config = { ...PLAN, settings: JSON.stringify({ plansDirectory: 'notes' }) };
    const run = await plan([exit('exit', { plan: 'warp' }), 'ok'], { cwd, config });
    await run.ask('go');
    expect(readdirSync(join(next.cwd, 'notes'))).toHaveLength(1);
  });

  it('a folder that was replaced by a link', async () => {
    const { path, next } = await planned();
    const elsewhere = scratch();
    mkdirSync(dirname(dirname(path)), { recursive: true });
    symlinkSync(elsewhere, dirname(path));
    const inside = join(elsewhere, 'notes.md');
    const run = await plan([write('w', inside), 'ok'], { ...next, answers: no });
    await run.ask('go');
    expect(run.asked).toHaveLength(1);
    expect(existsSync(inside)).toBe(false);
  });

  it('what a rule denies or asks about', async () => {
    const { path, next } = await planned();
    const denied = await plan([write('w', path), 'ok'], {
      ...next,
      config: { ...next.config, disallowedTools: [`Edit(/${path})`] },
    });
    await denied.ask('go');
    expect(resultText(denied.messages, 'w')).toContain('denied');
    const settings = JSON.stringify({ permissions: { ask: ['Write'] } });
    const asked = await plan([write('w', path), 'ok'], { ...next, config: { ...next.config, settings }, answers: no });
    await asked.ask('go');
    expect(asked.asked).toHaveLength(1);
  });

  it('a write of an agent, which may read it; whatever it changes is put to the person with its id', async () => {
    const { path, next } = await planned();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'the plan');
    const input = { description: 'Look', prompt: 'Find the loom.', subagent_type: 'general-purpose' };
    const script = [
      call('Task', 'task', input),
      call('Read', 'r', { file_path: path }),
      write('own', path),
      write('other', 'made.txt'),
      'Found.',
      'ok',
    ];
    const run = await plan(script, { ...next, answers: no });
    await run.ask('go');
    expect(run.asked.map(({ tool_use_id, agent_id }) => [tool_use_id, agent_id !== undefined])).toEqual([
      ['own', true],
      ['other', true],
    ]);
    expect(told(run, 1)).toContain('Plan mode is on: change nothing.');
    expect(told(run, 2)).toContain('the plan');
    const names = run.model.requests[1]?.body.tools?.map(({ name }) => name) ?? [];
    expect(names.filter((name) => name.includes('PlanMode'))).toEqual([]);
    expect(readFileSync(path, 'utf8')).toBe('the plan');
  });
});

describe('hooks', () => {
  it('see the plan, may forbid it, and cannot approve it in the place of a person', async () => {
    const decide = async (permissionDecision: 'allow' | 'deny') => {
      const hookSpecificOutput = { hookEventName: 'PreToolUse', permissionDecision };
      const inputs: unknown[] = [];
      const run = await plan([exit('exit', { plan: 'warp' }), 'ok'], { config: PLAN, answers: no });
      await run.session.scope.hooks.attach({
        callbacks: { PreToolUse: [{ matcher: 'ExitPlanMode', hookCallbackIds: ['h'] }] },
        askCallback: async (_, hookInput) => {
          inputs.push(hookInput);
          return { hookSpecificOutput };
        },
      });
      await run.ask('go');
      expect(inputs).toMatchObject([{ tool_input: { plan: 'warp' }, permission_mode: 'plan' }]);
      expect(run.session.scope.state.mode).toBe('plan');
      return run.asked.length;
    };
    expect([await decide('allow'), await decide('deny')]).toEqual([1, 0]);
  });
});

describe('a conversation that is summed up', () => {
  it('takes along that it plans, and where', async () => {
    const run = await plan(['looked', '<summary>So far.</summary>', 'ok'], { config: PLAN });
    await run.ask('look');
    await run.ask('/compact');
    await run.ask('go on');
    const [, , last] = run.model.requests;
    const text = JSON.stringify(last?.body.messages);
    expect(text).not.toContain('looked');
    // Once in the summary, once at the start of the turn.
    expect(text.split('Plan mode is on')).toHaveLength(3);
    expect(text).toContain(fileOf(run));
  });
});

describe('names of plans', () => {
  it('are three words that follow from an id', () => {
    expect(toWords('5b0c4f4e-6a51-4c8e-9d2a-3f1b7c9e8a01')).toMatch(/^[a-z]+-[a-z]+-[a-z]+$/);
    const names = Array.from({ length: 500 }, (_, at) => toWords(`${at * 7_919}${at * 104_729}`.padStart(12, '0')));
    expect(new Set(names).size).toBeGreaterThan(450);
    expect(names.every(isPlanName)).toBe(true);
  });

  it.each([['../a'], ['a/b'], [''], ['a.b'], ['-a'], ['A'], ['a'.repeat(101)], [5], [undefined]])(
    'are not %j, whatever a log says',
    (name) => expect(isPlanName(name)).toBe(false),
  );

  it('are not those of other sessions', async () => {
    const { path, next } = await planned();
    const other = await plan(['ok'], { cwd: next.cwd, config: PLAN });
    await other.ask('look');
    expect(fileOf(other)).not.toBe(path);
  });
});
