/** Several messages, interrupts, and changes while a query runs. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Message, UserMessage } from '../../../src/protocol/index.js';
import { createSdkMcpServer, tool } from '../../../src/sdk/index.js';
import { describeThrown } from '../record.js';
import type { Scenario } from '../scenario.js';
import { isAlive, say, type Stage, until } from '../stage.js';
import { bash, call } from './answers.js';

const NEVER = new Promise<never>(() => {});

const isDelta = (message: Message): boolean =>
  message.type === 'stream_event' && message.event.type === 'content_block_delta';

/** A message, and what must have happened before the next one. */
async function* spaced(...steps: (UserMessage | Promise<unknown>)[]): AsyncGenerator<UserMessage, void> {
  for (const step of steps) {
    if (step instanceof Promise) await step;
    else yield step;
  }
}

export const STEERING: Scenario[] = [
  {
    number: '07',
    name: 'an interrupt in the middle of an answer, then the next message',
    script: () => [{ text: 'one two', deltas: 2, waitFor: NEVER, pauseAfterDeltas: 1 }, 'Next.'],
    async drive(stage) {
      const over = Promise.withResolvers<void>();
      const prompt = spaced(say('Count'), over.promise, say('Go on'));
      await stage.run(prompt, { includePartialMessages: true }, async (message, run) => {
        if (isDelta(message) && stage.api.requests.length === 1) await run.interrupt();
        if (message.type === 'result') over.resolve();
      });
    },
    expected: `
      system/init
      stream message_start
      stream content_block_start
      stream content_block_delta
      assistant "one " (aborted)
      user "[Request interrupted by user]"
      result error_during_execution turns=2
      system/init
      stream message_start
      stream content_block_start
      stream content_block_delta
      assistant "Next."
      stream content_block_stop
      stream message_delta
      stream message_stop
      result success turns=1`,
  },
  {
    number: '08',
    name: 'an interrupt in the middle of a tool',
    script: () => [bash('echo $$ > pid; exec sleep 60'), 'After.'],
    async drive(stage) {
      const file = join(stage.cwd, 'pid');
      const over = Promise.withResolvers<void>();
      const prompt = spaced(say('Wait'), over.promise, say('Go on'));
      const canUseTool = async () => ({ behavior: 'allow' as const });
      let pid = 0;
      await stage.run(prompt, { canUseTool }, async (message, run) => {
        if (message.type === 'result') over.resolve();
        if (message.type !== 'assistant' || pid !== 0) return;
        await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
        pid = Number(readFileSync(file, 'utf8'));
        await run.interrupt();
      });
      await until(() => pid > 0 && !isAlive(pid));
      stage.note('the process of the tool is gone');
    },
    expected: `
      system/init
      assistant Bash({"command":"echo $$ > pid; exec sleep 60"})
      user error toolu_1 "The command was interrupted before it finished."
      user "[Request interrupted by user for tool use]"
      result error_during_execution turns=3
      system/init
      assistant "After."
      result success turns=1

      * the process of the tool is gone`,
  },
  {
    number: '09',
    name: 'messages that come during a turn wait for theirs',
    script: (released) => [{ text: 'One.', waitFor: released }, 'Two.', 'Three.'],
    drive: queueThree,
    expected: `
      command_lifecycle
      command_lifecycle
      system/init
      command_lifecycle
      command_lifecycle
      assistant "One."
      result success turns=1
      command_lifecycle
      command_lifecycle
      system/init
      assistant "Two."
      result success turns=1
      command_lifecycle
      command_lifecycle
      system/init
      assistant "Three."
      result success turns=1
      command_lifecycle

      * queued 1, started 1, queued 2, queued 3, completed 1, started 2, completed 2, started 3, completed 3`,
  },
  {
    number: '13',
    name: 'tools of an SDK MCP server',
    script: () => [
      call('mcp__calc__add', { a: 2, b: 3 }),
      call('mcp__calc__add', { a: 'two' }),
      call('mcp__calc__fail', {}),
      call('mcp__calc__late', {}),
      'Done.',
    ],
    async drive(stage) {
      const calc = createSdkMcpServer({
        name: 'calc',
        version: '1.0.0',
        tools: [
          tool('add', 'Adds two numbers', { a: z.number(), b: z.number() }, async ({ a, b }) => ({
            content: [{ type: 'text', text: `the sum is ${a + b}` }],
          })),
          tool('fail', 'Fails', {}, async () => {
            throw new Error('out of wool');
          }),
          tool('late', 'Answers a moment later', {}, async () => {
            await new Promise((resolve) => setImmediate(resolve));
            return { content: [{ type: 'text', text: 'late' }], isError: true };
          }),
        ],
      });
      const asked: string[] = [];
      const options = {
        mcpServers: { calc },
        allowedTools: ['mcp__calc__fail'],
        canUseTool: async (name: string) => {
          asked.push(name);
          return { behavior: 'allow' as const };
        },
      };
      await stage.run('Add', options, async (message, run) => {
        if (message.type !== 'system') return;
        for (const { name, status, tools = [] } of await run.mcpServerStatus()) {
          stage.note(`${name} is ${status}, with ${tools.map((each) => each.name).join(', ')}`);
        }
      });
      stage.note(`asked about ${asked.join(', ')}`);
    },
    expected: `
      system/init
      assistant mcp__calc__add({"a":2,"b":3})
      user ok toolu_1 "the sum is 5"
      assistant mcp__calc__add({"a":"two"})
      user error toolu_2 "MCP error -32602: Input validation error: Invalid arguments for tool add: a: Invalid input: expected number, received string; b: Invalid input: expected number, received undefined"
      assistant mcp__calc__fail({})
      user error toolu_3 "out of wool"
      assistant mcp__calc__late({})
      user error toolu_4 "late"
      assistant "Done."
      result success turns=5

      * calc is connected, with add, fail, late
      * asked about mcp__calc__add, mcp__calc__add, mcp__calc__late`,
  },
  {
    number: '14',
    name: 'model, mode and thinking change between turns',
    script: () => ['One.', call('Write', { file_path: 'made.txt', content: 'x' }), 'Two.', 'Three.'],
    drive: changeBetweenTurns,
    expected: `
      system/init
      assistant "One."
      result success turns=1
      system/status
      system/init
      assistant Write({"file_path":"made.txt","content":"x"})
      user ok toolu_1 "File created successfully at: <cwd>/made.txt"
      assistant "Two."
      result success turns=2
      system/init
      assistant "Three."
      result success turns=1

      * mode default, model claude-sonnet-4-5-20250929
      * request_failed: Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions
      * request_failed: Cannot set permission mode: must be one of default, acceptEdits, bypassPermissions, plan, delegate, dontAsk
      * invalid_config: max_thinking_tokens must be 0 or more, or null.
      * mode acceptEdits, model claude-haiku-4-5-20251001
      * mode acceptEdits, model claude-sonnet-4-5-20250929
      * claude-sonnet-4-5-20250929, thinking undefined
      * claude-haiku-4-5-20251001, thinking {"type":"enabled","budget_tokens":4000}
      * claude-haiku-4-5-20251001, thinking {"type":"enabled","budget_tokens":4000}
      * claude-sonnet-4-5-20250929, thinking undefined`,
  },
];

