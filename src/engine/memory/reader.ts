/** Reads files of instructions and what they import: each once, and never more than the bounds. */
import { createSha256 } from '../workspace/sha256.js';
import { dirname, resolve } from 'node:path';
import type { Workspace } from '../../protocol/index.js';
import type { DefinitionProblem } from '../definitions/definition.js';
import { type Mention, looksLikePath, parseMentions, spellingsOf } from '../mentions/parse.js';
import { compilePattern } from '../tools/glob-pattern.js';
import { showSize } from '../tools/ordinary-file.js';
import { isInside } from '../tools/paths.js';
import { decodeText, isBinary, showText } from '../tools/text-file.js';
import { readWhole, resolveReal, statFile } from '../workspace/files.js';
import type { MemoryPlace, MemoryScope } from './find.js';

export interface MemoryFile {
  /** As it was found; links may lead elsewhere. */
  path: string;
  /** Links resolved: one file is read once. */
  real: string;
  scope: MemoryScope;
  content: string;
  /** The file that names it with an @. */
  importedBy?: string;
  /** Of the file on the disk. */
  bytes: number;
}

export interface MemoryReaderOptions {
  /** Reads files of the project; those of policy and of the user are the host's own. */
  workspace: Pick<Workspace, 'readFile' | 'stat' | 'realPath'>;
  /** Folders whose files may be imported without a question, links resolved: the project, the main work tree. */
  roots: readonly string[];
  home: string;
  /** Patterns for absolute paths of files that are not read; policy cannot be left out. */
  excludes?: readonly string[];
  /** What is read already, links resolved. */
  known?: Iterable<string>;
  /**
   * A file of the project leads outside of it, by an import or a link. `path` has its links resolved. Absent or rejected:
   * it may not.
   */
  mayImport?(path: string, about: { from: string; scope: MemoryScope }): Promise<boolean>;
  /** Whether the rules let it be read (a deny for Read holds here too). Absent: they do. Rejected: they do not. */
  mayRead?(path: string): Promise<boolean>;
}

export interface ReadMemory {
  files: MemoryFile[];
  problems: DefinitionProblem[];
}

export interface MemoryReader {
  /** Never rejects. */
  read(places: readonly MemoryPlace[]): Promise<ReadMemory>;
}

export const MAX_FILE_BYTES = 256 * 1024;
export const MAX_ALL_BYTES = 1024 * 1024;
/** Larger ones are no texts that people write, and are not even opened. */
const MAX_READ_BYTES = 16 * 1024 * 1024;
export const MAX_IMPORT_DEPTH = 5;
const MAX_FILES = 200;
/** Files that are looked for because something imports them. */
const MAX_IMPORTS = 500;
const MAX_PROBLEMS = 50;
/** About 10,000 tokens of every request. */
const LONG_BYTES = 40 * 1024;

interface Visit extends MemoryPlace {
  depth: number;
  importedBy?: string;
  /** Where the import stands, for problems. */
  line: number;
}

export function createMemoryReader(options: MemoryReaderOptions): MemoryReader {
  const isExcluded = compileExcludes(options.excludes ?? []);
  const known = new Set(options.known);
  let contents = new Set<string>();
  let left = MAX_ALL_BYTES;
  let imports = MAX_IMPORTS;
  let count = MAX_FILES;

  const read = async (places: readonly MemoryPlace[]): Promise<ReadMemory> => {
    const files: MemoryFile[] = [];
    const problems: DefinitionProblem[] = [];
    const tell = (
      severity: DefinitionProblem['severity'],
      { file, line, text }: Omit<DefinitionProblem, 'severity'>,
    ) => {
      const last = { severity, file, line: 0, text: 'There are more problems than are listed here.' };
      if (problems.length < MAX_PROBLEMS) problems.push({ severity, file, line, text });
      else if (problems.length === MAX_PROBLEMS) problems.push(last);
    };

    const visit = async (at: Visit): Promise<void> => {
      const { path, scope, importedBy, line } = at;
      const place = { file: importedBy ?? path, line };
      const refuse = (text: string): void =>
        tell('warning', { ...place, text: importedBy === undefined ? text : `The import ${path}: ${text}` });
      const disk = diskOf(scope, options);
      const real = await disk.realPath(path);
      if (known.has(real) || (scope !== 'managed' && (isExcluded(path) || isExcluded(real)))) return;
      if (count <= 0) return refuse(`It is left out: more than ${MAX_FILES} files of instructions were read.`);
      const isForeign = isOfProject(scope) && !options.roots.some((root) => isInside(root, real));
      if (isForeign && !(await mayLeave(real, at, options))) {
        return refuse(
          `It leads outside of the project, to ${real}, and was not read: Read may not read that without a question. ` +
            'A rule that allows Read there, or an additional directory, opens it where no rule asks or denies.',
        );
      }
      // What policy says is not the session's to leave out; what it imports is read like any other file.
      const isPolicy = scope === 'managed' && importedBy === undefined;
      if (!isPolicy && !(await ask(options.mayRead?.(real), true))) {
        return refuse('It was not read: Read may not read it here, because of a rule, the mode, or disallowedTools.');
      }
      known.add(real);
      const bytes = await disk.readFile(real, { maxBytes: MAX_READ_BYTES, exact: true });
      if (isBinary(bytes)) return refuse('It was not read: it is a binary file.');
      const whole = showText(decodeText(bytes));
      const hash = createSha256().update(whole).digest('base64url');
      if (contents.has(hash) || whole.trim() === '') return;
      contents.add(hash);
      const { head, used, size } = cutBytes(whole, Math.min(MAX_FILE_BYTES, left));
      const isCut = used < size;
      left -= used;
      count -= 1;
      if (isCut) tell('warning', { file: path, line: 0, text: describeCut({ used, size }) });
      else if (size > LONG_BYTES) tell('warning', { file: path, line: 0, text: describeLong(size) });
      const content = isCut
        ? `${head}\n[Cut: the file has ${showSize(size)}. Use Read to see the rest of ${path}]`
        : head;
      files.push({ path, real, scope, content, ...(importedBy !== undefined && { importedBy }), bytes: bytes.length });
      await visitImports(head, { ...at, real });
    };

    const visitImports = async (text: string, from: Visit & { real: string }): Promise<void> => {
      let [line, seen] = [1, 0];
      for (const mention of parseMentions(text)) {
        line += countLineEnds(text.slice(seen, mention.start));
        seen = mention.start;
        const at = line;
        const warn = (problem: string): void => tell('warning', { file: from.path, line: at, text: problem });
        if (imports <= 0) return warn(`More than ${MAX_IMPORTS} imports: this one and those after it are left out.`);
        imports -= 1;
        const path = await findImport(mention, { from, options });
        if (path === undefined) {
          if (looksLikePath(mention)) warn(`The import @${mention.target} is not there.`);
        } else if (from.depth < MAX_IMPORT_DEPTH) {
          await attempt({ path, scope: from.scope, depth: from.depth + 1, importedBy: from.path, line: at });
        } else if (!known.has(await diskOf(from.scope, options).realPath(path))) {
          warn(`The import ${path} is left out: imports go ${MAX_IMPORT_DEPTH} files deep.`);
        }
      }
    };

    const attempt = (at: Visit): Promise<void> =>
      visit(at).catch((error: unknown) => {
        // It was there a moment ago, and nobody has named it.
        if (at.importedBy === undefined && codeOf(error) === 'ENOENT') return;
        const text = `${at.importedBy === undefined ? '' : `The import ${at.path}: `}It cannot be read: ${explain(error)}.`;
        tell('error', { file: at.importedBy ?? at.path, line: at.line, text });
      });

    for (const place of places) await attempt({ ...place, depth: 0, line: 0 });
    return { files, problems };
  };

  return {
    read,
  };
}

