import { isSource, localImports, type SourceFile } from './imports.js';

/** Import cycles, with types and `import()` counted: each as the way around, once, from its alphabetically first file. */
export function checkCycles(files: readonly SourceFile[]): string[] {
  const graph = new Map(
    files
      .filter(({ path }) => isSource(path))
      .map((file) => [file.path, [...new Set(localImports(file).map(({ target }) => target))].toSorted()]),
  );
  const found: string[] = [];
  const inCycle = new Set<string>();
  for (const start of [...graph.keys()].toSorted()) {
    if (inCycle.has(start)) continue;
    const way = findWayBack(graph, start);
    if (way === undefined) continue;
    for (const path of way) inCycle.add(path);
    found.push(`import cycle: ${[...way, start].join(' > ')}`);
  }
  return found;
}

/** The shortest way from a file back to itself. */
function findWayBack(graph: ReadonlyMap<string, readonly string[]>, start: string): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    for (const target of graph.get(path) ?? []) {
      if (target === start) return trace(cameFrom, start, path);
      if (cameFrom.has(target) || !graph.has(target)) continue;
      cameFrom.set(target, path);
      queue.push(target);
    }
  }
  return undefined;
}

function trace(cameFrom: ReadonlyMap<string, string>, start: string, last: string): string[] {
  const way: string[] = [];
  for (let path: string | undefined = last; path !== undefined && path !== start; path = cameFrom.get(path)) {
    way.unshift(path);
  }
  return [start, ...way];
}
