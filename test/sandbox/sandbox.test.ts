import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/engine/sandbox/sandbox.js';
import type { SandboxSettings } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { LIE } from './box.js';
import { removeFolder } from '../remove-folder.js';

const KEEPER = '#!/bin/sh\nprintf "%s\\n" "$@" >> "${0%/*}/told"\n';

/** Runs the command, and contains nothing. */
const RUNNER = 'while [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n';

/** Stands for bubblewrap where there is none: it keeps what it was told, and says of its namespaces what is not so. */
const PRETENDER = `${KEEPER}case "$*" in *' /proc/self/ns/'*) ${LIE}; exit;; esac\n${RUNNER}`;

const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';

let folder: string;
let opened: Sandbox[];

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'heddle-made-')));
  opened = [];
  for (const name of ['project', 'home', 'bin', 'empty']) await mkdir(join(folder, name));
});
afterEach(async () => {
  for (const sandbox of opened) await sandbox.close();
  removeFolder(folder);
});

const at = (...names: string[]): string => join(folder, ...names);

async function install(name: string, script: string, place = 'bin'): Promise<void> {
  await writeFile(at(place, name), script);
  await chmod(at(place, name), 0o755);
}

async function open(settings: SandboxSettings = {}, options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const sandbox = await createSandbox(
    { enabled: true, ...settings },
    {
      roots: [at('project')],
      home: at('home'),
      configDir: at('home', '.claude'),
      env: { PATH: `${at('bin')}:${SYSTEM_PATH}` },
      clock: systemClock,
      ...options,
    },
  );
  opened.push(sandbox);
  return sandbox;
}

const here = () => ({ cwd: at('project'), roots: [at('project')] });

const wrap = (sandbox: Sandbox, env: Record<string, string> = {}) =>
  sandbox.wrap({ argv: ['bash', '-c', 'true'], cwd: at('project'), env });

