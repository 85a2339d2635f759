import { posix } from 'node:path';
import { type Token, tokenize } from './tokens.js';

export interface SourceFile {
  /** Relative to the root of the repository, with forward slashes. */
  path: string;
  text: string;
}

export interface ModuleImport {
  /** Absent when an `import()` computes what it loads. */
  specifier?: string;
  /** `dynamic` is `import('...')`, in types too; everything else, re-exports included, is `static`. */
  kind: 'static' | 'dynamic';
  /** The whole statement is erased. `import { type X }` is not: it still loads the module. */
  typeOnly: boolean;
  /** What is taken, by the exporter's names; `*` for a namespace. Empty for `import()` and for side effects. */
  names: string[];
  line: number;
}

const isMark = (token: Token | undefined, text: string): boolean => token?.kind === 'mark' && token.text === text;
const isWord = (token: Token | undefined, text: string): boolean => token?.kind === 'word' && token.text === text;

/** Every module that a file names, in order. */
export function scanImports(text: string): ModuleImport[] {
  const tokens = tokenize(text);
  const found: ModuleImport[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token.kind !== 'word' || isMark(tokens[at - 1], '.')) continue;
    const one =
      token.text === 'import' ? readImport(tokens, at) : token.text === 'export' ? readExport(tokens, at) : undefined;
    if (one) found.push({ ...one, line: token.line });
  }
  return found;
}

type Unplaced = Omit<ModuleImport, 'line'>;

function readImport(tokens: readonly Token[], at: number): Unplaced | undefined {
  const next = tokens[at + 1];
  if (isMark(next, '(')) return readDynamic(tokens, at + 2);
  if (next?.kind === 'string') return { specifier: next.text, kind: 'static', typeOnly: false, names: [] };
  return readClause(tokens, at + 1);
}

function readDynamic(tokens: readonly Token[], at: number): Unplaced {
  const [argument, after] = [tokens[at], tokens[at + 1]];
  const literal = argument?.kind === 'string' || argument?.kind === 'template';
  const whole = isMark(after, ')') || isMark(after, ',');
  return { specifier: literal && whole ? argument.text : undefined, kind: 'dynamic', typeOnly: false, names: [] };
}

function readExport(tokens: readonly Token[], at: number): Unplaced | undefined {
  const start = isWord(tokens[at + 1], 'type') ? at + 2 : at + 1;
  if (!isMark(tokens[start], '{') && !isMark(tokens[start], '*')) return undefined;
  return readClause(tokens, at + 1);
}

/** `type`? then names in braces, a namespace or a default, then `from '...'`; undefined when there is no `from`. */
function readClause(tokens: readonly Token[], start: number): Unplaced | undefined {
  const afterType = tokens[start + 1];
  const typeOnly =
    isWord(tokens[start], 'type') &&
    !isMark(afterType, ',') &&
    !(isWord(afterType, 'from') && tokens[start + 2]?.kind === 'string');
  const names: string[] = [];
  let depth = 0;
  for (let at = typeOnly ? start + 1 : start; at < tokens.length; at += 1) {
    const token = tokens[at];
    const specifier = tokens[at + 1];
    if (depth === 0 && isWord(token, 'from') && specifier?.kind === 'string') {
      return { specifier: specifier.text, kind: 'static', typeOnly, names };
    }
    if (isMark(token, '{')) depth += 1;
    else if (isMark(token, '}')) depth -= 1;
    else if (isMark(token, '*')) names.push('*');
    else if (token?.kind === 'word') {
      if (isNameInClause(tokens, at)) names.push(depth === 0 ? 'default' : token.text);
    } else if (token?.kind !== 'string' && !isMark(token, ',')) return undefined;
  }
  return undefined;
}

/** Leaves out `as`, the alias behind it, and the `type` before a name. */
function isNameInClause(tokens: readonly Token[], at: number): boolean {
  if (isWord(tokens[at - 1], 'as') || isWord(tokens[at], 'as')) return false;
  const next = tokens[at + 1];
  return !isWord(tokens[at], 'type') || next?.kind !== 'word' || isWord(next, 'as') || isWord(next, 'from');
}

/** The repository path behind a relative specifier; undefined for packages and built-ins. */
export function resolveImport(from: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  return posix.join(posix.dirname(from), specifier).replace(/\.js$/, '.ts');
}

/** A file's imports of files in the repository, each with the path it leads to. */
export function localImports(file: SourceFile): Array<ModuleImport & { target: string }> {
  return scanImports(file.text).flatMap((found) => {
    const target = found.specifier === undefined ? undefined : resolveImport(file.path, found.specifier);
    return target === undefined ? [] : [{ ...found, target }];
  });
}

export const isSource = (path: string): boolean => path.startsWith('src/') && path.endsWith('.ts');

/** `src/wire/peer.ts` is of layer `wire`. A file directly in `src/` has none. */
export const layerOf = (path: string): string | undefined => /^src\/([^/]+)\//.exec(path)?.[1];
