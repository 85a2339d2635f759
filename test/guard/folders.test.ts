/** Folders beside the working directory, opened and closed while a session runs. */
import { symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { SessionConfig } from '../../src/protocol/index.js';
import { LOCAL, MANAGED, PROJECT, USER } from '../settings/place.js';
import { call, createStage, person, type Stage } from './stage.js';

function createBooks(): Stage {
  const stage = createStage();
  for (const name of ['one', 'two']) stage.write(`books/${name}/a.txt`, `text of ${name}`);
  return stage;
}

const opens = (...additionalDirectories: string[]) => ({ permissions: { additionalDirectories } });

type Step = { read: 'one' | 'two' } | (() => void);

/** The reads that were asked about, and the folders that the last init names. `answer` is what the first of them carries. */
async function play(
  stage: Stage,
  steps: readonly Step[],
  { config = {}, answer = [] }: { config?: Partial<SessionConfig>; answer?: object[] } = {},
) {
  const { ask, ids, asked } = person(() =>
    asked.length === 1 && answer.length > 0
      ? { behavior: 'allow', updatedPermissions: answer }
      : { behavior: 'deny', message: 'no' },
  );
  let before = () => {};
  const script = steps.flatMap((step, at) => {
    if (typeof step === 'function') {
      before = step;
      return [];
    }
    const change = before;
    before = () => {};
    return [
      () => {
        change();
        return call('Read', { file_path: stage.path(`books/${step.read}/a.txt`) }, `t${at}`);
      },
    ];
  });
  const run = await stage.open([...script, 'ok', 'ok'], { ask, config });
  await run.ask('go');
  await run.ask('again');
  const init = run.messages.findLast((message) => message.type === 'system' && message.subtype === 'init');
  const shown = (init as { additional_directories: string[] }).additional_directories;
  return { asked: ids(), named: shown.map((folder) => folder.replace(`${stage.root}/`, '')), run };
}

describe('additionalDirectories of settings', () => {
  it.each([
    ['user', USER],
    ['project', PROJECT],
    ['local', LOCAL],
    ['managed', MANAGED],
  ])('written into the %s file count from the next call on, and end with it', async (_, file) => {
    const stage = createBooks();
    const { asked, named } = await play(stage, [
      { read: 'one' },
      () => stage.write(file, opens(stage.path('books/one'), '../../books/two')),
      { read: 'one' },
      { read: 'two' },
      () => stage.write(file, opens('../../books/two')),
      { read: 'one' },
      { read: 'two' },
    ]);
    expect(asked).toEqual(['t0', 't5']);
    expect(named).toEqual(['books/two']);
  });

  it('of an untrusted project open nothing', async () => {
    const stage = createBooks();
    const change = () => stage.write(PROJECT, opens(stage.path('books')));
    expect((await play(stage, [change, { read: 'one' }], { config: { trusted: false } })).asked).toEqual(['t1']);
  });

  it('E2: a link opens the place it leads to, and those of the call stay when a file changes', async () => {
    const stage = createBooks();
    symlinkSync(stage.path('books/one'), stage.path('alias'));
    const config = { additionalDirectories: [stage.path('books/two')] };
    const change = () => stage.write(USER, opens(stage.path('alias')));
    const steps: Step[] = [change, { read: 'one' }, { read: 'two' }, () => stage.write(USER, {}), { read: 'two' }];
    expect((await play(stage, steps, { config })).asked).toEqual([]);
  });

  it('open the folder to commands and rules of acceptEdits, too', async () => {
    const stage = createBooks();
    const made = stage.path('books/one/made');
    const bash = (id: string) => call('Bash', { command: `touch ${made}` }, id);
    const { ask, ids } = person();
    const run = await stage.open(
      [
        bash('t1'),
        () => {
          stage.write(USER, opens(stage.path('books')));
          return bash('t2');
        },
        'ok',
      ],
      { ask, config: { permissionMode: 'acceptEdits' } },
    );
    await run.ask('go');
    expect(ids()).toEqual(['t1']);
    expect(stage.exists('books/one/made')).toBe(true);
  });
});

describe('addDirectories and removeDirectories of an answer', () => {
  const update = (type: string, destination: string, ...directories: string[]) => ({ type, destination, directories });

  it.each([
    ['session', {}],
    ['localSettings', {}],
    ['userSettings', {}],
    ['localSettings', { settingSources: [] }],
    ['projectSettings', { trusted: false }],
  ])('to %s open a folder at once, also where that file is not read: %j', async (destination, config) => {
    const stage = createBooks();
    const answer = [update('addDirectories', destination, stage.path('books/two'))];
    const { asked, named } = await play(stage, [{ read: 'one' }, { read: 'two' }], { config, answer });
    expect(asked).toEqual(['t0']);
    expect(named).toEqual(['books/two']);
  });

  it('what was kept in a file and is taken out of it is closed again', async () => {
    const stage = createBooks();
    const answer = [update('addDirectories', 'localSettings', stage.path('books/two'))];
    const steps: Step[] = [{ read: 'one' }, { read: 'two' }, () => stage.write(LOCAL, {}), { read: 'two' }];
    expect((await play(stage, steps, { answer })).asked).toEqual(['t0', 't3']);
  });

  it('what is removed is closed: from its file, or for the session whatever files say', async () => {
    for (const destination of ['userSettings', 'session']) {
      const stage = createBooks();
      stage.write(USER, opens(stage.path('books/two')));
      const answer = [update('removeDirectories', destination, stage.path('books/two'))];
      const touch = () => stage.write(PROJECT, { model: 'x' });
      const steps: Step[] = [{ read: 'two' }, { read: 'one' }, { read: 'two' }, touch, { read: 'two' }];
      expect((await play(stage, steps, { answer })).asked).toEqual(['t1', 't2', 't4']);
    }
  });

  it('what the session closed, an answer opens again', async () => {
    const stage = createBooks();
    stage.write(USER, opens(stage.path('books/two')));
    const answer = [
      update('removeDirectories', 'session', stage.path('books/two')),
      update('addDirectories', 'userSettings', stage.path('books/two')),
    ];
    expect((await play(stage, [{ read: 'one' }, { read: 'two' }], { answer })).asked).toEqual(['t0']);
  });
});
