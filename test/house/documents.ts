import { posix } from 'node:path';
import type { SourceFile } from './imports.js';

const LINK = /\]\(([^)\s]+)\)/g;

/** Links in Markdown files that lead to nothing in the repository. */
export function checkLinks(files: readonly SourceFile[], exists: (path: string) => boolean): string[] {
  return files
    .filter(({ path }) => path.endsWith('.md') && !path.startsWith('test/'))
    .flatMap(({ path, text }) =>
      [...withoutCode(text).matchAll(LINK)].flatMap(([, link = '']) => {
        if (/^[a-z]+:/.test(link) || link.startsWith('#')) return [];
        const target = posix.join(posix.dirname(path), link.replace(/#.*$/, ''));
        return exists(target) ? [] : [`${path}: the link ${link} leads to nothing`];
      }),
    );
}

const withoutCode = (text: string): string => text.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '');

/** Names of packages that have no line of their own in the list, and names in the list that are no packages. */
export function checkDependencyList(list: string, packages: readonly string[]): string[] {
  const listed = [...list.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, name = '']) => name);
  return [
    ...packages.filter((name) => !listed.includes(name)).map((name) => `${name} is not explained`),
    ...listed.filter((name) => !packages.includes(name)).map((name) => `${name} is explained but not a dependency`),
  ];
}
