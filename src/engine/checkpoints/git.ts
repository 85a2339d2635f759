/**
 * What git knows of a folder, asked without its configuration: a repository of our own borrows the objects and a copy of
 * the index, so that nothing that the folder's config names (monitors, filters, hooks) is ever run. The copy also stays
 * what it was when commands commit, stage or switch branches.
 */
import { lstatSync, rmSync, statSync, utimesSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Workspace } from '../../protocol/index.js';
import { makeFolders } from '../workspace/folders.js';
import { isInside } from '../tools/paths.js';
import { replaceOwnFile } from '../workspace/own-file.js';
import {
  namesWithValue,
  readBlobs,
  readChanged,
  readFlags,
  readSizes,
  splitNames,
  type Tracked,
} from './git-output.js';
import { createPauses, type Place, toPlace } from './walk.js';

export interface GitView {
  /** In the index and different on the disk, or gone from it. */
  changed: Map<string, Tracked>;
  /** The same, then what git does not know, then what it ignores and what belongs to other repositories. */
  places: Place[];
}

interface Wanted {
  path: string;
  oid: string;
}

export interface Git {
  /** The folder that the repository is about. */
  readonly top: string;
  /** Takes the index of now for the time to come. False when there is none that can be read. */
  copyIndex(): Promise<boolean>;
  /** What differs from that index. Undefined when git cannot tell. */
  view(): Promise<GitView | undefined>;
  /** The contents that the index stands for, by path; a text says why one cannot be had. */
  contents(files: readonly Wanted[]): AsyncGenerator<[path: string, content: Uint8Array | string]>;
  /** Differs after a commit, a switch, a reset. */
  position(): Promise<string>;
}

export interface GitParts {
  /** The folder that is looked at, links resolved. */
  root: string;
  /** Of the repository of our own. */
  place: string;
  workspace: Workspace;
  /** For its PATH. */
  env: Readonly<Record<string, string>>;
}

const MAX_INDEX_BYTES = 64 * 1024 * 1024;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const MAX_CONTENT_BYTES = 16 * 1024 * 1024;
const AS_FLAGGED = ['-c', 'core.sparsecheckout=false'];
/** On one command line. */
const MAX_NAMES = 500;
const TIMEOUT_MS = 20_000;
/** As many differ in a folder that was copied: then contents are compared once. */
const MANY = 200;