const isOfProject = (scope: MemoryScope): boolean => scope === 'project' || scope === 'local';

const HOST: MemoryReaderOptions['workspace'] = {
  readFile: readWhole,
  stat: statFile,
  realPath: async (path) => resolveReal(path),
};

const diskOf = (scope: MemoryScope, { workspace }: MemoryReaderOptions): MemoryReaderOptions['workspace'] =>
  isOfProject(scope) ? workspace : HOST;

const ask = async (question: Promise<boolean> | undefined, otherwise: boolean): Promise<boolean> =>
  question === undefined ? otherwise : question.catch(() => false);

const mayLeave = (real: string, { path, scope, importedBy }: Visit, { mayImport }: MemoryReaderOptions) =>
  ask(mayImport?.(real, { from: importedBy ?? path, scope }), false);

/** Undefined when there is no such file; names of people and packages are mentioned in the same way. */
async function findImport(
  mention: Mention,
  { from, options }: { from: Visit & { real: string }; options: MemoryReaderOptions },
): Promise<string | undefined> {
  // Who links to a file from elsewhere may mean files beside the link or beside the file.
  const folders = [...new Set([dirname(from.path), dirname(from.real)])];
  for (const spelling of spellingsOf(mention)) {
    if (spelling.includes('\0') || /^(?:\\\\|\/\/)/.test(spelling)) continue;
    const path = spelling.replace(/#.*$/, '');
    for (const folder of folders) {
      const full = path.startsWith('~/') ? resolve(options.home, path.slice(2)) : resolve(folder, path);
      const stat = await diskOf(from.scope, options)
        .stat(full)
        .catch(() => undefined);
      if (stat !== undefined && stat.kind !== 'directory') return full;
    }
  }
  return undefined;
}

/** Cuts after a line where there is one. */
function cutBytes(text: string, most: number): { head: string; used: number; size: number } {
  const bytes = Buffer.from(text);
  const size = bytes.length;
  if (size <= most) return { head: text, used: size, size };
  const line = bytes.lastIndexOf(0x0a, Math.max(0, most - 1));
  const head = line === -1 ? wholeCharacters(bytes.subarray(0, most)) : bytes.toString('utf8', 0, line);
  return { head, used: Buffer.byteLength(head), size };
}

const describeCut = ({ used, size }: { used: number; size: number }): string =>
  `It is cut after ${showSize(used)} of ${showSize(size)}: a file may have ${showSize(MAX_FILE_BYTES)}, all together ` +
  `${showSize(MAX_ALL_BYTES)}.`;

const describeLong = (size: number): string =>
  `It has ${showSize(size)}, for which every request pays. Make it shorter.`;

const countLineEnds = (text: string): number => text.split('\n').length - 1;

const wholeCharacters = (bytes: Buffer): string => bytes.toString('utf8').replace(/\ufffd+$/, '');

function compileExcludes(patterns: readonly string[]): (path: string) => boolean {
  const tests = patterns.flatMap((pattern) => {
    try {
      return [compilePattern(pattern)];
    } catch {
      return [];
    }
  });
  return (path) => tests.some((matches) => matches(path.replace(/^\//, '')));
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission is denied',
  EFBIG: `it is larger than ${showSize(MAX_READ_BYTES)}`,
  EINVAL: 'it is no ordinary file',
  ELOOP: 'its links lead in a circle',
};

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

const explain = (error: unknown): string =>
  WORDS[codeOf(error)] ?? (error instanceof Error ? error.message : String(error));
