import { isSource, layerOf, localImports, type SourceFile, scanImports } from './imports.js';

/** What each layer may import. Nobody imports the composition roots: cli, acp, server and fleet. */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  wire: ['protocol'],
  engine: ['protocol'],
  sdk: ['protocol', 'wire'],
  testing: ['protocol', 'wire', 'engine', 'sdk'],
  cli: ['protocol', 'wire', 'engine', 'sdk'],
  acp: ['protocol', 'wire', 'sdk'],
  server: ['protocol', 'wire', 'engine', 'sdk'],
  fleet: ['protocol', 'wire', 'engine', 'sdk'],
};

/** The two files where a layer meets its neighbour. */
const BRIDGES: Readonly<Record<string, string>> = {
  'src/engine/host.ts': 'wire',
  'src/sdk/in-process.ts': 'engine',
};

/** Doors beside `index.ts` that load less. */
const DOORS = new Set(['src/protocol/plain.ts', 'src/engine/core.ts']);

const isDoor = (path: string): boolean => /^src\/[^/]+\/index\.ts$/.test(path) || DOORS.has(path);

/** An import of a layer that is not below, or past a layer's door. Types count. */
export function checkLayers(files: readonly SourceFile[]): string[] {
  return files.filter(({ path }) => isSource(path)).flatMap(checkFile);
}

function checkFile(file: SourceFile): string[] {
  const layer = layerOf(file.path);
  const below = layer === undefined ? undefined : BELOW[layer];
  if (layer === undefined || below === undefined) return [`${file.path}: belongs to no layer`];
  const wrong: string[] = [];
  for (const { target, line } of localImports(file)) {
    const other = layerOf(target);
    if (other === layer) continue;
    const place = `${file.path}:${line}`;
    if (other === undefined) wrong.push(`${place}: imports ${target}, which is in no layer`);
    else if (!below.includes(other) && BRIDGES[file.path] !== other) {
      wrong.push(`${place}: ${layer} must not import ${other} (${target})`);
    } else if (!isDoor(target)) wrong.push(`${place}: imports ${target} past the door of ${other}; use its index.js`);
  }
  return wrong;
}

/** A package that is not a dependency, a built-in without `node:`, or an `import()` that nobody can check. */
export function checkPackages(files: readonly SourceFile[], dependencies: readonly string[]): string[] {
  return files
    .filter(({ path }) => isSource(path))
    .flatMap(({ path, text }) =>
      scanImports(text).flatMap(({ specifier, line }) => {
        if (specifier === undefined) return [`${path}:${line}: import() must name its module literally`];
        if (specifier.startsWith('.')) return [];
        if (layerOf(path) === 'protocol') {
          return packageOf(specifier) === 'zod'
            ? []
            : [`${path}:${line}: protocol imports ${specifier}; only zod is allowed`];
        }
        if (specifier.startsWith('node:') || dependencies.includes(packageOf(specifier))) return [];
        return [`${path}:${line}: ${specifier} is not a dependency of this package`];
      }),
    );
}

function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}
