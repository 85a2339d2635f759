import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { PATH_ENV, resultText, scratch, start } from '../engine/kit.js';
import { hasBubblewrap, skipNote } from './box.js';

const bash = (command: string, rest: object = {}): ScriptStep => ({
  toolUse: { name: 'Bash', id: 't1', input: { command, ...rest } },
});

async function run(step: ScriptStep, config: Partial<SessionConfig>, cwd = scratch()) {
  const workspace = createLocalWorkspace({ clock: systemClock });
  const one = await start([step, 'ok'], { workspace, cwd, config: { permissionMode: 'bypassPermissions', ...config } });
  onTestFinished(() => one.session.close());
  await one.ask('go');
  return resultText(one.messages, 't1');
}

describe.skipIf(!hasBubblewrap)(`a session with a sandbox${skipNote}`, () => {
  const sandbox = { enabled: true };

  it('lets commands write in the project and nowhere else', async () => {
    const cwd = scratch();
    const outside = join(scratch(), 'made');
    await run(bash('echo x > inside'), { sandbox }, cwd);
    expect(existsSync(join(cwd, 'inside'))).toBe(true);
    expect(await run(bash(`echo x > ${outside}`), { sandbox }, cwd)).toMatch(/Exit code 1/);
    expect(existsSync(outside)).toBe(false);
  });

  it('asks for it by settings, too, and in the background', async () => {
    const outside = join(scratch(), 'made');
    const settings = JSON.stringify({ sandbox });
    await run(bash(`echo x > ${outside}`, { run_in_background: true }), { settings });
    expect(existsSync(outside)).toBe(false);
  });

  it('leaves the cwd of later calls to the command', async () => {
    const cwd = scratch();
    expect(await run(bash('mkdir sub && cd sub && pwd'), { sandbox }, cwd)).toBe(join(cwd, 'sub'));
  });

  it('is left only with approval', async () => {
    const outside = join(scratch(), 'made');
    const leave = bash(`echo x > ${outside}`, { dangerouslyDisableSandbox: true });
    expect(await run(leave, { sandbox, permissionMode: 'default' })).toContain('nobody here who can be asked');
    expect(existsSync(outside)).toBe(false);
  });
});

it('E8: a sandbox that cannot be had is an error, never a run outside', async () => {
  const config = { sandbox: { enabled: true }, env: { ...PATH_ENV, PATH: '/nowhere' } };
  await expect(start([], { config })).rejects.toMatchObject({ code: 'sandbox_unavailable' });
});
