/** Starting the built program: version, help, what it loads, doctor, and the try-out. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/cli/version.js';
import { FLAGS } from '../../src/protocol/plain.js';
import { startFakeApi } from '../../src/testing/fake-api.js';
import { createHome, ensureBuilt, runCli } from './run-cli.js';

const home = createHome();
const root = fileURLToPath(new URL('../..', import.meta.url));
beforeAll(ensureBuilt, 120_000);
afterAll(home.remove);

describe('version and help', () => {
  it('the version is that of the package', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(VERSION).toBe(version);
  });

  it.each([['--version'], ['-v'], ['-p', '--version']])('%s %s', async (...args) => {
    const words = args.filter((word) => word !== undefined);
    expect(await runCli(home.folder, words)).toEqual({ code: 0, stdout: `${VERSION} (Heddle)\n`, stderr: '' });
  });

  it('H8: the help names every flag that is not hidden, and fits the screen', async () => {
    const { code, stdout } = await runCli(home.folder, ['--help']);
    expect(code).toBe(0);
    for (const row of FLAGS.filter(({ hidden }) => !hidden)) expect(stdout).toContain(row.spec);
    expect(stdout.split('\n').filter((line) => line.length > 100)).toEqual([]);
    expect((await runCli(home.folder, ['-p', '-h'])).stdout).toBe(stdout);
  });
});

describe('A4: what a start loads', () => {
  const loadedBy = async (...args: string[]): Promise<string[]> => {
    const report = join(home.folder, 'loaded.txt');
    const spy = join(home.folder, 'spy.mjs');
    writeFileSync(report, '');
    writeFileSync(
      spy,
      `import { registerHooks } from 'node:module';
       import { appendFileSync } from 'node:fs';
       registerHooks({ load(url, context, next) {
         if (url.startsWith('file:')) appendFileSync(${JSON.stringify(report)}, url + '\\n');
         return next(url, context);
       } });`,
    );
    const { code } = await runCli(home.folder, args, { nodeArgs: ['--import', spy] });
    expect(code).toBe(0);
    const urls = readFileSync(report, 'utf8').split('\n');
    return urls.filter((url) => url.includes('cli-bundle')).map((url) => fileURLToPath(url));
  };
  const bytesOf = (paths: readonly string[]): number => paths.reduce((sum, path) => sum + statSync(path).size, 0);
  const hasZod = (path: string): boolean => readFileSync(path, 'utf8').includes('ZodError');

  it('--version next to nothing, --help the flags alone', async () => {
    expect(bytesOf(await loadedBy('--version'))).toBeLessThan(4_000);
    expect(bytesOf(await loadedBy('--help'))).toBeLessThan(60_000);
  });

  it('an answer in text: the engine, but neither the schemas nor the library behind them', async () => {
    const loaded = await loadedBy('-p', 'hello', '--model', 'embedded');
    expect(loaded.filter(hasZod)).toEqual([]);
    expect(bytesOf(loaded)).toBeLessThan(600_000);
  });
});

describe('doctor', () => {
  const withServer = async (use: (env: Record<string, string>) => Promise<void>): Promise<void> => {
    const api = await startFakeApi([]);
    const env = { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'secret-key-value', NO_PROXY: '127.0.0.1' };
    await use(env).finally(() => api.close());
    expect(api.requests).toEqual([]);
  };

  it('tells where the key comes from, never the key, and that the server answers', () =>
    withServer(async (env) => {
      const { code, stdout, stderr } = await runCli(home.folder, ['doctor'], { env });
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(/^ok {4}key +from ANTHROPIC_API_KEY$/m);
      expect(stdout).toMatch(/^ok {4}network +127\.0\.0\.1:\d+ answers \(\d+\)$/m);
      expect(stdout).toMatch(/^ok {4}ripgrep /m);
      expect(stdout).toMatch(/\n\nReady(\.|, with \d of \d+ checks in doubt\.)\n$/);
      expect(stdout).not.toContain('secret-key-value');
    }));

  it('--json, and exit 1 with file and line when settings are broken (D3)', () =>
    withServer(async (env) => {
      const project = join(home.folder, 'broken');
      await mkdir(join(project, '.claude'), { recursive: true });
      writeFileSync(join(project, '.claude/settings.json'), '{\n  "model": "x",\n  oops\n}\n');
      const { code, stdout } = await runCli(home.folder, ['doctor', '--json'], { env, cwd: project });
      expect(code).toBe(1);
      const report = JSON.parse(stdout) as { ok: boolean; checks: { name: string; status: string; text: string }[] };
      expect(report.ok).toBe(false);
      const settings = report.checks.find(({ name }) => name === 'settings');
      expect(settings).toMatchObject({ status: 'fail' });
      expect(settings?.text).toContain('settings.json:3: ');
    }));

  it('fails when the folder of sessions cannot be written', () =>
    withServer(async (env) => {
      writeFileSync(join(home.folder, 'file'), '');
      const broken = { ...env, HEDDLE_CONFIG_DIR: join(home.folder, 'file/config') };
      const { code, stdout } = await runCli(home.folder, ['doctor'], { env: broken });
      expect(code).toBe(1);
      expect(stdout).toMatch(/^fail {2}config .*cannot be written/m);
      expect(stdout).toContain('set HEDDLE_CONFIG_DIR');
    }));

  it('without key and network: warnings that say what to do', async () => {
    const env = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1' };
    const { code, stdout } = await runCli(home.folder, ['doctor'], { env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^warn {2}key +no key\n +Set ANTHROPIC_API_KEY/m);
    expect(stdout).toMatch(/^warn {2}network +127\.0\.0\.1:9 does not answer: /m);
    expect(stdout).toMatch(/\n\nNot ready\. No model can be used until a key is set, except the embedded one\.\n$/);
  });

  it.each(['nonsense', 'file:///etc/passwd'])('names an address that is none: %s', async (url) => {
    const { code, stdout } = await runCli(home.folder, ['doctor'], { env: { ANTHROPIC_BASE_URL: url } });
    expect(code).toBe(1);
    expect(stdout).toContain(`ANTHROPIC_BASE_URL is "${url}", which is no URL of a server`);
  });
});

describe('npm start', () => {
  const startScript = (...words: string[]) =>
    promisify(execFile)(process.execPath, [join(root, 'scripts/start.js'), ...words], {
      env: { PATH: process.env.PATH, HOME: home.folder, TMPDIR: home.folder },
    });
  const projectIn = (stdout: string): string => /^A copy .*: (.+)$/m.exec(stdout)?.[1] ?? '';

  it('shows a whole session offline, on a copy, and leaves the sample as it is', async () => {
    const { stdout, stderr } = await startScript();
    expect(stderr).toBe('');
    for (const tool of ['Glob', 'Grep', 'Read', 'Write']) expect(stdout).toContain(`● ${tool} `);
    expect(stdout.match(/^✓ /gm)).toHaveLength(4);
    expect(readFileSync(join(projectIn(stdout), 'SUMMARY.md'), 'utf8')).toMatch(/^Loom stock/);
    expect(existsSync(join(root, 'examples/sample-project/SUMMARY.md'))).toBe(false);
    expect(existsSync(join(home.folder, '.claude'))).toBe(false);
  });

  it('takes a prompt', async () => {
    const { stdout } = await startScript('list', 'the files in src');
    expect(stdout).toContain('> list the files in src\n\n● Glob ');
    expect(stdout).toContain('- src/stock.ts\n');
  });
});
