/** Hooks in a whole session: what comes late, what has no moment of its own, and what is wrong in settings. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createEngine, createMemoryStore, serveHost, systemClock } from '../../src/engine/index.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import { createHookBridge, type Hooks } from '../../src/sdk/hook-bridge.js';
import { createMemoryPair, Peer } from '../../src/wire/index.js';
import { PATH_ENV, scratch, user } from '../engine/kit.js';
import { bash, BYPASS, createStage, notices, person, type Stage } from '../guard/stage.js';
import { USER } from '../settings/place.js';

const says = (answer: object): string => `echo '${JSON.stringify(answer)}'`;
const adds = (event: string, additionalContext: string): string =>
  says({ hookSpecificOutput: { hookEventName: event, additionalContext } });
const on = (event: string, ...hooks: object[]) => ({ hooks: { [event]: [{ hooks }] } });
const command = (line: string, more: object = {}) => ({ type: 'command', command: line, ...more });

/** A hook that reads from it goes on when someone writes. */
function makePipe(stage: Stage): string {
  const path = stage.path('home/shop/over');
  execFileSync('mkfifo', [path]);
  return path;
}

const sent = (run: { model: { requests: readonly { body: { messages: unknown } }[] } }, at: number): string =>
  JSON.stringify(run.model.requests[at]?.body.messages);

describe('a hook that nobody waits for', () => {
  it.each([
    ['declared so', { async: true }, ''],
    ['that says so itself', {}, `echo '{"async":true,"asyncTimeout":30000}'; `],
  ])('%s: its context is told with the next prompt', async (_, more, first) => {
    const stage = createStage();
    const over = makePipe(stage);
    const late = says({
      systemMessage: 'tests are over',
      hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: '42 tests pass' },
    });
    stage.write(USER, on('PostToolUse', command(`${first}read -r _ < over; ${late}`, more)));
    const run = await stage.open([bash('echo hi'), 'one', 'two'], { config: BYPASS });
    await run.ask('go');
    await writeFile(over, '\n');
    await run.seen((message) => message.type === 'system' && message.subtype === 'informational');
    await run.ask('on');
    expect(sent(run, 1)).not.toContain('42 tests pass');
    expect(sent(run, 2)).toContain('PostToolUse:Bash hook, running in the background, has finished: 42 tests pass');
    expect(run.model.requests).toHaveLength(3);
  });

  it('and that objects wakes the model where it was declared to', async () => {
    const stage = createStage();
    const over = makePipe(stage);
    const rest = { asyncRewake: true, rewakeMessage: 'A review of the change found:', rewakeSummary: 'Review is back' };
    stage.write(USER, on('Stop', command('read -r _ < over || exit; echo a hole >&2; exit 2', rest)));
    const run = await stage.open(['one', 'two'], { config: BYPASS });
    await run.ask('go');
    const woken = run.nextResult();
    await writeFile(over, '\n');
    expect(await woken).toMatchObject({ result: 'two', origin: { kind: 'task-notification' } });
    expect(sent(run, 1)).toContain('A review of the change found:\\na hole');
    expect(notices(run.messages)).toEqual(['Stop says: Review is back']);
  });
});

describe('context of an event without a moment of its own', () => {
  it('Stop: with the next prompt, or beside the reason to go on', async () => {
    const stage = createStage();
    stage.write(USER, on('Stop', command(adds('Stop', 'mind the gap'))));
    const run = await stage.open(['one', 'two']);
    await run.ask('go');
    await run.ask('on');
    expect(sent(run, 1)).toContain('Stop hook additional context: mind the gap');

    const block = {
      decision: 'block',
      reason: 'go on',
      hookSpecificOutput: { hookEventName: 'Stop', additionalContext: 'why' },
    };
    stage.write(USER, on('Stop', command(`grep -q '"stop_hook_active":true' || ${says(block)}`)));
    const kept = await stage.open(['one', 'two']);
    expect(await kept.ask('go')).toMatchObject({ result: 'two' });
    expect(sent(kept, 1)).toMatch(/Stop hook feedback:.*go on.*Stop hook additional context: why/);
  });

  it('Notification: with the next prompt', async () => {
    const stage = createStage();
    stage.write(USER, on('Notification', command(adds('Notification', 'someone was asked'))));
    const { ask } = person(() => ({ behavior: 'allow' }));
    const run = await stage.open([bash('touch made'), 'one', 'two'], { ask, config: { includeHookEvents: true } });
    await run.ask('go');
    await run.seen((message) => message.type === 'system' && message.subtype === 'hook_response');
    await run.ask('on');
    expect(sent(run, 2)).toContain('Notification:permission_prompt hook additional context: someone was asked');
  });
});

it('keys in the command of a hook are told to nobody', async () => {
  const stage = createStage();
  stage.write(USER, on('PreToolUse', command('API_TOKEN=hunter2 true --password hunter3; echo no >&2; exit 2')));
  const run = await stage.open([bash('echo hi'), 'one'], { config: BYPASS });
  await run.ask('go');
  expect(sent(run, 1)).toContain(
    'PreToolUse:Bash hook error: [API_TOKEN=*** true --password ***; echo no >&2; exit 2]: no',
  );
  expect(JSON.stringify(run.messages)).not.toContain('hunter');
});

