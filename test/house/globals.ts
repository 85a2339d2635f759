import { isSource, layerOf, type SourceFile, scanImports } from './imports.js';
import { type Token, tokenize } from './tokens.js';

/** A thousand sessions share one process, so only these may look at it or change it. */
const mayTouchProcess = (path: string): boolean => path.startsWith('src/cli/') || path === 'src/sdk/ambient.ts';
const mayPrint = (path: string): boolean => path.startsWith('src/cli/');
const mayWriteStdout = (path: string): boolean => path === 'src/wire/stdio.ts' || mayPrint(path);

const AMBIENT = new Set(
  'env cwd chdir exit exitCode on once addListener prependListener prependOnceListener loadEnvFile'.split(' '),
);
const NODE_GLOBALS = new Set(['process', 'Buffer', 'require', '__dirname', '__filename', 'setImmediate']);

/** Process-wide state and output where library code must have none. */
export function checkGlobals(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => isSource(path))
    .flatMap((file) => {
      const tokens = tokenize(file.text);
      const report = ({ what, line }: Use): string => `${file.path}:${line}: ${what}`;
      const uses = [
        ...(mayTouchProcess(file.path) ? [] : [...findAmbient(tokens), ...findAmbientImports(file.text)]),
        ...(mayPrint(file.path) ? [] : findPrints(tokens)),
        ...(mayTouchProcess(file.path) ? [] : findStderr(tokens)),
        ...(mayWriteStdout(file.path) ? [] : findStdout(tokens)),
        ...(layerOf(file.path) === 'protocol' ? findNodeGlobals(tokens) : []),
      ];
      return uses.map(report);
    });
}

interface Use {
  what: string;
  line: number;
}

/** Each access to a member of a global: `name.member`, `name?.member`, `name['member']` and `{ member } = name`. */
function members(tokens: readonly Token[], name: string): Array<{ member: string; line: number }> {
  return tokens.flatMap((token, at) => {
    if (token.kind !== 'word' || token.text !== name || isProperty(tokens, at)) return [];
    const next = tokens[at + 1]?.text === '?' && tokens[at + 2]?.text === '.' ? at + 2 : at + 1;
    const access = tokens[next];
    const member = tokens[next + 1];
    if (access?.kind === 'mark' && (access.text === '.' || access.text === '[') && member !== undefined) {
      return [{ member: member.text, line: token.line }];
    }
    return destructured(tokens, at).map((taken) => ({ member: taken, line: token.line }));
  });
}

/** `x.process` is not the global, but `globalThis.process` is. */
function isProperty(tokens: readonly Token[], at: number): boolean {
  return tokens[at - 1]?.text === '.' && tokens[at - 2]?.text !== 'globalThis';
}

function destructured(tokens: readonly Token[], at: number): string[] {
  if (tokens[at - 1]?.text !== '=' || tokens[at - 2]?.text !== '}') return [];
  const names: string[] = [];
  for (let i = at - 3; i >= 0 && tokens[i]?.text !== '{'; i -= 1) {
    const token = tokens[i];
    if (token?.kind === 'word') names.unshift(token.text);
  }
  return names;
}

function findAmbient(tokens: readonly Token[]): Use[] {
  const ofProcess = members(tokens, 'process')
    .filter(({ member }) => AMBIENT.has(member))
    .map(({ member, line }) => ({ what: `process.${member} outside the composition roots`, line }));
  const home = tokens.flatMap((token, at) => {
    const isUse = tokens[at + 1]?.text === '(' || (tokens[at - 1]?.text === '.' && tokens[at - 2]?.text === 'os');
    if (token.kind !== 'word' || token.text !== 'homedir' || !isUse) return [];
    return [{ what: 'os.homedir outside the composition roots', line: token.line }];
  });
  return [...ofProcess, ...home];
}

function findAmbientImports(text: string): Use[] {
  return scanImports(text).flatMap(({ specifier, names, typeOnly, line }) => {
    if (typeOnly) return [];
    if (specifier === 'node:process') return [{ what: 'node:process imported; use the global', line }];
    if (specifier === 'node:os' && names.includes('homedir')) {
      return [{ what: 'os.homedir outside the composition roots', line }];
    }
    return [];
  });
}

function findPrints(tokens: readonly Token[]): Use[] {
  return members(tokens, 'console').map(({ member, line }) => ({ what: `console.${member} in library code`, line }));
}

function findStderr(tokens: readonly Token[]): Use[] {
  return members(tokens, 'process')
    .filter(({ member }) => member === 'stderr')
    .map(({ line }) => ({ what: 'process.stderr in library code', line }));
}

function findStdout(tokens: readonly Token[]): Use[] {
  return members(tokens, 'process')
    .filter(({ member }) => member === 'stdout')
    .map(({ line }) => ({ what: 'process.stdout outside wire/stdio.ts', line }));
}

function findNodeGlobals(tokens: readonly Token[]): Use[] {
  return tokens.flatMap((token, at) => {
    if (token.kind !== 'word' || !NODE_GLOBALS.has(token.text) || isProperty(tokens, at)) return [];
    if (tokens[at + 1]?.text === ':' || tokens[at + 1]?.text === '?') return [];
    return [{ what: `${token.text} does not exist in a browser`, line: token.line }];
  });
}