describe.skipIf(process.platform !== 'linux')('a sandbox that was asked for and cannot start (E8)', () => {
  const withoutPrograms = (): Partial<SandboxOptions> => ({ env: { PATH: at('empty') } });

  it('is an error that says what to install', async () => {
    await expect(open({}, withoutPrograms())).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining('bwrap'),
      hint: expect.stringContaining('bubblewrap'),
    });
  });

  it('is one when only the network lacks something', async () => {
    await install('bwrap', PRETENDER);
    const options = { env: { PATH: at('bin') } };
    await expect(open({ network: { allowedDomains: ['example.com'] } }, options)).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining('socat'),
    });
  });

  it('is one when the program is there and does not work, with its own words, and leaves nothing', async () => {
    await install('bwrap', `${KEEPER}echo "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n`);
    await expect(open()).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining('setting up uid map: Permission denied'),
      hint: expect.stringContaining('user namespaces'),
    });
    const [made = ''] = /\S*heddle-sandbox-\w+/.exec(await readFile(at('bin', 'told'), 'utf8')) ?? [];
    expect(made).not.toBe('');
    expect(existsSync(made)).toBe(false);
    expect(await readdir(at('project'))).toEqual([]);
  });

  it('is one when the program runs commands and makes no sandbox around them', async () => {
    for (const script of [RUNNER, 'exit 0\n', 'exec readlink /proc/self/ns/*\n']) {
      await install('bwrap', `#!/bin/sh\n${script}`);
      await expect(open()).rejects.toMatchObject({
        code: 'sandbox_unavailable',
        message: expect.stringContaining('would run outside'),
        hint: expect.stringContaining('not bubblewrap'),
      });
    }
    const sandbox = await open({ failIfUnavailable: false, autoAllowBashIfSandboxed: true });
    expect(sandbox).toMatchObject({ unavailable: expect.stringContaining('would run outside'), autoAllows: false });
  });

  it('is one when the program lies where commands may write', async () => {
    await install('bwrap', PRETENDER, 'project');
    const options = { env: { PATH: `${at('project')}:${at('empty')}` } };
    const expected = { code: 'sandbox_unavailable', message: expect.stringContaining('commands could replace') };
    await expect(open({}, options)).rejects.toMatchObject(expected);
    // Nor is it the machine's doing, when a project opens the folder.
    await expect(open({ failIfUnavailable: false }, options)).rejects.toMatchObject(expected);
    await install('bwrap', PRETENDER);
    const wide = { failIfUnavailable: false, filesystem: { allowWrite: [at('bin')] } };
    await expect(open(wide, { env: { PATH: at('bin') } })).rejects.toMatchObject(expected);
  });

  it('runs commands outside only where settings say so, and says so itself', async () => {
    const told: string[] = [];
    const sandbox = await open(
      { failIfUnavailable: false },
      { ...withoutPrograms(), logger: (level, text) => told.push(`${level}: ${text}`) },
    );
    expect(sandbox.unavailable).toContain('bwrap');
    expect(told).toEqual([expect.stringMatching(/^warn: Commands run without a sandbox\. .*bwrap/)]);
    expect(sandbox.describe()).toContain('no sandbox');
    expect(sandbox.covers('ls', here())).toBe(false);
    expect(await wrap(sandbox, { A: '1' })).toMatchObject({ argv: ['bash', '-c', 'true'], env: { A: '1' } });
  });

  it('is not brought about by what a project holds', async () => {
    await install('bwrap', PRETENDER);
    await symlink(at('home'), at('project', '.claude'));
    await expect(open({ failIfUnavailable: false })).rejects.toMatchObject({ code: 'sandbox_unavailable' });
    await rm(at('project', '.claude'));
    // Works, but not with this project.
    await install('bwrap', `${KEEPER}case "$*" in *${at('project')}*) exit 1;; esac\n${LIE}\n`);
    await expect(open({ failIfUnavailable: false })).rejects.toMatchObject({ code: 'sandbox_unavailable' });
    await install('bwrap', `${KEEPER}exit 1\n`);
    expect(await open({ failIfUnavailable: false })).toHaveProperty('unavailable');
  });

  it('is never taken for settings that are wrong', async () => {
    await install('bwrap', PRETENDER);
    const wrong: SandboxSettings[] = [
      { filesystem: { denyRead: ['*.{key,pem}'] } },
      { network: { allowedDomains: ['https://example.com'] } },
      { network: { allowUnixSockets: [''] } },
    ];
    for (const settings of wrong) {
      const [[group, fields]] = Object.entries(settings) as [[string, object]];
      await expect(open({ ...settings, failIfUnavailable: false })).rejects.toMatchObject({
        code: 'invalid_settings',
        message: expect.stringContaining(`sandbox.${group}.${Object.keys(fields)[0]}:`),
      });
    }
  });

  it('is no reason to run a command outside of one that is closed', async () => {
    await install('bwrap', PRETENDER);
    const sandbox = await open();
    await sandbox.close();
    await expect(wrap(sandbox)).rejects.toMatchObject({ code: 'sandbox_unavailable' });
  });
});

