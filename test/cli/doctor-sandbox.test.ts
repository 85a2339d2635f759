import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkSandbox } from '../../src/cli/doctor-sandbox.js';
import { readEnvironment } from '../../src/cli/environment.js';
import type { SandboxSettings } from '../../src/protocol/index.js';
import { scratch } from '../engine/kit.js';
import { hasBubblewrap, LIE, skipNote } from '../sandbox/box.js';

let folder: string;
const at = (...names: string[]): string => join(folder, ...names);

async function install(name: string, script = 'exit 0'): Promise<void> {
  await writeFile(at('bin', name), `#!/bin/sh\n${script}\n`);
  await chmod(at('bin', name), 0o755);
}

async function examine(sandbox?: SandboxSettings, path = at('bin')) {
  await writeFile(at('config', 'settings.json'), JSON.stringify({ ...(sandbox && { sandbox }) }));
  const environment = readEnvironment({ PATH: path, HEDDLE_CONFIG_DIR: at('config') }, at('home'));
  return checkSandbox({ environment, cwd: at('project') });
}

describe.skipIf(process.platform !== 'linux')('doctor about the sandbox', () => {
  beforeEach(async () => {
    folder = scratch();
    for (const name of ['bin', 'config', 'home', 'project']) await mkdir(at(name));
  });

  it('says what to install, and fails only where settings ask for one (E8)', async () => {
    expect(await examine()).toEqual({
      status: 'warn',
      text: 'bwrap was not found',
      todo: expect.stringMatching(/^Install bubblewrap, and socat /),
    });
    expect(await examine({ enabled: true })).toMatchObject({
      status: 'fail',
      text: 'bwrap was not found; settings ask for a sandbox, so no session starts',
    });
    expect(await examine({ enabled: true, failIfUnavailable: false })).toMatchObject({
      status: 'warn',
      text: 'bwrap was not found; settings ask for a sandbox, so commands run without one',
    });
    expect(await examine({ enabled: false })).toMatchObject({ text: 'bwrap was not found' });
  });

  it('tries it, and gives the reason when it does not work', async () => {
    await install('bwrap', 'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1');
    expect(await examine()).toEqual({
      status: 'warn',
      text: 'bwrap does not work: bwrap: setting up uid map: Permission denied',
      todo: expect.stringContaining('user namespaces'),
    });
    await install('bwrap', 'exit 0');
    expect(await examine()).toMatchObject({ text: expect.stringContaining('would run outside') });
  });

  it('misses socat, and fails only where there are rules about the network', async () => {
    await install('bwrap', LIE);
    const rules = { enabled: true, network: { allowedDomains: ['example.com'] } };
    const todo = 'Install socat: the network rules of the sandbox need it.';
    const works = `${at('bin', 'bwrap')} works`;
    expect(await examine()).toEqual({ status: 'warn', text: `${works}; socat was not found`, todo });
    expect(await examine({ enabled: true })).toMatchObject({ status: 'warn' });
    expect(await examine(rules)).toEqual({
      status: 'fail',
      text: `${works}, and settings ask for a sandbox; socat was not found, so no session starts`,
      todo,
    });
    await install('socat');
    expect(await examine(rules)).toEqual({ status: 'ok', text: `${works}, and settings ask for a sandbox` });
    expect(await examine()).toEqual({ status: 'ok', text: works });
  });
});

describe.skipIf(!hasBubblewrap)(`doctor about a sandbox that works${skipNote}`, () => {
  it('is content', async () => {
    folder = scratch();
    for (const name of ['config', 'home', 'project']) await mkdir(at(name));
    expect(await examine({ enabled: true }, process.env.PATH)).toMatchObject({
      status: 'ok',
      text: expect.stringMatching(/bwrap works, and settings ask for a sandbox$/),
    });
  });
});
