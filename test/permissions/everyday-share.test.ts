/** D2 everyday lines in a real project: at most one of twenty is asked about, also under ordinary rules that deny. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { judgeOnDisk } from './judge-disk.js';

const LINES = readFileSync(join(import.meta.dirname, 'everyday-share.txt'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => line.replaceAll('\u23CE', '\n'));

const ALLOWED =
  'git:*|npm run:*|npm test:*|npm ci|npm install:*|npm ls:*|npm view:*|npx vitest:*|npx tsc:*|npx eslint:*|npx prettier:*|npx tsx:*|pnpm:*|yarn:*|node:*|pytest:*|python:*|python3:*|pip:*|ruff:*|mypy:*|uv:*|go:*|gofmt:*|cargo:*|make:*|cmake:*|ctest:*|mkdir:*|touch:*|cp:*|mv:*|rm:*|chmod:*|gh:*|docker ps:*|docker compose:*|./scripts/*';

const TRACKED =
  '.eslintrc.json .github/workflows/ci.yml .gitignore CHANGELOG.md Makefile README.md app/main.py app/models/user.py cmd/server/main.go config/default.json crates/core/src/lib.rs data.csv docker-compose.yml docs/api.md fixtures/a.json go.mod include/a.h internal/store/store.go package-lock.json package.json packages/cli/package.json packages/cli/src/main.ts packages/core/package.json packages/core/src/index.ts pyproject.toml requirements.txt scripts/build.sh src/auth.ts src/index.ts src/lib/lexer.ts src/lib/parser.ts src/main.c src/server.ts src/utils/format.ts test/auth.test.ts test/parser.test.ts tests/conftest.py tests/test_user.py tsconfig.json vitest.config.ts';
const IGNORED = '.env secrets/prod/token node_modules/x/index.js .venv/bin/activate dist/index.js out.log build/main';

let project = '';

beforeAll(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'everyday-')));
  const write = (name: string): void => {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(
      join(project, name),
      name === '.gitignore' ? 'node_modules\ndist\n.env\nsecrets\n.venv\nbuild\n*.log\n' : '',
    );
  };
  const env = { PATH: process.env.PATH, HOME: project, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
  for (const name of `${TRACKED} ${IGNORED}`.split(' ')) write(name);
  symlinkSync('/usr/bin/env', join(project, '.venv/bin/python'));
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
  ])
    execFileSync('git', args, { cwd: project, env, stdio: 'pipe' });
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

it.each([
  ['no rule', []],
  ['a rule for one file', ['Read(./.env)']],
  ['rules for a file, a folder and a command', ['Read(./.env)', 'Read(./secrets/**)', 'Bash(curl:*)']],
  ['rules for names anywhere', ['Read(**/.env)', 'Read(**/.env.*)']],
  ['rules for a file and for a kind of files', ['Read(./.env)', 'Read(**/*.pem)']],
])('D2 everyday lines are rarely asked about under %s that denies', async (_, deny) => {
  const allow = ALLOWED.split('|').map((rule) => `Bash(${rule})`);
  const asked: string[] = [];
  for (const line of LINES) {
    const { verdict } = await judgeOnDisk(line, project, { allow, deny, mode: 'acceptEdits' });
    if (verdict === 'ask') asked.push(line);
  }
  expect(asked.length, asked.join('\n')).toBeLessThanOrEqual(LINES.length / 20);
});
