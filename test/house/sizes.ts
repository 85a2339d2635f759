import type { SourceFile } from './imports.js';

const CODE = /\.[cm]?[jt]s$/;
const GENERATED = /\.generated\.[cm]?[jt]s$/;

function limitOf(path: string): number | undefined {
  if (path === 'README.md') return 100;
  if (!CODE.test(path) || GENERATED.test(path)) return undefined;
  return path.startsWith('test/') ? 800 : 500;
}

/** Files that have outgrown one concept. */
export function checkSizes(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const limit = limitOf(path);
    const lines = countLines(text);
    return limit !== undefined && lines > limit ? [`${path}: ${lines} lines, at most ${limit}`] : [];
  });
}

function countLines(text: string): number {
  const breaks = text.split('\n').length - 1;
  return text === '' || text.endsWith('\n') ? breaks : breaks + 1;
}
