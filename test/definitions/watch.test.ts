import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { DefinitionFolder } from '../../src/engine/definitions/definition.js';
import { type DefinitionWatch, watchDefinitions } from '../../src/engine/definitions/watch.js';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import { systemClock } from '../../src/protocol/plain.js';
import { createPlace, folderOf } from './place.js';

const open: DefinitionWatch[] = [];
afterEach(() => {
  for (const watch of open.splice(0)) watch.close();
});

/** A watch whose news can be waited for. */
function start(folders: readonly DefinitionFolder[]) {
  let count = 0;
  let waiting: { isSo: () => boolean; resolve: () => void } | undefined;
  const onChange = (): void => {
    count += 1;
    if (waiting?.isSo() === true) waiting.resolve();
  };
  const watch = watchDefinitions(folders, { clock: systemClock, onChange, quietMs: 20 });
  open.push(watch);
  return {
    watch,
    count: () => count,
    /** Resolves when a change is told while the files are like this. Late news of what was before do not count. */
    told: (isSo: () => boolean): Promise<void> => new Promise((resolve) => (waiting = { isSo, resolve })),
  };
}

const holds = (path: string, text: string) => (): boolean => existsSync(path) && readFileSync(path, 'utf8') === text;

describe('watchDefinitions', () => {
  it('a file that is written, replaced by an editor, or removed', async () => {
    const place = createPlace();
    const file = place.write('c/a.md', 'one');
    const { told } = start([folderOf('commands', place.path('c'))]);
    writeFileSync(file, 'two');
    await told(holds(file, 'two'));
    for (const text of ['three', 'four']) {
      place.write('c/.a.md.swp', text);
      renameSync(place.path('c/.a.md.swp'), file);
      await told(holds(file, text));
    }
    rmSync(file);
    await told(() => !existsSync(file));
  });

  it('folders in folders, also those that come later; skills', async () => {
    const place = createPlace();
    const [old, skill] = [place.write('c/git/a.md', 'x'), place.write('s/forms/SKILL.md', 'x')];
    const { told } = start([folderOf('commands', place.path('c')), folderOf('skills', place.path('s'))]);
    place.write('c/git/a.md', 'other');
    await told(holds(old, 'other'));
    place.write('s/forms/SKILL.md', 'other');
    await told(holds(skill, 'other'));
    for (const [folder, name] of [
      ['c/new', 'b.md'],
      ['s/second', 'SKILL.md'],
    ] as const) {
      mkdirSync(place.path(folder));
      await told(() => existsSync(place.path(folder)));
      const file = place.write(`${folder}/${name}`, 'x');
      await told(holds(file, 'x'));
      place.write(`${folder}/${name}`, 'y');
      await told(holds(file, 'y'));
    }
  });

  it('a folder that does not exist yet, nor the one around it; one that is taken away and comes again', async () => {
    const place = createPlace();
    const { told } = start([folderOf('commands', place.path('.claude/commands'))]);
    const file = place.write('.claude/commands/a.md', 'x');
    await told(holds(file, 'x'));
    place.write('.claude/commands/a.md', 'other');
    await told(holds(file, 'other'));
    rmSync(place.path('.claude'), { recursive: true });
    await told(() => !existsSync(file));
    place.write('.claude/commands/a.md', 'again');
    await told(holds(file, 'again'));
    renameSync(place.path('.claude'), place.path('.away'));
    await told(() => !existsSync(file));
    renameSync(place.path('.away'), place.path('.claude'));
    await told(holds(file, 'again'));
    place.write('.claude/commands/a.md', 'last');
    await told(holds(file, 'last'));
  });

  it('is silent after it was closed', async () => {
    const place = createPlace();
    place.write('c/a.md', 'x');
    const one = start([folderOf('commands', place.path('c'))]);
    const other = start([folderOf('commands', place.path('c'))]);
    one.watch.close();
    one.watch.close();
    const file = place.write('c/a.md', 'other');
    await other.told(holds(file, 'other'));
    expect(one.count()).toBe(0);
  });

  it('changes that come together are told once, after a moment of quiet; what is no definition is not told', async () => {
    const place = createPlace();
    place.write('c/a.md', 'x');
    const clock = createFakeClock();
    let count = 0;
    const onChange = (): void => void (count += 1);
    open.push(watchDefinitions([folderOf('commands', place.path('c'))], { clock, onChange }));
    place.write('c/script.py', 'x');
    place.write('beside.md', 'x');
    await clock.armed();
    await setImmediate();
    clock.advance(200);
    expect(count).toBe(0);
    for (const name of ['a', 'b', 'c']) place.write(`c/${name}.md`, 'y');
    while (count === 0) {
      await clock.armed();
      await setImmediate();
      clock.advance(199);
      expect(count).toBe(0);
      clock.advance(1);
    }
    expect(count).toBe(1);
  });

  it('does not keep the process alive', () => {
    const place = createPlace();
    place.write('c/a.md', 'x');
    const code = `
      import { watchDefinitions } from '${new URL('../../src/engine/definitions/watch.ts', import.meta.url).href}';
      const clock = { monotonic: () => 0, after: () => () => {} };
      watchDefinitions([{ kind: 'commands', path: ${JSON.stringify(place.path('c'))}, origin: { scope: 'user' } }], { clock, onChange() {} });
      console.log('watching');
    `;
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      encoding: 'utf8',
      timeout: 25_000,
    });
    expect(child).toMatchObject({ status: 0, stdout: 'watching\n' });
  });
});