describe.skipIf(process.platform !== 'linux')('the command line of a sandbox', () => {
  beforeEach(() => install('bwrap', PRETENDER));

  it('isolates, in an order that holds', async () => {
    const sandbox = await open();
    const { argv, release } = await wrap(sandbox);
    const line = argv.join(' ');
    for (const flag of ['--die-with-parent', '--new-session', '--unshare-pid', '--unshare-ipc', '--unshare-uts']) {
      expect(argv).toContain(flag);
    }
    expect(argv).toContain('--unshare-net');
    expect(line).toMatch(
      /--cap-drop ALL (?:--cap-add CAP_(?:DAC_OVERRIDE|FOWNER|CHOWN) )*--ro-bind \/ \/ --dev \/dev --proc \/proc /,
    );
    expect(line).toContain(`--bind ${at('project')} ${at('project')}`);
    expect(argv.slice(-6)).toEqual(['--chdir', at('project'), '--', 'bash', '-c', 'true']);
    await release();
  });

  it('was tried before it is used', async () => {
    await open();
    expect(await readFile(at('bin', 'told'), 'utf8')).toMatch(/--unshare-net[\s\S]*--\nbash\n-c\nreadlink \S/);
  });

  it('takes care of names that do not exist, once for all who need it, and leaves nothing', async () => {
    const sandbox = await open();
    const [one, two] = await Promise.all([wrap(sandbox), wrap(sandbox)]);
    for (const name of ['.claude', '.git', '.mcp.json']) {
      expect(existsSync(at('project', name))).toBe(true);
      for (const { argv } of [one, two]) expect(argv).toContain(at('project', name));
    }
    await one.release();
    expect(existsSync(at('project', '.claude'))).toBe(true);
    await two.release();
    await two.release();
    expect(await readdir(at('project'))).toEqual([]);
  });

  it('lets go of what nobody released when it is closed', async () => {
    const sandbox = await open();
    await wrap(sandbox);
    await sandbox.close();
    expect(await readdir(at('project'))).toEqual([]);
  });

  it('leaves alone what others put into a name meanwhile', async () => {
    const sandbox = await open();
    const { release } = await wrap(sandbox);
    await writeFile(at('project', '.claude', 'settings.local.json'), '{}');
    await release();
    expect(await readdir(at('project'))).toEqual(['.claude']);
    expect(await readdir(at('project', '.claude'))).toEqual(['settings.local.json']);
  });

  it('gives commands a folder for temporary files and takes sockets and proxies away', async () => {
    const sandbox = await open();
    const { env, release } = await wrap(sandbox, { A: '1', SSH_AUTH_SOCK: '/tmp/agent', http_proxy: 'http://p:1' });
    expect(env).toEqual({ A: '1', TMPDIR: sandbox.temporary });
    await release();
  });

  it('refuses folders that were added and hold the program which makes it', async () => {
    const sandbox = await open();
    const spec = { argv: ['true'] as const, cwd: at('project'), env: {} };
    await expect(sandbox.wrap({ ...spec, roots: [at('project'), at('bin')] })).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining(`they may write in ${at('bin')}.`),
    });
    const { release } = await sandbox.wrap({ ...spec, roots: [at('project'), at('home')] });
    await release();
  });

  it('refuses a working directory that commands would not see', async () => {
    const sandbox = await open({ filesystem: { denyRead: ['hidden'] } });
    await mkdir(at('project', 'hidden'));
    await expect(sandbox.wrap({ argv: ['true'], cwd: at('project', 'hidden'), env: {} })).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining('cannot be seen'),
    });
    expect(await readdir(at('project'))).toEqual(['hidden']);
  });

  it('covers all commands but lines of nothing else than settings exclude', async () => {
    const sandbox = await open({ excludedCommands: ['docker:*'] });
    const lines = ['docker ps', 'docker ps; docker images', 'docker ps; ls', 'ls'];
    expect(lines.map((command) => sandbox.covers(command, here()))).toEqual([false, false, true, true]);
    await expect(open({ excludedCommands: ['*'], failIfUnavailable: false })).rejects.toMatchObject({
      code: 'invalid_settings',
    });
    expect((await open()).covers('docker ps', here())).toBe(true);
  });

  it('hints at the folders that a command could write then', async () => {
    const sandbox = await open();
    const failure = { output: 'touch: Read-only file system', exitCode: 1 };
    expect(sandbox.hintFor(failure)).toContain(`only in ${at('project')} and`);
    expect(sandbox.hintFor({ ...failure, roots: [at('project'), at('home')] })).toContain(
      `only in ${at('project')}, ${at('home')} and`,
    );
  });
});
