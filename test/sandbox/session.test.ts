import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';
import type { Message, SessionConfig } from '../../src/protocol/index.js';
import { systemClock } from '../../src/protocol/plain.js';
import { PATH_ENV, type Run, type RunOptions, resultText, scratch, start } from '../engine/kit.js';
import { hasBubblewrap, skipNote } from './box.js';
import { removeFolder } from '../remove-folder.js';

const bash = (command: string, rest: object = {}, id = 't1'): ScriptStep => ({
  toolUse: { name: 'Bash', id, input: { command, ...rest } },
});

/** In a mode that asks only about what is asked about in every mode. */
async function open(steps: readonly ScriptStep[], config: Partial<SessionConfig>, more: RunOptions = {}): Promise<Run> {
  const workspace = createLocalWorkspace({ clock: systemClock });
  const options = { workspace, config: { permissionMode: 'bypassPermissions', ...config } as const, ...more };
  const one = await start([...steps, 'ok'], options);
  onTestFinished(() => one.session.close());
  return one;
}

async function run(step: ScriptStep, config: Partial<SessionConfig>, more: RunOptions = {}): Promise<string> {
  const one = await open([step], config, more);
  await one.ask('go');
  return resultText(one.messages, 't1');
}

/** A folder that commands see and may not write: those in /tmp are not theirs to see. */
function outsideFolder(): string {
  const folder = mkdtempSync('/var/tmp/heddle-test-');
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** Someone who says yes to everything. */
function agreeing() {
  let count = 0;
  const ask = () => {
    count += 1;
    return Promise.resolve({ behavior: 'allow' });
  };
  return { ask, asked: () => count };
}

const toolsOf = ({ model }: Run) => model.requests[0]?.body.tools;

const bashOf = (one: Run): string => String(toolsOf(one)?.find(({ name }) => name === 'Bash')?.description);

describe.skipIf(!hasBubblewrap)(`a session with a sandbox${skipNote}`, () => {
  const sandbox = { enabled: true };

  it('lets commands write in the project and nowhere else', async () => {
    const cwd = scratch();
    const outside = join(scratch(), 'made');
    await run(bash('echo x > inside'), { sandbox }, { cwd });
    expect(existsSync(join(cwd, 'inside'))).toBe(true);
    expect(await run(bash(`echo x > ${outside}`), { sandbox }, { cwd })).toMatch(/Exit code 1/);
    expect(existsSync(outside)).toBe(false);
  });

  it('keeps commands from settings and plugins of the session, whatever they are called (E3)', async () => {
    const cwd = scratch();
    await mkdir(join(cwd, 'plug', '.claude-plugin'), { recursive: true });
    await writeFile(join(cwd, 'plug', '.claude-plugin', 'plugin.json'), '{"name":"plug"}');
    for (const name of ['conf.json', 'servers.json']) await writeFile(join(cwd, name), '{}');
    await writeFile(join(cwd, 'write.sh'), 'for f in "$@"; do echo x > "$f"; done; mv plug other\n');
    const line = bash('sh write.sh conf.json servers.json plug/hook.sh plain 2>&1');
    const text = await run(
      line,
      { sandbox, settings: 'conf.json', mcpConfig: ['servers.json'], pluginDirs: [join(cwd, 'plug')] },
      { cwd },
    );
    expect(text.match(/(?:conf\.json|servers\.json|hook\.sh): Read-only|mv: cannot/g)).toHaveLength(4);
    expect(await readFile(join(cwd, 'conf.json'), 'utf8')).toBe('{}');
    expect([existsSync(join(cwd, 'plug', 'hook.sh')), existsSync(join(cwd, 'plain'))]).toEqual([false, true]);
  });

  it('asks for it by settings, too, and in the background', async () => {
    const outside = join(scratch(), 'made');
    const settings = JSON.stringify({ sandbox });
    await run(bash(`echo x > ${outside}`, { run_in_background: true }), { settings });
    expect(existsSync(outside)).toBe(false);
  });

  it('leaves the cwd of later calls to the command', async () => {
    const cwd = scratch();
    expect(await run(bash('mkdir sub && cd sub && pwd'), { sandbox }, { cwd })).toBe(join(cwd, 'sub'));
  });

  it('gives commands a TMPDIR that they can write and read', async () => {
    const text = await run(bash('echo note > "$TMPDIR/a"; cat "$TMPDIR/a" /tmp/a'), { sandbox });
    expect(text).toBe('note\nnote');
  });

  describe('is left', () => {
    it.each(['default', 'bypassPermissions'] as const)('only with approval (%s)', async (permissionMode) => {
      const outside = join(scratch(), 'made');
      const leave = bash(`echo x > ${outside}`, { dangerouslyDisableSandbox: true });
      expect(await run(leave, { sandbox, permissionMode })).toContain('nobody here who can be asked');
      expect(existsSync(outside)).toBe(false);
      const { ask, asked } = agreeing();
      await run(leave, { sandbox, permissionMode }, { ask });
      expect([existsSync(outside), asked()]).toEqual([true, 1]);
    });

    it('by nobody where settings say so, and nobody is asked', async () => {
      const outside = join(scratch(), 'made');
      const { ask, asked } = agreeing();
      const config = { sandbox: { ...sandbox, allowUnsandboxedCommands: false }, permissionMode: 'default' as const };
      const text = await run(bash(`echo x > ${outside}`, { dangerouslyDisableSandbox: true }), config, { ask });
      expect(text).toContain('<tool_use_error>Settings let no command leave the sandbox');
      expect(text).toContain('sandbox.allowUnsandboxedCommands is false');
      expect([existsSync(outside), asked()]).toEqual([false, 0]);
    });

    it.each([
      ['in which they went', ['cd e', 'git status']],
      ['to which they push', ['git push ./e HEAD:x']],
    ])('by no git that runs what commands put into a repository %s', async (_, lines) => {
      const [cwd, made] = [scratch(), join(outsideFolder(), 'made')];
      const hooks = 'e/.git/hooks';
      const script = [
        'git init -q e',
        `git -C e config core.fsmonitor 'touch ${made}; false'`,
        `mkdir -p ${hooks}; printf '#!/bin/sh\\ntouch ${made}\\n' > ${hooks}/post-receive; chmod +x ${hooks}/post-receive`,
      ];
      await writeFile(join(cwd, 'make.sh'), script.join('\n'));
      execFileSync('sh', ['-c', 'git init -q; git -c user.name=a -c user.email=b commit -q --allow-empty -m x'], {
        cwd,
      });
      const steps = ['sh make.sh', ...lines].map((line, at) => bash(line, {}, `t${at}`));
      const one = await open(steps, { sandbox: { ...sandbox, excludedCommands: ['git'] } }, { cwd });
      await one.ask('go');
      expect([existsSync(join(cwd, hooks, 'post-receive')), existsSync(made)]).toEqual([true, false]);
    });

    it('by no git that makes a work tree for an agent out of a repository which commands made', async () => {
      const [cwd, made] = [scratch(), join(outsideFolder(), 'made')];
      const script = [
        'git init -q e; cd e; mkdir -p .git/hooks',
        'git -c user.name=a -c user.email=b commit -q --allow-empty -m x',
        `printf '#!/bin/sh\\ntouch ${made}\\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout`,
      ];
      await writeFile(join(cwd, 'make.sh'), script.join('\n'));
      const input = { description: 'd', prompt: 'p', subagent_type: 'general-purpose', isolation: 'worktree' };
      const agent: ScriptStep = { toolUse: { name: 'Agent', id: 't3', input } };
      const steps = [bash('sh make.sh', {}, 't1'), bash('cd e', {}, 't2'), agent];
      const one = await open(steps, { sandbox, trusted: true }, { cwd });
      await one.ask('go');
      expect(resultText(one.messages, 't3')).toContain('may have made the repository');
      expect(existsSync(made)).toBe(false);
    });

    it('by lines of excluded commands alone', async () => {
      const folder = outsideFolder();
      const [one, two] = [join(folder, 'one'), join(folder, 'two')];
      const config = { sandbox: { ...sandbox, excludedCommands: ['touch'] } };
      expect(await run(bash(`touch ${one}; true`), config)).toContain('Read-only file system');
      expect(await run(bash(`touch ${one} | cat > ${two}`), config)).toContain('Read-only file system');
      expect([existsSync(one), existsSync(two)]).toEqual([false, false]);
      await run(bash(`touch ${one} && touch ${two}`), config);
      expect([existsSync(one), existsSync(two)]).toEqual([true, true]);
    });
  });

  it('hints at the sandbox after commands that failed in it, and after no others', async () => {
    const failing = (rest?: object) => bash("printf '%d Read-only file system' x", rest);
    const { ask } = agreeing();
    expect(await run(failing(), { sandbox })).toContain('Sandbox: Commands may write only in');
    const outcomes = [
      await run(failing({ dangerouslyDisableSandbox: true }), { sandbox }, { ask }),
      await run(failing(), { sandbox: { ...sandbox, excludedCommands: ['printf'] } }),
      await run(failing(), {}),
    ];
    for (const text of outcomes) {
      expect(text).toContain('Read-only file system');
      expect(text).not.toContain('Sandbox:');
    }
  });

  it('does not say of a command that runs bubblewrap itself that it did not run', async () => {
    const text = await run(bash('echo ran; bwrap --ro-bind / / --dev /dev --unshare-user --cap-add ALL /nowhere'), {
      sandbox,
    });
    expect(text).toContain('ran\nbwrap: ');
    expect(text).not.toContain('did not run');
  });

  it('lets commands run unasked because of it, if the call says so', async () => {
    const config = { permissionMode: 'default' as const, sandbox: { ...sandbox, autoAllowBashIfSandboxed: true } };
    expect(await run(bash('echo x > made && cat made'), config)).toBe('x');
    expect(await run(bash('echo x > made'), { ...config, sandbox })).toContain('nobody here who can be asked');
  });

  describe('opens folders that are added while it lives', () => {
    const touch = (folder: string, id: string): ScriptStep => bash(`touch ${join(folder, id)} && echo ${id}`, {}, id);

    it('by an answer, and closes them again', async () => {
      const folder = outsideFolder();
      const change = (type: 'addDirectories' | 'removeDirectories') => [
        { type, directories: [folder], destination: 'session' },
      ];
      const answers = [change('addDirectories'), change('removeDirectories')];
      const ask = () => Promise.resolve({ behavior: 'allow', updatedPermissions: answers.shift() });
      const leave = (id: string): ScriptStep => bash('true', { dangerouslyDisableSandbox: true }, id);
      const steps = [touch(folder, 'a'), leave('b'), touch(folder, 'c'), leave('d'), touch(folder, 'e')];
      const one = await open(steps, { sandbox }, { ask });
      await one.ask('go');
      const told = (id: string): string => resultText(one.messages, id);
      expect(told('a')).toContain('Read-only file system');
      expect(told('c')).toBe('c');
      expect(told('e')).toContain('Read-only file system');
    });

    it('by a settings file', async () => {
      const [cwd, folder, configDir] = [scratch(), outsideFolder(), scratch()];
      const config = { sandbox, settingSources: ['user' as const], configDir };
      const one = await open([touch(folder, 'a'), 'ok', touch(folder, 'b'), bash('touch /made', {}, 'c')], config, {
        cwd,
      });
      await one.ask('go');
      expect(resultText(one.messages, 'a')).toContain('Read-only file system');
      const settings = { permissions: { additionalDirectories: [folder] } };
      await writeFile(join(configDir, 'settings.json'), JSON.stringify(settings));
      await one.ask('again');
      expect(resultText(one.messages, 'b')).toBe('b');
      expect(resultText(one.messages, 'c')).toContain(`only in ${cwd}, ${folder} and $TMPDIR`);
    });
  });

  describe('tells the model about it', () => {
    it('in what it says of Bash, in few words and the same in every folder', async () => {
      const filesystem = { allowWrite: ['~/.npm'], denyRead: ['~/.ssh'] };
      const config = { sandbox: { ...sandbox, filesystem, allowUnsandboxedCommands: false } };
      const [plain, boxed, other] = [await open([], {}), await open([], config), await open([], config)];
      for (const one of [plain, boxed, other]) await one.ask('go');
      expect(bashOf(plain)).not.toMatch(/sandbox/i);
      expect(bashOf(boxed).startsWith(`${bashOf(plain)} Commands run in a sandbox. `)).toBe(true);
      expect(bashOf(boxed)).toContain('write only in the working directories, ~/.npm and $TMPDIR');
      expect(bashOf(boxed)).toContain('cannot read ~/.ssh');
      expect(bashOf(boxed)).toContain('have no network');
      expect(bashOf(boxed).length - bashOf(plain).length).toBeLessThan(500);
      expect(toolsOf(other)).toEqual(toolsOf(boxed));
      const others = (one: Run) => toolsOf(one)?.filter(({ name }) => name !== 'Bash');
      expect(others(boxed)).toEqual(others(plain));
    });
  });
});

describe('a sandbox that cannot be had', () => {
  const env = { ...PATH_ENV, PATH: '/nowhere' };
  const isNotice = (message: Message): boolean => message.type === 'system' && message.subtype === 'informational';

  it('E8: is an error, never a run outside', async () => {
    await expect(start([], { config: { sandbox: { enabled: true }, env } })).rejects.toMatchObject({
      code: 'sandbox_unavailable',
    });
  });

  it('where settings can do without: is told once, and the model not at all', async () => {
    const config = { env, sandbox: { enabled: true, failIfUnavailable: false } };
    const [one, plain] = [await open(['first'], config), await open([], {})];
    await one.ask('go');
    await one.ask('on');
    await plain.ask('go');
    const notices = one.messages.filter(isNotice);
    expect(notices).toEqual([
      expect.objectContaining({
        level: 'warning',
        content: expect.stringMatching(/^Commands run without a sandbox, as settings allow\. The sandbox /),
        session_id: one.session.id,
      }),
    ]);
    expect(one.messages.findIndex(isNotice)).toBeGreaterThan(
      one.messages.findIndex((message) => message.type === 'system' && message.subtype === 'init'),
    );
    expect(plain.messages.filter(isNotice)).toEqual([]);
    expect(toolsOf(one)).toEqual(toolsOf(plain));
  });
});
