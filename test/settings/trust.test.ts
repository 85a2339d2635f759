import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTrust } from '../../src/engine/settings/trust.js';
import { createPlace } from './place.js';

const RECORD = 'home/.claude/.claude.json';

function setUp() {
  const place = createPlace();
  const trust = createTrust({ configDir: place.config, home: place.home });
  const folder = (name: string): string => {
    mkdirSync(place.path(name), { recursive: true });
    return place.path(name);
  };
  return { place, trust, folder };
}

describe('createTrust (E1)', () => {
  it('trusts nothing by itself', async () => {
    const { trust, place } = setUp();
    expect(await trust.isTrusted(place.project)).toBe(false);
    expect(await trust.list()).toEqual([]);
  });

  it('is given, kept, and taken back', async () => {
    const { trust, place } = setUp();
    expect(await trust.trust(place.project)).toEqual({ folder: place.project, changed: true });
    expect(await trust.trust(place.project)).toEqual({ folder: place.project, changed: false });
    expect(JSON.parse(place.text(RECORD))).toEqual({ projects: { [place.project]: { hasTrustDialogAccepted: true } } });
    expect(statSync(place.path(RECORD)).mode & 0o777).toBe(0o600);
    expect(await createTrust({ configDir: place.config, home: place.home }).isTrusted(place.project)).toBe(true);
    expect(await trust.list()).toEqual([place.project]);
    expect(await trust.untrust(place.project)).toEqual({ folder: place.project, changed: true });
    expect(await trust.untrust(place.project)).toEqual({ folder: place.project, changed: false });
    expect(await trust.isTrusted(place.project)).toBe(false);
  });

  it('leaves everything else in the record as it is', async () => {
    const { trust, place } = setUp();
    const text = `{\n  "numStartups": 7,\n  "projects": {\n    "${place.project}": { "history": [1,2], "hasTrustDialogAccepted": false }\n  }\n}\n`;
    place.write(RECORD, text);
    expect(await trust.isTrusted(place.project)).toBe(false);
    await trust.trust(place.project);
    expect(place.text(RECORD)).toBe(text.replace('false', 'true'));
  });

  it('counts for folders below, not beside or above', async () => {
    const { trust, place, folder } = setUp();
    await trust.trust(place.project);
    expect(await trust.isTrusted(folder('home/shop/a/b'))).toBe(true);
    expect(await trust.isTrusted(folder('home/shop-2'))).toBe(false);
    expect(await trust.isTrusted(place.home)).toBe(false);
  });

  it('the home folder and the root vouch for nothing but themselves', async () => {
    const { trust, place } = setUp();
    await trust.trust(place.home);
    await trust.trust('/');
    expect(await trust.isTrusted(place.home)).toBe(true);
    expect(await trust.isTrusted(place.project)).toBe(false);
  });

  it('nor does a folder that everyone may write to', async () => {
    const { trust, folder } = setUp();
    const open = folder('open');
    chmodSync(open, 0o1777);
    await trust.trust(open);
    expect(await trust.isTrusted(open)).toBe(true);
    expect(await trust.isTrusted(folder('open/planted'))).toBe(false);
  });

  it('is tied to the real path: a link neither borrows nor lends', async () => {
    const { trust, place, folder } = setUp();
    const evil = folder('evil');
    symlinkSync(place.project, place.path('good-link'));
    await trust.trust(place.path('good-link'));
    expect(await trust.list()).toEqual([place.project]);
    symlinkSync(evil, join(place.project, 'inside'));
    expect(await trust.isTrusted(join(place.project, 'inside'))).toBe(false);
  });

  it('a worktree is trusted with its main work tree, and only if git says that it is one', async () => {
    const { trust, place, folder } = setUp();
    const [record, tree, fake] = [
      folder('home/shop/.git/worktrees/wt'),
      folder('elsewhere/wt'),
      folder('elsewhere/fake'),
    ];
    writeFileSync(join(tree, '.git'), `gitdir: ${record}`);
    writeFileSync(join(fake, '.git'), `gitdir: ${record}`);
    writeFileSync(join(record, 'gitdir'), join(tree, '.git'));
    writeFileSync(join(record, 'commondir'), '../..');
    expect(await trust.isTrusted(tree)).toBe(false);
    await trust.trust(place.project);
    expect(await trust.isTrusted(tree)).toBe(true);
    expect(await trust.isTrusted(fake)).toBe(false);
  });

  it.each([
    ['{ "projects": ', /:1:15: the file ends too early/],
    ['[]', /it must be one JSON object/],
  ])('a record that is broken trusts nothing and is not overwritten: %s', async (text, message) => {
    const { trust, place } = setUp();
    place.write(RECORD, text);
    expect(await trust.isTrusted(place.project)).toBe(false);
    await expect(trust.list()).rejects.toMatchObject({
      code: 'invalid_settings',
      message: expect.stringMatching(message),
    });
    await expect(trust.trust(place.project)).rejects.toMatchObject({ code: 'invalid_settings' });
    expect(place.text(RECORD)).toBe(text);
  });

  it.each(['{"projects": []}', '{"projects": {"P": true}}'])('nor one of the wrong shape: %s', async (text) => {
    const { trust, place } = setUp();
    place.write(RECORD, text.replace('P', place.project));
    expect(await trust.isTrusted(place.project)).toBe(false);
    await expect(trust.trust(place.project)).rejects.toMatchObject({ code: 'invalid_settings' });
  });

  it('only a yes is a yes', async () => {
    const { trust, place } = setUp();
    for (const value of ['"true"', '1', 'null', '{}']) {
      place.write(RECORD, `{"projects": {"${place.project}": {"hasTrustDialogAccepted": ${value}}}}`);
      expect(await trust.isTrusted(place.project)).toBe(false);
    }
    place.write(RECORD, `{"projects": {"${place.project}": {"hasTrustDialogAccepted": true,}}} // by hand`);
    expect(await trust.isTrusted(place.project)).toBe(true);
  });

  it('what is no folder cannot be trusted', async () => {
    const { trust, place } = setUp();
    await expect(trust.trust(place.path('none'))).rejects.toMatchObject({ code: 'invalid_config' });
    await expect(trust.trust(place.write('file', ''))).rejects.toMatchObject({ code: 'invalid_config' });
  });
});
