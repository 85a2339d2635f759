/** Files that commands of settings name: whoever changes the script of a hook changes what the hook says. */
import { statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Settings } from '../../protocol/index.js';
import { isInside } from './path.js';
import { readCommand } from './shell/reader.js';

/** A shell line, or the words of a program that is started without a shell. */
export type Command = string | readonly string[];

export interface CommandPlaces {
  /** Where commands may start. */
  folders: readonly string[];
  projectRoot: string;
  home: string;
  /** Nothing outside of these is told: it is asked about anyway. */
  roots: readonly string[];
}

/** The commands of hooks, as settings and definitions of agents have them. */
export const commandsOfHooks = (hooks: Settings['hooks'] = {}): string[] =>
  Object.values(hooks).flatMap((matchers) =>
    matchers.flatMap((matcher) => matcher.hooks.flatMap(({ command }) => (command === undefined ? [] : [command]))),
  );

/**
 * What is there of what they name, and the programs that they would start once these are there. What a script reads or
 * starts in its turn is not known.
 */
export function filesNamedBy(commands: readonly Command[], places: CommandPlaces): string[] {
  const found = new Set<string>();
  for (const command of commands) {
    for (const folder of places.folders) {
      for (const { words, folders } of wordsOf(command, { ...places, folder })) {
        words.forEach((word, at) => {
          for (const path of pathsOf(word, folders, places.home)) {
            if (!places.roots.some((root) => isInside(root, path))) continue;
            if (MANIFEST.test(basename(path))) continue;
            const kind = kindOf(path);
            if (kind === 'file' || (kind === 'absent' && at === 0 && word.includes('/'))) found.add(path);
          }
        });
      }
    }
  }
  return [...found];
}

/** Work on a project changes these every day: whoever looks at one expects that. */
const MANIFEST =
  /^(?:package(?:-lock)?\.json|pnpm-lock\.yaml|yarn\.lock|tsconfig(?:\.[\w-]+)?\.json|pyproject\.toml|requirements[\w-]*\.txt|Cargo\.(?:toml|lock)|go\.(?:mod|sum)|Gemfile(?:\.lock)?|composer\.(?:json|lock)|(?:CHANGELOG|README)\.md)$/;

interface Named {
  words: readonly string[];
  folders: readonly string[];
}

function wordsOf(command: Command, { folder, projectRoot, home }: CommandPlaces & { folder: string }): Named[] {
  if (typeof command !== 'string') return [{ words: command, folders: [folder] }];
  const root = `'${projectRoot.replaceAll("'", String.raw`'\''`)}'`;
  const line = `export CLAUDE_PROJECT_DIR=${root} HEDDLE_PROJECT_DIR=${root}\n${command}`;
  const { segments, redirections } = readCommand(line, { cwd: folder, home });
  return [
    ...segments.map(({ words, folders = [folder] }) => ({ words: words.map(({ value }) => value), folders })),
    // What is read from is not what is started.
    ...redirections.map(({ target, folders = [folder] }) => ({ words: ['', target?.value ?? ''], folders })),
  ];
}

/** `./a`, `--config=./a`. */
const pathsOf = (word: string, folders: readonly string[], home: string): string[] =>
  [word, /^-[^=]*=(.+)$/.exec(word)?.[1] ?? ''].flatMap((path) => {
    if (path === '' || path.includes('\0')) return [];
    if (path.startsWith('~/')) return [join(home, path.slice(1))];
    return folders.map((folder) => resolve(folder, path));
  });

/** What cannot be looked at counts as something else. */
function kindOf(path: string): 'file' | 'other' | 'absent' {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? 'absent' : stats.isFile() ? 'file' : 'other';
  } catch {
    return 'other';
  }
}
