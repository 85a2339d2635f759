import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../workspace/running.js';
import { type Bench, createBench } from './kit.js';

let bench: Bench;

beforeEach(() => {
  bench = createBench();
});

afterEach(async () => {
  expect(bench.warnings).toEqual([]);
  await bench.close();
});

/** Real and git folders see the same commands. */
const KINDS = {
  'a plain folder': () => {},
  'a git folder': () => {
    bench.git('init', '-q');
    bench.git('add', '-A', '--', ':!loose*', ':!.env');
    bench.git('commit', '-qm', 'start');
  },
};

const COMMANDS: Record<string, string> = {
  'sed -i': 'sed -i s/one/two/ a.txt deep/b.txt',
  'sed -i of a dirty file': 'sed -i s/dirty/clean/ dirty.txt',
  rm: 'rm a.txt loose.txt .env',
  'rm -rf': 'rm -rf deep loose-folder empty',
  mv: 'mv a.txt deep/moved.txt; mv loose.txt a.txt',
  'new folders': 'mkdir -p new/deeper/deepest new/empty; echo x > new/deeper/x; echo y > y',
  chmod: 'chmod 755 a.txt loose.txt',
  'a binary file': 'printf "\\000\\001\\377" > bin.dat; printf "\\000" >> loose.bin',
  'a file for an empty folder': 'rmdir empty; echo file > empty',
  'a file for a folder': 'rm -rf deep; echo file > deep',
  'a folder for a file': 'rm a.txt; mkdir a.txt; echo x > a.txt/x',
  'an ignored file': 'echo changed > .env; echo new > .env.local',
  'in place, of the same size': 'printf "eno\\n" > a.txt; touch -r dirty.txt a.txt',
  'nothing but times': 'touch a.txt loose.txt',
  'what a line names':
    'echo x > a.txt; echo x >> dirty.txt; tee loose.txt < a.txt; cp a.txt copy; truncate -s0 deep/b.txt',
  'what a line hides': 'for f in a deep/b; do echo x >> $f.txt; done',
};