/** Undefined where there is no repository. */
export async function openGit(parts: GitParts): Promise<Git | undefined> {
  const { root, place, workspace } = parts;
  const found = await findRepository(root, workspace);
  if (found === undefined) return undefined;
  const { top, gitDir, common } = found;
  const within = relative(top, root);
  const index = join(place, 'index');
  let indexSign: string | undefined;
  /** Files of the index that were left out of the folder, by path. */
  let omitted: Set<string> | undefined;

  const prepare = async (): Promise<void> => {
    for (const name of ['refs', 'objects', 'info']) makeFolders(join(place, name));
    replaceOwnFile(join(place, 'HEAD'), 'ref: refs/heads/none\n');
    replaceOwnFile(join(place, 'config'), toConfig(await readText(workspace, join(common, 'config'))));
    for (const name of ['exclude', 'attributes']) {
      replaceOwnFile(join(place, 'info', name), await readText(workspace, join(common, 'info', name)));
    }
  };
  const env = {
    PATH: safePath(parts.env.PATH ?? '', root),
    LC_ALL: 'C',
    GIT_DIR: place,
    GIT_WORK_TREE: top,
    GIT_INDEX_FILE: index,
    GIT_OBJECT_DIRECTORY: join(common, 'objects'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_TERMINAL_PROMPT: '0',
  };
  const ask = async (args: readonly string[], input?: Uint8Array): Promise<Buffer | undefined> => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    const tooMuch = new AbortController();
    const locks = args.includes('update-index') ? '1' : '0';
    const exit = await workspace
      .run({
        argv: ['git', ...args],
        cwd: top,
        exact: true,
        env: { ...env, GIT_OPTIONAL_LOCKS: locks },
        signal: tooMuch.signal,
        timeoutMs: TIMEOUT_MS,
        ...(input && { input }),
        onOutput(chunk, stream) {
          if (stream !== 'stdout') return;
          size += chunk.length;
          if (size > MAX_OUTPUT_BYTES) tooMuch.abort();
          else chunks.push(chunk);
        },
      })
      .catch(() => undefined);
    return exit?.code === 0 && size <= MAX_OUTPUT_BYTES ? Buffer.concat(chunks) : undefined;
  };
  /** What our copy of the index says is not to be looked at; with `core.sparsecheckout`, git would look at what is there. */
  const askFlags = async (): Promise<ReturnType<typeof readFlags>> => {
    const listed = await ask([...AS_FLAGGED, 'ls-files', '-v', '-z']);
    if (listed === undefined) throw new Error('The index cannot be read.');
    return readFlags(listed);
  };
  const unflag = async (flag: string, names: readonly Buffer[]): Promise<void> => {
    if (names.length === 0) return;
    const input = Buffer.concat(names.flatMap((name) => [name, NUL]));
    if ((await ask(['update-index', flag, '-z', '--stdin'], input)) === undefined) throw new Error(`${flag} failed.`);
  };
  /** Git may be told to overlook changes of some files: our copy is not. What a sparse checkout leaves out stays out. */
  const clearFlags = async (): Promise<void> => {
    const { assumed, skipped } = await askFlags();
    const present: Buffer[] = [];
    const pause = createPauses(200);
    for (const name of skipped) {
      await pause();
      if (isThere(top, name)) present.push(name);
    }
    await unflag('--no-assume-unchanged', assumed);
    await unflag('--no-skip-worktree', present);
  };
  const readOmitted = async (): Promise<Set<string>> =>
    new Set((await askFlags()).skipped.map((name) => toPlace({ path: top }, name).path));
  const here = within === '' ? [] : ['--', within];
  const askNames = (...flags: string[]) => ask(['ls-files', '-z', '--others', '--directory', ...flags, ...here]);
  const askChanged = () => ask(['diff-files', '--raw', '-z', '--no-renames', '--ignore-submodules=all', ...here]);
  const inRoot = ({ path }: Place): boolean => isInside(root, path);

  return {
    top,
    async copyIndex() {
      const sign = signOf(join(gitDir, 'index'));
      if (indexSign !== undefined && sign === indexSign) return true;
      indexSign = undefined;
      omitted = undefined;
      try {
        await prepare();
        rmSync(index, { force: true });
        if (sign === '') return true;
        const stat = await workspace.stat(join(gitDir, 'index'));
        replaceOwnFile(index, await workspace.readFile(join(gitDir, 'index'), { maxBytes: MAX_INDEX_BYTES }));
        // Git reads again what is as new as the index itself; a copy that seems newer would hide changes.
        const time = (stat?.mtimeMs ?? 0) / 1000 - 0.000_002;
        utimesSync(index, time, time);
        await clearFlags();
        utimesSync(index, time, time);
        indexSign = sign;
        return true;
      } catch {
        return false;
      }
    },
    async view() {
      omitted ??= await readOmitted().catch(() => undefined);
      if (omitted === undefined) return undefined;
      let listed = await askChanged();
      if (listed === undefined) return undefined;
      let changed = readChanged(top, listed);
      if (changed.files.size > MANY) {
        await ask([...AS_FLAGGED, 'update-index', '-q', '--refresh', '--ignore-submodules']);
        listed = await askChanged();
        if (listed === undefined) return undefined;
        changed = readChanged(top, listed);
      }
      // One that is there now is new, whatever the index has.
      for (const path of omitted) changed.files.delete(path);
      const names = await Promise.all([
        askNames('--exclude-standard'),
        askNames('--ignored', '--exclude-standard'),
        readText(workspace, join(top, '.gitmodules')),
      ]);
      const [unknown, ignored, modules] = names;
      if (unknown === undefined || ignored === undefined) return undefined;
      const others = [...modules.matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)].map(([, path = '']) => join(top, path));
      const places = [
        ...changed.places,
        ...[unknown, ignored].flatMap((list) =>
          splitNames(list).map((name) => toPlace({ path: top }, trimSlash(name))),
        ),
        ...others.map((path) => ({ path })),
      ];
      return { changed: changed.files, places: places.filter(inRoot) };
    },
    async *contents(files) {
      for (let at = 0; at < files.length; at += MAX_NAMES) {
        const some = files.slice(at, at + MAX_NAMES).map((file) => ({ ...file, name: relative(top, file.path) }));
        const names = some.map(({ name }) => name);
        const askAttributes = (...args: string[]) =>
          ask(['check-attr', '-z', '--stdin', ...args], toInput(names, '\0'));
        const [stats, ...attributes] = await Promise.all([
          ask(['ls-files', '-z', '--debug', '--', ...names]),
          askAttributes('--cached', 'filter', ENCODING),
          askAttributes(ENCODING),
        ]);
        const sizes = readSizes(stats);
        const converted = new Set(attributes.flatMap((list) => (list === undefined ? names : namesWithValue(list))));
        const wanted: (Wanted & { size: number })[] = [];
        for (const { path, oid, name } of some) {
          const size = sizes.get(name);
          if (size === undefined || converted.has(name)) yield [path, CONVERTED];
          else if (size > MAX_CONTENT_BYTES) yield [path, 'It was larger than 16 MB.'];
          else wanted.push({ path, oid, size });
        }
        for (const batch of toBatches(wanted)) {
          const blobs = readBlobs(
            await ask(
              ['cat-file', '--batch'],
              toInput(
                batch.map(({ oid }) => oid),
                '\n',
              ),
            ),
          );
          for (const { path, oid, size } of batch) {
            const blob = blobs.get(oid);
            if (blob === undefined) yield [path, 'Git no longer has its content.'];
            else yield [path, blob.length === size ? blob : CONVERTED];
          }
        }
      }
    },
    async position() {
      const head = await readText(workspace, join(gitDir, 'HEAD'));
      return `${head.trim()} ${(await workspace.stat(join(gitDir, 'logs', 'HEAD')))?.size ?? 0}`;
    },
  };
}

