import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Options, query } from '../../src/sdk/index.js';
import { type FakeApi, lastResult, startFakeApi } from '../../src/testing/index.js';
import type { ScriptToolUse } from '../../src/engine/model/script-step.js';
import type { Message } from '../../src/protocol/index.js';
import { scratch } from '../engine/kit.js';

const SECRETS = {
  ANTHROPIC_API_KEY: 'sk-ant-planted-0123456789abcdef',
  ANTHROPIC_CUSTOM_HEADERS: 'X-Planted: planted-header-fedcba9876543210',
  CLAUDE_CODE_OAUTH_TOKEN: 'planted-oauth-token-1122334455',
};
const PLANTED = Object.values(SECRETS).map((value) => value.replace(/^X-Planted: /, ''));

let api: FakeApi | undefined;

afterEach(async () => {
  await api?.close();
  api = undefined;
});

const bash = (command: string, extra: object = {}): ScriptToolUse => ({ name: 'Bash', input: { command, ...extra } });

/** Every file below a folder, with what is in it. */
const filesIn = (folder: string): [string, string][] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => [path, readFileSync(path, 'latin1')]);

/** Plays a script over HTTP with planted keys. Gives what was shown. */
async function run(cwd: string, script: Parameters<typeof startFakeApi>[0], more: Options = {}): Promise<Message[]> {
  api = await startFakeApi(script, { repeatLast: true });
  const env = {
    PATH: process.env.PATH,
    HOME: cwd,
    HEDDLE_CONFIG_DIR: join(cwd, 'config'),
    CLAUDE_CODE_MAX_RETRIES: '0',
    ANTHROPIC_BASE_URL: api.url,
    ...SECRETS,
  };
  const messages: Message[] = [];
  const options: Options = { cwd, env, canUseTool: async () => ({ behavior: 'allow' }), ...more };
  for await (const message of query({ prompt: 'Show me everything', options })) messages.push(message);
  return messages;
}

function expectNoSecret(cwd: string, messages: readonly Message[]): void {
  const files = filesIn(cwd);
  for (const secret of PLANTED) {
    expect(files.filter(([, text]) => text.includes(secret)).map(([path]) => path)).toEqual([]);
    expect(JSON.stringify(messages)).not.toContain(secret);
  }
}

describe('E4: no secret is ever kept', () => {
  it('after a run of commands that print the environment in every way', async () => {
    const cwd = scratch();
    const toolUse = [
      bash('env; printenv; export -p; set; declare -p'),
      bash('tr "\\0" "\\n" < /proc/self/environ'),
      bash('env > printed.txt; echo "[$ANTHROPIC_API_KEY]"'),
      bash('env', { run_in_background: true }),
      bash("node -e 'console.log(process.env)'"),
    ];
    const messages = await run(cwd, [{ toolUse }, 'done'], { enableFileCheckpointing: true });
    expect(lastResult(messages)).toMatchObject({ subtype: 'success' });
    // The keys were used, and the environment was printed.
    const sent = JSON.stringify(api?.requests.map(({ headers }) => headers));
    expect(sent).toContain(SECRETS.ANTHROPIC_API_KEY);
    expect(sent).toContain('planted-header');
    const files = filesIn(cwd);
    expect(files.filter(([path, text]) => path.endsWith('.jsonl') && text.includes('HEDDLE_CONFIG_DIR='))).toHaveLength(
      1,
    );
    expect(files.some(([path, text]) => path.endsWith('printed.txt') && text.includes('HOME='))).toBe(true);
    expectNoSecret(cwd, messages);
  });

  it('after keys that were refused, with all that there is to debug with', async () => {
    const cwd = scratch();
    const messages = await run(cwd, [{ status: 401 }], { debug: true, debugFile: join(cwd, 'config', 'debug.txt') });
    expect(lastResult(messages)).toMatchObject({ is_error: true });
    expectNoSecret(cwd, messages);
  });
});
