/**
 * What git knows of a folder, asked without its configuration: a repository of our own borrows the objects and a copy of
 * the index, so that nothing that the folder's config names (monitors, filters, hooks) is ever run. The copy also stays
 * what it was when commands commit, stage or switch branches.
 */
import { rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Workspace } from '../../protocol/index.js';
import { makeFolders } from '../workspace/folders.js';
import { isInside } from '../tools/paths.js';
import { type Place, toPlace } from './walk.js';

/** A file as the index has it. */
export interface Tracked {
  oid: string;
  mode: string;
}

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

  const prepare = async (): Promise<void> => {
    for (const name of ['refs', 'objects', 'info']) makeFolders(join(place, name));
    writeFileSync(join(place, 'HEAD'), 'ref: refs/heads/none\n');
    writeFileSync(join(place, 'config'), toConfig(await readText(workspace, join(common, 'config'))));
    for (const name of ['exclude', 'attributes']) {
      writeFileSync(join(place, 'info', name), await readText(workspace, join(common, 'info', name)));
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
    const locks = args[0] === 'update-index' ? '1' : '0';
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
      try {
        await prepare();
        rmSync(index, { force: true });
        if (sign === '') return true;
        const stat = await workspace.stat(join(gitDir, 'index'));
        writeFileSync(index, await workspace.readFile(join(gitDir, 'index'), { maxBytes: MAX_INDEX_BYTES }));
        // Git reads again what is as new as the index itself; a copy that seems newer would hide changes.
        const time = (stat?.mtimeMs ?? 0) / 1000 - 0.000_002;
        utimesSync(index, time, time);
        indexSign = sign;
        return true;
      } catch {
        return false;
      }
    },
    async view() {
      let listed = await askChanged();
      if (listed === undefined) return undefined;
      let changed = readChanged(top, listed);
      if (changed.files.size > MANY) {
        await ask(['update-index', '-q', '--refresh', '--ignore-submodules']);
        listed = await askChanged();
        if (listed === undefined) return undefined;
        changed = readChanged(top, listed);
      }
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
        const [stats, filters] = await Promise.all([
          ask(['ls-files', '-z', '--debug', '--', ...names]),
          ask(['check-attr', '--cached', '-z', '--stdin', 'filter'], toInput(names, '\0')),
        ]);
        const sizes = readSizes(stats);
        const filtered = readFilters(filters);
        const wanted: (Wanted & { size: number })[] = [];
        for (const { path, oid, name } of some) {
          const size = sizes.get(name);
          if (size === undefined || filters === undefined || filtered.has(name)) yield [path, CONVERTED];
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

const CONVERTED = 'Git converts it (line ends or a filter), so that its content is not known.';

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

function splitNames(list: Buffer): Buffer[] {
  const names: Buffer[] = [];
  for (let at = 0; at < list.length; ) {
    const end = list.indexOf(0, at);
    names.push(list.subarray(at, end));
    at = end + 1;
  }
  return names;
}

const trimSlash = (name: Buffer): Buffer => (name.at(-1) === 0x2f ? name.subarray(0, -1) : name);

/** `:100644 100755 <oid> <oid> M`, then the name. */
function readChanged(top: string, list: Buffer): { files: Map<string, Tracked>; places: Place[] } {
  const files = new Map<string, Tracked>();
  const places: Place[] = [];
  const parts = splitNames(list);
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [mode = '', , oid = ''] = (parts[at]?.toString().slice(1) ?? '').split(' ');
    const place = toPlace({ path: top }, parts[at + 1] ?? Buffer.alloc(0));
    if (files.has(place.path)) continue;
    files.set(place.path, { mode, oid });
    places.push(place);
  }
  return { files, places };
}

/** `name NUL`, then lines of which one has the size that the file had on the disk. */
function readSizes(list: Buffer | undefined): Map<string, number> {
  const sizes = new Map<string, number>();
  let name: string | undefined;
  for (const part of list?.toString().split('\0') ?? []) {
    const told = /^ {2}ctime:[\s\S]*?\n {2}size: (\d+)\tflags: \w+\n/.exec(part);
    if (name !== undefined && told !== null) sizes.set(name, Number(told[1]));
    name = told === null ? part : part.slice(told[0].length);
  }
  return sizes;
}

/** Names for which a filter is set, from triples of name, attribute and value. */
function readFilters(list: Buffer | undefined): Set<string> {
  const parts = list?.toString().split('\0') ?? [];
  const names = new Set<string>();
  for (let at = 0; at + 2 < parts.length; at += 3) {
    if (!['unspecified', 'unset'].includes(parts[at + 2] ?? '')) names.add(parts[at] ?? '');
  }
  return names;
}

/** `<oid> blob <size>`, the content, a newline; or `<oid> missing`. */
function readBlobs(output: Buffer | undefined): Map<string, Uint8Array> {
  const blobs = new Map<string, Uint8Array>();
  for (let at = 0; output !== undefined && at < output.length; ) {
    const end = output.indexOf(0x0a, at);
    const [oid = '', kind, size] = output.toString('latin1', at, end).split(' ');
    at = end + 1;
    if (kind !== 'blob') continue;
    blobs.set(oid, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return blobs;
}