describe('D3: what settings say of hooks and cannot have is told with its file and line', () => {
  /** What is told about one hook that stands in line 5 of the file, its matcher in line 4. */
  async function told(hook: object, { event = 'PreToolUse', matcher = 'Bash' } = {}): Promise<string[]> {
    const stage = createStage();
    const lines = [
      '{',
      ' "hooks": {',
      `  ${JSON.stringify(event)}: [`,
      `   {"matcher": ${JSON.stringify(matcher)}, "hooks": [`,
    ];
    stage.write(USER, [...lines, JSON.stringify(hook), '   ]}', '  ]', ' }', '}'].join('\n'));
    const run = await stage.open([bash('echo hi'), 'ok'], { config: BYPASS });
    await run.ask('go');
    return notices(run.messages).map((text) => text.replaceAll(`${stage.root}/`, ''));
  }
  const at = (line: number, text: string) =>
    expect.stringMatching(
      new RegExp(`^home/\\.claude/settings\\.json:${line}:\\d+: hooks\\.\\w+\\[0\\]\\S* .*${text}`),
    );

  it.each([
    [{ type: 'agent', prompt: 'look' }, 'hooks of type agent are not supported yet. It counts as a hook that failed'],
    [
      { type: 'mcp_tool', tool: 't' },
      'a hook of type mcp_tool needs `server` and `tool`. It counts as a hook that failed',
    ],
    [
      { type: 'http', url: 'http://127.0.0.1:9/', onFailure: 'allow', async: true },
      '`async` means nothing to a hook of type http',
    ],
    [command('true', { rewakeMessage: 'x' }), '`rewakeMessage` means nothing without `asyncRewake`'],
    [command('true', { rewakeSummary: 'x', async: true }), '`rewakeSummary` means nothing without `asyncRewake`'],
  ])('%j', async (hook, text) => {
    expect(await told(hook)).toContainEqual(at(5, text));
  });

  it('where nothing is guarded, a hook that cannot be used does nothing', async () => {
    expect(await told({ type: 'agent', prompt: 'x' }, { event: 'PostToolUse' })).toEqual([at(5, 'It does nothing')]);
  });

  it('a rule where there is no tool call', async () => {
    expect(await told(command('true', { if: 'Bash' }), { event: 'Stop' })).toEqual([at(5, 'Stop has none')]);
  });

  it('a rule that cannot be used', async () => {
    expect(await told(command('true', { if: 'Bash(' }))).toContainEqual(at(5, 'its bracket is not closed'));
    expect(await told(command('true', { if: 'Edit(' }), { event: 'PostToolUse' })).toContainEqual(
      at(5, 'its bracket is not closed'),
    );
  });

  it('a matcher that cannot be used', async () => {
    expect(await told(command('true'), { matcher: 'Bash(rm:*)' })).toEqual([at(4, 'The hook runs for everything')]);
  });

  it('nothing is told of what is as it must be', async () => {
    const hook = { async: true, asyncRewake: true, rewakeMessage: 'a', rewakeSummary: 'b', statusMessage: 'c' };
    expect(await told(command('true', hook))).toEqual([]);
  });
});

describe('ConfigChange', () => {
  it('tells the file of --settings from policy', async () => {
    const stage = createStage();
    const file = stage.path('mine.json');
    writeFileSync(file, JSON.stringify(on('ConfigChange', command('cat > seen'))));
    const run = await stage.open(['one', 'two'], { config: { settings: file } });
    await run.ask('go');
    writeFileSync(file, JSON.stringify({ ...on('ConfigChange', command('cat > seen')), model: 'opus' }));
    await run.ask('on');
    expect(JSON.parse(stage.text('home/shop/seen'))).toMatchObject({ source: 'flag_settings', file_path: file });
  });
});

it('initialize brings callbacks to a session that is open, in the place of those it had', async () => {
  const [near, far] = createMemoryPair();
  const model = createScriptedModel(['one', 'two', 'three']);
  const engine = createEngine({ clock: systemClock, store: createMemoryStore(), provider: model });
  const cwd = scratch();
  const code = serveHost({ engine, channel: far, config: { cwd, env: PATH_ENV, configDir: cwd } });
  const peer: Peer<'host'> = new Peer(near, { side: 'host', clock: systemClock });
  const asked: string[] = [];
  peer.handle('hook_callback', ({ callback_id }) => {
    asked.push(callback_id);
    return {};
  });
  const turn = async (): Promise<void> => {
    peer.send(user('go'));
    for (;;) if ((await peer.messages.next()).value?.type === 'result') return;
  };
  const onStop = (id: string) => ({ hooks: { Stop: [{ hookCallbackIds: [id] }] } });
  await turn();
  await peer.request('initialize', onStop('first'));
  await turn();
  await peer.request('initialize', onStop('second'));
  await turn();
  expect(asked).toEqual(['first', 'second']);
  peer.close();
  await code;
});

describe('hooks in options', () => {
  const hook = async () => ({});

  it('carry onFailure', () => {
    expect(createHookBridge({ Stop: [{ hooks: [hook], onFailure: 'deny' }] }).config).toEqual({
      Stop: [{ hookCallbackIds: ['hook_0'], onFailure: 'deny' }],
    });
  });

  it.each([
    [[], 'hooks must be a table of events'],
    [{ Stop: hook }, 'hooks.Stop must be a list'],
    [{ Stop: [hook] }, 'hooks.Stop[0] must be { matcher?, hooks }'],
    [{ Stop: [{ hooks: hook }] }, 'hooks.Stop[0].hooks must be a list of functions'],
    [{ Stop: [{ hooks: ['ls'] }] }, 'hooks.Stop[0].hooks must be a list of functions'],
    [{ Stop: [{ hooks: [hook], matcher: /a/ }] }, 'hooks.Stop[0].matcher must be a string'],
    [{ Stop: [{ hooks: [hook], timeout: '5' }] }, 'hooks.Stop[0].timeout must be a number of seconds'],
    [{ Stop: [{ hooks: [hook], onFailure: 'shrug' }] }, 'hooks.Stop[0].onFailure must be allow, ask or deny'],
  ])('that are none are refused with their place: %j', (hooks, text) => {
    expect(() => createHookBridge(hooks as Hooks)).toThrow(text);
  });
});
