import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createSettingsWatch } from '../../src/engine/settings/watch.js';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import { createPlace, LOCAL, MANAGED, type Place, PROJECT, USER } from './place.js';

function watchOf(place: Place, more: string[] = []) {
  const clock = createFakeClock();
  const watch = createSettingsWatch(place.files, { clock, more });
  const names = (): string[] => watch.changed().map((path) => path.replace(`${place.root}/`, ''));
  return { clock, names };
}

describe('createSettingsWatch', () => {
  it('says once what changed, appeared, or was replaced', () => {
    const place = createPlace();
    place.write(USER, { model: 'a' });
    const { names } = watchOf(place);
    expect(names()).toEqual([]);
    place.write(USER, { model: 'b, and longer' });
    place.write(LOCAL, {});
    expect(names().toSorted()).toEqual([USER, LOCAL].toSorted());
    expect(names()).toEqual([]);
    place.write(`${LOCAL}.new`, {});
    renameSync(place.path(`${LOCAL}.new`), place.path(LOCAL));
    expect(names()).toEqual([LOCAL]);
  });

  it('notices a change of the same size at the same time', () => {
    const place = createPlace();
    const file = place.write(PROJECT, '{"a":1}');
    utimesSync(file, 1, 1);
    const { names } = watchOf(place);
    const before = statSync(file);
    writeFileSync(file, '{"a":2}');
    utimesSync(file, before.atime, before.mtime);
    expect(names()).toEqual([PROJECT]);
  });

  it('a file that an editor takes away for a moment is not gone; one that stays away is', () => {
    const place = createPlace();
    const file = place.write(USER, '{}');
    const { names, clock } = watchOf(place);
    renameSync(file, `${file}~`);
    expect(names()).toEqual([]);
    clock.advance(500);
    expect(names()).toEqual([]);
    renameSync(`${file}~`, file);
    expect(names()).toEqual([USER]);
    rmSync(file);
    expect(names()).toEqual([]);
    clock.advance(1000);
    expect(names()).toEqual([USER]);
    expect(names()).toEqual([]);
  });

  it('policy, also parts of it that come later, and the file of --settings', () => {
    const place = createPlace();
    const { names } = watchOf(place, [place.path('flag.json')]);
    place.write(MANAGED, {});
    place.write('etc/managed-settings.d/10.json', {});
    place.write('flag.json', {});
    expect(names().toSorted()).toEqual(['etc/managed-settings.d', MANAGED, 'flag.json'].toSorted());
    expect(names()).toEqual([]);
    place.write('etc/managed-settings.d/10.json', { model: 'x' });
    expect(names()).toEqual(['etc/managed-settings.d/10.json']);
  });
});