describe.each(Object.entries(KINDS))('rewind of commands in %s (F8)', (_kind, prepare) => {
  beforeEach(() => {
    bench.put('a.txt', 'one\n');
    bench.put('deep/b.txt', 'one\ntwo\n');
    bench.put('dirty.txt', 'as committed\n');
    bench.put('.gitignore', '.env*\n');
    bench.put('bin.dat', Buffer.from([0, 255, 10, 13]));
    prepare();
    bench.put('dirty.txt', 'dirty\n');
    bench.put('.env', 'SECRET=1\n');
    bench.put('loose.txt', 'loose\n');
    bench.put('loose.bin', Buffer.from([0, 200]));
    bench.put('loose-folder/deep/c', 'c');
    mkdirSync(bench.path('empty'));
    chmodSync(bench.path('deep/b.txt'), 0o755);
    chmodSync(bench.path('loose-folder/deep/c'), 0o600);
  });

  it.each(Object.entries(COMMANDS))('%s', async (_name, line) => {
    const before = bench.tree();
    await bench.turn('p0', () => bench.shell(line));
    const changed = bench.tree();
    const preview = await bench.checkpoints.rewind('p0', { dryRun: true });
    expect(bench.tree()).toEqual(changed);
    const result = await bench.checkpoints.rewind('p0');
    expect(bench.tree()).toEqual(before);
    expect(result).toEqual(preview);
    expect(result).toMatchObject({ canRewind: true, skippedLinks: 0 });
    expect(result.notRestored).toBeUndefined();
    const names = new Set([...Object.keys(before), ...Object.keys(changed)]);
    const files = [...names].filter((name) => before[name] !== changed[name] && !name.endsWith('/'));
    expect(result.filesChanged).toEqual(files.map((name) => bench.path(name)).toSorted());
  });

  it('several calls, with tools and other hands between them', async () => {
    const before = bench.tree();
    await bench.turn('p0', async () => {
      await bench.write('a.txt', 'by tool\n');
      await bench.shell('echo more >> a.txt; echo x > x');
      bench.put('theirs.txt', 'someone else');
      await bench.shell('echo again >> a.txt; rm x');
    });
    await bench.checkpoints.rewind('p0');
    expect(bench.tree()).toEqual({ ...before, 'theirs.txt': expect.stringContaining('someone else') });
  });

  it('keeps what someone else changed between two commands, and says so', async () => {
    await bench.turn('p0', async () => {
      await bench.shell('echo mine > a.txt');
      bench.put('a.txt', 'theirs\n');
      await bench.shell('echo mine too >> a.txt');
    });
    const result = await bench.checkpoints.rewind('p0');
    expect(bench.text('a.txt')).toBe('theirs\nmine too\n');
    expect(result.notRestored).toEqual([
      { path: bench.path('a.txt'), reason: expect.stringContaining('Someone else has changed it') },
    ]);
    await bench.checkpoints.rewind('p0', { overwriteEdits: true });
    expect(bench.text('a.txt')).toBe('one\n');
  });

  it('leaves links alone and counts them', async () => {
    symlinkSync('a.txt', bench.path('old-link'));
    await bench.turn('p0', () => bench.shell('ln -s loose.txt new-link; rm old-link; ln -sf dirty.txt a.txt'));
    const result = await bench.checkpoints.rewind('p0');
    expect(result.skippedLinks).toBe(2);
    const paths = result.notRestored?.map(({ path }) => path).toSorted();
    expect(paths).toEqual(['a.txt', 'new-link', 'old-link'].map((name) => bench.path(name)));
    expect(bench.text('dirty.txt')).toBe('dirty\n');
  });

  it('lists names that are not UTF-8', async () => {
    await bench.turn('p0', () => bench.shell(`printf x > $'caf\\xe9'`));
    const result = await bench.checkpoints.rewind('p0');
    expect(result.notRestored).toEqual([{ path: bench.path('caf\\xE9'), reason: 'Its name is not UTF-8.' }]);
    await bench.turn('p1', () => bench.shell('echo fine > fine'));
    const next = await bench.checkpoints.rewind('p1');
    expect(next).toMatchObject({ filesChanged: [bench.path('fine')] });
    expect(next.notRestored).toBeUndefined();
  });

  it('lists node_modules, of which nothing is kept', async () => {
    await bench.turn('p0', () => bench.shell('mkdir -p node_modules/x; echo x > node_modules/x/y'));
    const result = await bench.checkpoints.rewind('p0');
    expect(result.notRestored).toEqual([{ path: bench.path('node_modules'), reason: expect.any(String) }]);
  });

  it('tells what a killed process was doing, and asks before it takes that back', async () => {
    bench.entries.push({
      type: 'heddle',
      kind: 'turn',
      state: 'started',
      promptUuid: 'p0',
      sessionId: '',
      timestamp: '',
    });
    bench.checkpoints.begin('p0');
    const call = { toolUseId: 'c', tool: 'Bash', edits: false, writes: [], shell: true };
    await bench.checkpoints.beforeCall(call);
    bench.put('a.txt', 'half done\n');
    bench.put('made', 'half done\n');
    bench.resume();
    await bench.turn('p1', () => bench.write('later', 'x'));
    const later = await bench.checkpoints.rewind('p1', { dryRun: true });
    expect(later).toMatchObject({ filesChanged: [bench.path('later')] });
    expect(later.notRestored).toBeUndefined();
    const result = await bench.checkpoints.rewind('p0');
    expect(result.notRestored?.map(({ path }) => path).toSorted()).toEqual([bench.path('a.txt'), bench.path('made')]);
    expect(bench.text('a.txt')).toBe('half done\n');
    await bench.checkpoints.rewind('p0', { overwriteEdits: true });
    expect(bench.text('a.txt')).toBe('one\n');
    expect(existsSync(bench.path('made'))).toBe(false);
  });

  it('counts what background tasks do as long as one runs', async () => {
    let runs = false;
    bench.resume({ background: () => runs });
    const before = bench.tree();
    await bench.turn('p0', async () => {
      runs = true;
      await bench.shell('true');
      bench.put('a.txt', 'by the task\n');
      bench.put('log/out', 'by the task\n');
      runs = false;
    });
    expect((await bench.checkpoints.rewind('p0')).notRestored).toBeUndefined();
    expect(bench.tree()).toEqual(before);
  });

  it('keeps a file of a tool that writes while a task runs', async () => {
    bench.resume({ background: () => true });
    const before = bench.tree();
    await bench.turn('p0', async () => {
      await bench.shell('true');
      await bench.write('a.txt', 'by the tool\n');
      await bench.write('new/file', 'by the tool\n');
      bench.put('a.txt', 'by the tool, then the task\n');
    });
    expect((await bench.checkpoints.rewind('p0')).notRestored).toBeUndefined();
    expect(bench.tree()).toEqual(before);
  });

  describe('after the turn of a background task', () => {
    let runs: boolean;
    let endTask: () => void;

    /** A turn that leaves a task behind, which then changes files. */
    const leave = async (): Promise<void> => {
      const over = new Promise<void>((resolve) => {
        endTask = () => {
          runs = false;
          resolve();
        };
      });
      runs = false;
      bench.resume({ background: () => runs, taskEnd: () => over });
      await bench.turn('p0', async () => {
        runs = true;
        await bench.shell('echo x > x');
      });
      bench.put('a.txt', 'late\n');
      bench.put('log/out', 'late\n');
    };
    const late = (): string[] => [bench.path('a.txt'), bench.path('log/out')];
    const preview = (uuid: string) => bench.checkpoints.rewind(uuid, { dryRun: true });

    it('lists what it changed, and restores that when asked to', async () => {
      const before = bench.tree();
      await leave();
      const result = await bench.checkpoints.rewind('p0');
      expect(result.filesChanged).toEqual([bench.path('x')]);
      const paths = result.notRestored?.map(({ path }) => path);
      expect(paths).toEqual(expect.arrayContaining(late()));
      expect(result.notRestored?.[0]?.reason).toContain('a task ran in the background');
      expect(bench.text('a.txt')).toBe('late\n');
      await bench.checkpoints.rewind('p0', { overwriteEdits: true });
      expect(bench.tree()).toEqual(before);
    });

    it('goes on after a rewind', async () => {
      const before = bench.tree();
      await leave();
      await bench.checkpoints.rewind('p0', { overwriteEdits: true });
      bench.put('a.txt', 'later\n');
      expect((await preview('p0')).notRestored).toEqual([
        { path: bench.path('a.txt'), reason: expect.stringContaining('by whom') },
      ]);
      await bench.checkpoints.rewind('p0', { overwriteEdits: true });
      expect(bench.tree()).toEqual(before);
    });

    it('is not the work of the next turn', async () => {
      await leave();
      const between = bench.tree();
      await bench.turn('p1', async () => {
        await bench.write('b', 'b');
        bench.put('a.txt', 'in the next turn\n');
      });
      const first = await preview('p0');
      expect(first.notRestored?.map(({ path }) => path)).toEqual(expect.arrayContaining(late()));
      const result = await bench.checkpoints.rewind('p1');
      expect(result.notRestored).toBeUndefined();
      expect(result.filesChanged).toEqual([bench.path('a.txt'), bench.path('b')]);
      expect(bench.tree()).toEqual(between);
    });

    it('ends with the task', async () => {
      await leave();
      endTask();
      await until(() => late().every((path) => bench.notes().some((note) => note.path === path)));
      bench.put('theirs', 'someone else');
      bench.put('deep/b.txt', 'someone else');
      const paths = (await preview('p0')).notRestored?.map(({ path }) => path);
      expect(paths).toEqual(expect.arrayContaining(late()));
      expect(paths).not.toContain(bench.path('theirs'));
      expect(paths).not.toContain(bench.path('deep/b.txt'));
    });

    it.each(['closed', 'killed'])('is found after a resume of a session that was %s', async (how) => {
      await leave();
      if (how === 'closed') {
        await bench.checkpoints.close();
        bench.put('theirs', 'someone else');
      }
      bench.resume();
      const paths = (await preview('p0')).notRestored?.map(({ path }) => path);
      expect(paths).toEqual(expect.arrayContaining(late()));
      expect(paths).not.toContain(bench.path('theirs'));
    });
  });

  it('lists what may have been a background task where nobody can tell', async () => {
    bench.resume({ background: undefined });
    await bench.turn('p0', async () => {
      await bench.shell('true');
      bench.put('a.txt', 'by whom\n');
    });
    const result = await bench.checkpoints.rewind('p0');
    expect(result.notRestored).toEqual([{ path: bench.path('a.txt'), reason: expect.stringContaining('by whom') }]);
  });

  it('never surveys for a turn without commands', async () => {
    await bench.turn('p0', () => bench.write('a.txt', 'x'));
    expect(existsSync(join(bench.session, 'survey'))).toBe(false);
  });

  it('does not look at what the engine itself keeps inside of the folder', async () => {
    bench.session = bench.path('.config', 'sessions', 'one');
    bench.resume();
    bench.put('.config/projects/log.jsonl', 'a\n');
    await bench.turn('p0', () => bench.shell('echo b >> .config/projects/log.jsonl; echo z > z'));
    expect(await bench.checkpoints.rewind('p0')).toMatchObject({ filesChanged: [bench.path('z')] });
    expect(readFileSync(bench.path('.config/projects/log.jsonl'), 'utf8')).toBe('a\nb\n');
  });

  it('restores the mode of a file with its content', async () => {
    await bench.turn('p0', () => bench.shell('rm loose-folder/deep/c; echo longer > deep/b.txt; chmod 700 deep/b.txt'));
    await bench.checkpoints.rewind('p0');
    expect(statSync(bench.path('loose-folder/deep/c')).mode & 0o777).toBe(0o600);
    expect(statSync(bench.path('deep/b.txt')).mode & 0o777).toBe(0o755);
  });

  it('follows a mode through several commands', async () => {
    const before = bench.tree();
    await bench.turn('p0', async () => {
      await bench.shell('chmod 711 a.txt loose.txt');
      await bench.shell('echo x >> a.txt; chmod 640 a.txt loose.txt');
    });
    expect((await bench.checkpoints.rewind('p0')).notRestored).toBeUndefined();
    expect(bench.tree()).toEqual(before);
  });
});