async function queueThree(stage: Stage, release: () => void): Promise<void> {
  const ids = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
  const seen = new Map<string, () => void>();
  const told = (what: string) => new Promise<void>((resolve) => seen.set(what, resolve));
  const life: string[] = [];
  const prompt = spaced(
    say('1', { uuid: ids[0] }),
    Promise.all([told('init'), stage.api.received(1)]),
    say('2', { uuid: ids[1] }),
    told(`queued ${ids[1]}`),
    say('3', { uuid: ids[2] }),
    told(`queued ${ids[2]}`).then(release),
  );
  await stage.run(prompt, {}, (message) => {
    if (message.type === 'system') seen.get(message.subtype)?.();
    if (message.type !== 'command_lifecycle') return;
    life.push(`${message.state} ${ids.indexOf(message.command_uuid) + 1}`);
    seen.get(`${message.state} ${message.command_uuid}`)?.();
  });
  stage.note(life.join(', '));
}

async function changeBetweenTurns(stage: Stage): Promise<void> {
  const turns = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const prompt = spaced(
    say('1'),
    turns[0]?.promise ?? Promise.resolve(),
    say('2'),
    turns[1]?.promise ?? Promise.resolve(),
    say('3'),
  );
  let results = 0;
  await stage.run(prompt, { model: 'sonnet' }, async (message, run) => {
    if (message.type === 'system' && message.subtype === 'init') {
      stage.note(`mode ${message.permissionMode}, model ${message.model}`);
    }
    if (message.type !== 'result') return;
    results += 1;
    if (results === 1) {
      await run.setModel('haiku');
      await run.setPermissionMode('acceptEdits');
      await run.setMaxThinkingTokens(4_000);
      await run.setPermissionMode('bypassPermissions').catch((thrown: unknown) => stage.note(describeThrown(thrown)));
      await run.setPermissionMode('nonsense' as never).catch((thrown: unknown) => stage.note(describeThrown(thrown)));
      await run.setMaxThinkingTokens(-1).catch((thrown: unknown) => stage.note(describeThrown(thrown)));
    }
    if (results === 2) {
      await run.setModel();
      await run.setMaxThinkingTokens(null);
    }
    turns[results - 1]?.resolve();
  });
  for (const { body } of stage.api.requests) stage.note(`${body.model}, thinking ${JSON.stringify(body.thinking)}`);
}
