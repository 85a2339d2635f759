/** What hooks bring about, or cannot, is seen by whoever reads the stream. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HookOutput, Tool } from '../../src/protocol/index.js';
import { resultText } from '../engine/kit.js';
import { bash, BYPASS, call, createStage, notices } from '../guard/stage.js';
import { USER } from '../settings/place.js';

const says = (answer: HookOutput) => ({ type: 'command', command: `cat <<'EOF'\n${JSON.stringify(answer)}\nEOF` });
const on = (event: string, ...hooks: object[]) => ({ hooks: { [event]: [{ hooks }] } });

describe('continue: false', () => {
  it.each([
    ['PostToolUse', 'PostToolUse:Bash hook ended the turn: enough'],
    ['PostToolBatch', 'PostToolBatch hook ended the turn: enough'],
    ['PreToolUse', 'PreToolUse:Bash hook ended the turn: enough'],
    ['Stop', 'Stop hook ended the turn: enough'],
  ])('of %s ends the turn, and its reason is in the stream', async (event, text) => {
    const stage = createStage();
    stage.write(USER, on(event, says({ continue: false, stopReason: 'enough' })));
    const run = await stage.open(event === 'Stop' ? ['done'] : [bash('echo hi')], { config: BYPASS });
    expect(await run.ask('go')).toMatchObject({ subtype: 'success', is_error: false });
    expect(notices(run.messages)).toEqual([text]);
  });

  it.each(['PreToolUse', 'PostToolUse'])('of %s for one call: no later call of the answer is run', async (event) => {
    const stage = createStage();
    const hook = says({ continue: false, stopReason: 'enough' });
    stage.write(USER, { hooks: { [event]: [{ hooks: [{ ...hook, if: 'Bash(touch one)' }] }] } });
    const calls = ['one', 'two'].map((name) => bash(`touch ${name}`, name).toolUse);
    const run = await stage.open([{ toolUse: calls }], { config: BYPASS });
    expect(await run.ask('go')).toMatchObject({ terminal_reason: 'hook_stopped' });
    expect(stage.exists('home/shop/two')).toBe(false);
    expect(resultText(run.messages, 'two')).toContain('This call was not run');
  });

  it('leaves a call that runs by then to its end', async () => {
    const stage = createStage();
    stage.write(USER, { hooks: { PostToolUse: [{ matcher: 'Read', hooks: [says({ continue: false })] }] } });
    stage.write('home/shop/a', 'A');
    const wait: Tool = {
      name: 'Wait',
      description: 'Waits until the other call is over.',
      inputSchema: { type: 'object' },
      isReadOnly: () => true,
      async run(_, { signal }) {
        await run.seen((message) => message.type === 'user' && JSON.stringify(message).includes('"read"'));
        return { content: `stopped: ${signal.aborted}` };
      },
    };
    const calls = [call('Read', { file_path: 'a' }, 'read').toolUse, call('Wait', {}, 'wait').toolUse];
    const run = await stage.open([{ toolUse: calls }], { config: BYPASS, tools: [wait] });
    expect(await run.ask('go')).toMatchObject({ terminal_reason: 'hook_stopped' });
    expect(resultText(run.messages, 'wait')).toBe('stopped: false');
  });

  it.each(['SessionStart', 'Setup', 'UserPromptSubmit'])(
    'of %s: the prompt does not go to the model',
    async (event) => {
      const stage = createStage();
      stage.write(USER, on(event, says({ continue: false, stopReason: 'not today' })));
      const run = await stage.open([], { config: { setup: 'init' } });
      const result = await run.ask('Tidy up.');
      expect(result).toMatchObject({ subtype: 'success', num_turns: 0, terminal_reason: 'hook_stopped' });
      expect((result as { result: string }).result).toBe(
        `${event} operation blocked by hook:\nnot today\n\nOriginal prompt: Tidy up.`,
      );
      expect(notices(run.messages)).toEqual([expect.stringMatching(/hook ended the turn: not today$/)]);
    },
  );

  it('where nothing can be ended is a warning', async () => {
    const stage = createStage();
    stage.write(USER, on('PermissionDenied', says({ continue: false, stopReason: 'enough' })));
    const run = await stage.open([bash('touch made'), 'ok']);
    expect(await run.ask('go')).toMatchObject({ result: 'ok' });
    expect(notices(run.messages)).toEqual([expect.stringContaining('PermissionDenied cannot end the turn: enough')]);
  });
});

it('Stop hooks that are overruled are told so, with what they wanted', async () => {
  const stage = createStage();
  stage.write(USER, on('Stop', says({ decision: 'block', reason: 'never' })));
  const run = await stage.open(Array.from({ length: 11 }, () => 'again'));
  expect(await run.ask('go')).toMatchObject({ subtype: 'success', num_turns: 11 });
  expect(notices(run.messages)).toEqual([
    'Stop hooks have kept the turn going 10 times, so it ends now although they object: never',
  ]);
});

it('updatedMCPToolOutput for a tool of no MCP server is a warning', async () => {
  const stage = createStage();
  const hookSpecificOutput = { hookEventName: 'PostToolUse' as const, updatedMCPToolOutput: 'replaced' };
  stage.write(USER, on('PostToolUse', says({ hookSpecificOutput })));
  const run = await stage.open([bash('echo hi'), 'ok'], { config: BYPASS });
  await run.ask('go');
  expect(JSON.stringify(run.model.requests[1]?.body.messages)).not.toContain('replaced');
  expect(notices(run.messages)).toEqual([
    expect.stringContaining('PostToolUse:Bash hook: updatedMCPToolOutput is for tools of MCP servers'),
  ]);
});

describe('addresses', () => {
  let server: Server;
  let redirecting: string;
  beforeEach(async () => {
    server = createServer((_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    redirecting = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  const stop = (): Promise<unknown> => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  afterEach(stop);

  async function tell(address: string): Promise<string[]> {
    const stage = createStage();
    stage.write(USER, on('Stop', { type: 'http', url: address, onFailure: 'allow' }));
    const run = await stage.open(['ok']);
    await run.ask('go');
    return notices(run.messages);
  }

  it('that lead elsewhere are not followed, and that is said', async () => {
    expect(await tell(redirecting)).toEqual([
      expect.stringContaining('it answered with a redirect (302), which is not followed'),
    ]);
  });

  it('that cannot be reached: why not', async () => {
    await stop();
    expect(await tell(redirecting)).toEqual([expect.stringMatching(/fetch failed: .*ECONNREFUSED/)]);
  });

  it.each(['file:///etc/passwd', 'ftp://127.0.0.1/', 'data:application/json,{}'])('%s is none', async (address) => {
    expect(await tell(address)).toEqual([expect.stringContaining('an address that begins with http:// or https://')]);
  });
});
