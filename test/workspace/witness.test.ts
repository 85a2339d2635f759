import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openFolder } from '../../src/engine/workspace/exact-folder.js';
import { createWitness } from '../../src/engine/workspace/witness.js';
import { until } from './running.js';
import { removeFolder } from '../remove-folder.js';

let root: string;
const at = (...names: string[]): string => join(root, ...names);
const put = (name: string) => {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), name);
};

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-witness-')));
  for (const name of ['in/a', 'in/sub/b', 'in/sub/deep/c', 'out/b', 'out/deep/c']) put(name);
});
afterEach(() => removeFolder(root));

const watch = (since = Date.now()) => {
  const folder = openFolder(at('in'));
  try {
    return createWitness(folder, { path: at('in'), since });
  } finally {
    folder.close();
  }
};

/** The clock of the system has ticked since all that has happened so far. */
const watchFromNow = async () => {
  const now = Date.now();
  await until(() => Date.now() > now + 40);
  return watch();
};

const NAMES = ['a', 'sub/b', 'sub/deep/c'];

describe('a witness', () => {
  it('vouches for what nobody touched', async () => {
    const look = await watchFromNow();
    expect(look(NAMES)).toEqual(['stayed', 'stayed', 'stayed']);
    expect(look([])).toEqual([]);
  });

  it('does not vouch for what may be as new as the process', () => {
    expect(watch(Date.now() - 60_000)(NAMES)).toEqual(['changed', 'changed', 'changed']);
  });

  it('notices a folder that was a link for a moment, with all that is in it', async () => {
    const look = await watchFromNow();
    renameSync(at('in/sub'), at('in/aside'));
    symlinkSync(at('out'), at('in/sub'));
    expect(look(NAMES)).toEqual(['stayed', 'gone', 'gone']);
    rmSync(at('in/sub'));
    expect(look(NAMES)).toEqual(['stayed', 'gone', 'gone']);
    renameSync(at('in/aside'), at('in/sub'));
    expect(look(NAMES)).toEqual(['stayed', 'changed', 'changed']);
  });

  it('notices a file that was a link for a moment', async () => {
    const look = await watchFromNow();
    renameSync(at('in/sub/deep/c'), at('in/c'));
    symlinkSync(at('out/deep/c'), at('in/sub/deep/c'));
    expect(look(NAMES)).toEqual(['stayed', 'stayed', 'gone']);
    rmSync(at('in/sub/deep/c'));
    renameSync(at('in/c'), at('in/sub/deep/c'));
    expect(look(NAMES)).toEqual(['stayed', 'stayed', 'changed']);
  });

  it('goes by what is older: an entry, or the folder it is in', async () => {
    const look = await watchFromNow();
    put('in/new');
    writeFileSync(at('in/sub/deep/c'), 'other');
    expect(look([...NAMES, 'new'])).toEqual(['stayed', 'stayed', 'stayed', 'changed']);
    // A folder with a new entry, in a folder with one, may also have been moved.
    put('in/sub/new');
    expect(look(NAMES)).toEqual(['stayed', 'changed', 'changed']);
  });

  it('testifies for its own folder alone', async () => {
    const look = await watchFromNow();
    renameSync(at('in'), at('aside'));
    expect(look(NAMES)).toEqual(['gone', 'gone', 'gone']);
    for (const name of ['in/a', 'in/sub/b', 'in/sub/deep/c']) put(name);
    expect(look(NAMES)).toEqual(['gone', 'gone', 'gone']);
    rmSync(at('in'), { recursive: true });
    symlinkSync('aside', at('in'));
    expect(look(NAMES)).toEqual(['gone', 'gone', 'gone']);
  });

  it('vouches for names that cannot be asked for as long as their folder is as it was', async () => {
    writeFileSync(Buffer.concat([Buffer.from(at('in', 'sub', 'n')), Buffer.from([0xff])]), '');
    const look = await watchFromNow();
    expect(look(['sub/n\ufffd', 'n\ufffd/x', 'missing'])).toEqual(['stayed', 'gone', 'gone']);
    put('in/sub/new');
    expect(look(['sub/n\ufffd'])).toEqual(['gone']);
  });
});