const toInput = (lines: readonly string[], end: string): Uint8Array =>
  Buffer.from(lines.map((line) => line + end).join(''));

/** So that their contents fit into memory. */
function toBatches<T extends { size: number }>(files: readonly T[]): T[][] {
  const batches: T[][] = [];
  let room = 0;
  for (const file of files) {
    if (file.size > room || batches.length === 0) {
      batches.push([]);
      room = MAX_CONTENT_BYTES;
    }
    batches.at(-1)?.push(file);
    room -= file.size;
  }
  return batches;
}

const CONVERTED = 'Git converts it (line ends, encoding or a filter), so that its content is not known.';
/** Asked for beside filters: what line ends and `ident` do makes a file longer, so that its size tells. */
const ENCODING = 'working-tree-encoding';
const NUL = Buffer.from([0]);

interface Repository {
  top: string;
  gitDir: string;
  common: string;
}

async function findRepository(root: string, workspace: Workspace): Promise<Repository | undefined> {
  for (let top = root; ; top = dirname(top)) {
    const at = join(top, '.git');
    const stat = await workspace.stat(at).catch(() => undefined);
    if (stat !== undefined) {
      const pointer = stat.kind === 'file' ? /^gitdir: (.+)$/m.exec(await readText(workspace, at))?.[1] : undefined;
      const gitDir = pointer === undefined ? at : resolve(top, pointer.trim());
      const common = resolve(gitDir, (await readText(workspace, join(gitDir, 'commondir'))).trim());
      const hasObjects = (await workspace.stat(join(common, 'objects')).catch(() => undefined))?.kind === 'directory';
      return hasObjects ? { top, gitDir, common } : undefined;
    }
    if (dirname(top) === top) return undefined;
  }
}

const readText = async (workspace: Workspace, path: string): Promise<string> =>
  Buffer.from(await workspace.readFile(path, { maxBytes: 1024 * 1024 }).catch(() => new Uint8Array())).toString();

/** Only facts about the disk and the format come from the folder's own config. */
function toConfig(theirs: string): string {
  const flags = ['filemode', 'ignorecase', 'symlinks', 'precomposeunicode'].flatMap((name) => {
    const value = new RegExp(`^\\s*${name}\\s*=\\s*(true|false)\\s*$`, 'im').exec(theirs)?.[1];
    return value === undefined ? [] : [`\t${name} = ${value}`];
  });
  const isSha256 = /^\s*objectformat\s*=\s*sha256\s*$/im.test(theirs);
  const lines = [
    '[core]',
    `\trepositoryformatversion = ${isSha256 ? 1 : 0}`,
    '\tbare = false',
    '\tfsmonitor = false',
    '\tsparsecheckout = true',
    '\tuntrackedcache = false',
    '\thookspath = /dev/null',
    '\tattributesfile = /dev/null',
    ...flags,
    ...(isSha256 ? ['[extensions]', '\tobjectformat = sha256'] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** A program named git in the folder itself is not meant. */
const safePath = (path: string, root: string): string =>
  path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isInside(root, folder))
    .join(delimiter);

function signOf(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return `${ino}.${size}.${mtimeNs}.${ctimeNs}`;
  } catch {
    return '';
  }
}

const trimSlash = (name: Buffer): Buffer => (name.at(-1) === 0x2f ? name.subarray(0, -1) : name);

const isThere = (top: string, name: Buffer): boolean => {
  const { path, bytes } = toPlace({ path: top }, name);
  try {
    return lstatSync(bytes ?? path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
};
