import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Message } from '../../src/protocol/index.js';
import { type AgentDefinition, type Options, query } from '../../src/sdk/index.js';
import { startFakeApi } from '../../src/testing/index.js';
import { routed, task } from '../agents/kit.js';
import { ensureBuilt } from '../cli/run-cli.js';
import { PATH_ENV, scratch } from '../engine/kit.js';

const define = (fields: object): { A: AgentDefinition } => ({ A: { description: 'd', prompt: 'p', ...fields } });
const CARRIERS = ['in-process', 'subprocess'] as const;

/** The agent touches a file and says a word. */
async function run(agents: Options['agents'], { carrier, ...rest }: Options & { carrier: (typeof CARRIERS)[number] }) {
  const api = await startFakeApi([
    { toolUse: task('t1', { subagent_type: 'A' }) },
    { toolUse: { name: 'Bash', id: 'b1', input: { command: 'touch made' } } },
    'Woven.',
    'Done.',
  ]);
  onTestFinished(() => api.close());
  const cwd = scratch();
  const env = { ...PATH_ENV, HOME: cwd, ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: api.url };
  const options = { cwd, env, heddle: { carrier }, allowedTools: ['Bash'], ...rest, ...(agents && { agents }) };
  const messages: Message[] = [];
  for await (const message of query({ prompt: 'go', options })) messages.push(message);
  return { messages, isMade: existsSync(join(cwd, 'made')) };
}

describe('hooks of agents of the caller', () => {
  beforeAll(ensureBuilt, 120_000);
  const command = { type: 'command', command: 'echo never >&2; exit 2' };

  it.each(CARRIERS)('commands run, over %s', async (carrier) => {
    const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [command] }] };
    const { messages, isMade } = await run(define({ hooks }), { carrier });
    expect(isMade).toBe(false);
    expect(JSON.stringify(messages)).toContain('never');
  });

  it.each<[string, unknown, RegExp]>([
    [
      'a callback',
      { PreToolUse: [{ hooks: [async () => ({})] }] },
      /agents\.A\.hooks\.PreToolUse\[0\]\.hooks\[0\] is a callback/,
    ],
    [
      'a callback among others',
      { Stop: [{ hooks: [command, () => ({})] }] },
      /hooks\.Stop\[0\]\.hooks\[1\] is a callback/,
    ],
    ['a callback in place of a list', { Stop: () => ({}) }, /hooks\.Stop is a callback/],
    ['an event that is not known', { BeforeTool: [{ hooks: [command] }] }, /BeforeTool/],
    ['a command that is missing', { PreToolUse: [{ hooks: [{ type: 'command' }] }] }, /hooks\.PreToolUse.*command/],
    ['a kind that is not there', { PreToolUse: [{ hooks: [{ type: 'agent', prompt: 'x' }] }] }, /hooks\.PreToolUse/],
    ['a key that is not known', { PreToolUse: [{ hooks: [{ ...command, tiemout: 3 }] }] }, /tiemout/],
    ['no list', { PreToolUse: 'x' }, /hooks\.PreToolUse/],
  ])('%s is refused, and nothing begins', async (_, hooks, text) => {
    await expect(run(define({ hooks }), { carrier: 'in-process' }).then(() => 'ran')).rejects.toMatchObject({
      code: 'invalid_config',
      message: expect.stringMatching(text),
    });
  });
});

describe('forwardSubagentText', () => {
  beforeAll(ensureBuilt, 120_000);

  it.each(CARRIERS)('is an option: what agents say is given, over %s', async (carrier) => {
    const said = async (options: Options) =>
      (await run(define({}), { carrier, ...options })).messages.filter(
        (message) =>
          message.type === 'assistant' &&
          message.parent_tool_use_id === 't1' &&
          JSON.stringify(message.message.content).includes('Woven.'),
      );
    expect(await said({ forwardSubagentText: true })).toHaveLength(1);
    expect(await said({})).toHaveLength(0);
  });

  it('must be true or false', async () => {
    const options = { forwardSubagentText: 'yes' } as unknown as Options;
    await expect(run(define({}), { carrier: 'in-process', ...options })).rejects.toMatchObject({
      code: 'invalid_config',
    });
  });
});

describe('an agent in the background asks through the callback of the caller', () => {
  beforeAll(ensureBuilt, 120_000);

  it.each(CARRIERS.flatMap((carrier) => (['allow', 'late'] as const).map((answer) => [carrier, answer] as const)))(
    'C4, over %s: %s',
    async (carrier, answer) => {
      const answers = routed(5, (_, said) => {
        if (said.includes('task-notification')) return 'I see.';
        if (said.includes('"t1"')) return 'It works.';
        return said.includes('"b1"')
          ? 'Woven.'
          : { toolUse: { name: 'Bash', id: 'b1', input: { command: 'touch made' } } };
      });
      const api = await startFakeApi([
        { toolUse: task('t1', { run_in_background: true, prompt: 'Do inner' }) },
        ...(answers as Parameters<typeof startFakeApi>[0]),
      ]);
      onTestFinished(() => api.close());
      const cwd = scratch();
      const env = {
        ...PATH_ENV,
        HOME: cwd,
        HEDDLE_CONFIG_DIR: join(cwd, '.config'),
        ANTHROPIC_API_KEY: 'key',
        ANTHROPIC_BASE_URL: api.url,
      };
      const messages: Message[] = [];
      const asked: object[] = [];
      const options: Options = {
        cwd,
        env,
        heddle: { carrier },
        ...(answer === 'late' && { maxQuestionSeconds: 0.2 }),
        canUseTool: async (_, __, { agentID, parentToolUseID, toolUseID }) => {
          const shown = messages.filter((message) => JSON.stringify(message).includes('"id":"b1"')).length;
          asked.push({ agentID, parentToolUseID, toolUseID, shown });
          return answer === 'allow' ? { behavior: 'allow' } : new Promise(() => {});
        },
      };
      for await (const message of query({ prompt: 'go', options })) messages.push(message);
      expect(asked).toEqual([
        { agentID: expect.stringMatching(/^a/), parentToolUseID: 't1', toolUseID: 'b1', shown: 1 },
      ]);
      expect(existsSync(join(cwd, 'made'))).toBe(answer === 'allow');
      const denials = messages.flatMap((message) => (message.type === 'result' ? message.permission_denials : []));
      expect(denials.map(({ tool_use_id }) => tool_use_id)).toEqual(answer === 'allow' ? [] : ['b1']);
      const told = messages.filter((message) => message.type === 'system' && message.subtype === 'permission_denied');
      expect(told).toHaveLength(answer === 'allow' ? 0 : 1);
    },
  );
});
