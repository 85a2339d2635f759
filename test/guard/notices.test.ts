/** What settings files give to tell, as a consumer sees it. */
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createPrinter } from '../../src/cli/printer.js';
import type { Message } from '../../src/protocol/index.js';
import type { Run } from '../engine/kit.js';
import { LOCAL, MANAGED, PROJECT, USER } from '../settings/place.js';
import { bash, createStage, type Stage } from './stage.js';

const FAULTY = `{
  "colour": "blue",
  "cleanupPeriodDays": "often",
  "permissions": {
    "allow": ["Bash(npm test)", "WebFetch(https://example.com)"]
  }
}`;

/** Level and text of what is told about settings, paths relative to the scratch folder. */
const told = ({ root }: Stage, messages: readonly Message[]): string[] =>
  messages.flatMap((message) =>
    message.type === 'system' && message.subtype === 'informational' && message.tag === 'settings'
      ? [`${message.level} ${message.content.replaceAll(`${root}/`, '')}`]
      : [],
  );

const FOUND = [
  expect.stringMatching(/^warning home\/\.claude\/settings\.json:2:3: colour: this key is not known/),
  expect.stringMatching(/^error home\/\.claude\/settings\.json:3:\d+: cleanupPeriodDays: /),
  expect.stringMatching(/^warning home\/\.claude\/settings\.json:5:33: permissions\.allow\[1\]: /),
];

/** Two turns; between them, and before the second call of the first one, something happens. */
async function play(stage: Stage, { during = () => {}, between = () => {} }): Promise<Run> {
  const run = await stage.open([
    bash('echo 1'),
    () => {
      during();
      return bash('echo 2', 't2');
    },
    'one',
    'two',
  ]);
  await run.ask('go');
  between();
  await run.ask('on');
  return run;
}

describe('D3: problems of settings files', () => {
  it('are told behind init, with file and line, and once', async () => {
    const stage = createStage();
    stage.write(USER, FAULTY);
    const run = await play(stage, {});
    expect(told(stage, run.messages)).toEqual(FOUND);
    expect(run.messages.slice(0, 5).map(({ type }) => type)).toEqual([
      'system',
      'system',
      'system',
      'system',
      'assistant',
    ]);
    expect(run.messages[0]).toMatchObject({ subtype: 'init' });
  });

  it('nothing is told of files that are right', async () => {
    const stage = createStage();
    stage.write(USER, { model: 'opus', permissions: { deny: ['Read(./.env)'] } });
    expect(told(stage, (await play(stage, {})).messages)).toEqual([]);
  });

  it.each([
    ['user', USER],
    ['project', PROJECT],
    ['local', LOCAL],
    ['managed', MANAGED],
  ])(
    'a %s file that breaks while a session runs is told at the next call, and told again once mended',
    async (_, file) => {
      const stage = createStage();
      stage.write(file, { permissions: { deny: ['Bash(curl:*)'] } });
      const run = await play(stage, {
        during: () => stage.write(file, '{\n  "permissions": {'),
        between: () => stage.write(file, { permissions: { deny: ['Bash(wget:*)'] } }),
      });
      expect(told(stage, run.messages)).toEqual([
        expect.stringMatching(
          new RegExp(`^error ${file}:2:\\d+: .*Until it is mended, the file counts as it last was$`),
        ),
        `notice ${file} is mended, and counts as it is now`,
      ]);
      const broke = run.messages.findIndex((message) => told(stage, [message]).length > 0);
      const result = run.messages.findIndex(({ type }) => type === 'result');
      expect(broke).toBeLessThan(result);
    },
  );

  it('a problem that comes and goes is told both times; one that only moves is not', async () => {
    const stage = createStage();
    stage.write(USER, '{ "colour": 1 }');
    const run = await play(stage, {
      during: () => stage.write(USER, '{\n\n "colour": 1, "shape": 2 }'),
      between: () => stage.write(USER, '{}'),
    });
    expect(told(stage, run.messages)).toEqual([
      expect.stringContaining('settings.json:1:3: colour'),
      expect.stringContaining('settings.json:3:15: shape'),
      'notice home/.claude/settings.json has no problems any more',
    ]);
  });

  it('of a file that is wrong from end to end the first are told, and how many there are', async () => {
    const stage = createStage();
    stage.write(USER, Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`unknownKey${at}`, at])));
    const all = told(stage, (await play(stage, {})).messages);
    expect(all).toHaveLength(21);
    expect(all.at(-1)).toMatch(/30 more problems/);
  });

  it('so is what waits for trust, by one notice', async () => {
    const stage = createStage();
    stage.write(PROJECT, { permissions: { allow: ['Bash(npm test)'] }, env: { A: '1' } });
    const run = await stage.open(['one', 'two'], { config: { trusted: false } });
    await run.ask('go');
    await run.ask('on');
    expect(told(stage, run.messages)).toEqual([
      'notice home/shop is not trusted: permissions.allow, env of its settings wait until it is. To trust it: heddle trust',
    ]);
  });

  it('text and JSON for a person have them on stderr', async () => {
    for (const format of ['text', 'json'] as const) {
      const stage = createStage();
      stage.write(USER, '{ "colour": "\\u001b[2J" }');
      const run = await stage.open(['fine']);
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const view = { colour: false, words: true, cwd: stage.project };
      const printer = await createPrinter({ format, verbose: false, stdout, stderr, isTerminal: false, view });
      run.session.attach(printer);
      await run.ask('go');
      await printer.end();
      expect(String(stderr.read())).toMatch(/^heddle: \S+settings\.json:1:3: colour: this key is not known.*\n$/);
      expect(String(stdout.read())).not.toContain('colour');
    }
  });
});
