import { isSource, layerOf, localImports, type ModuleImport, type SourceFile, scanImports } from './imports.js';

/** These run before the first frame, when no schema is needed yet. */
const WITHOUT_SCHEMAS = new Set(['wire', 'engine', 'sdk', 'cli']);
const SCHEMA_DOOR = 'src/protocol/index.ts';
const PLAIN_DOOR = 'src/protocol/plain.ts';

const isZod = (specifier: string | undefined): boolean => specifier === 'zod' || specifier?.startsWith('zod/') === true;

/** Loads its module as soon as the file itself is loaded. */
const isEager = (found: ModuleImport): boolean => found.kind === 'static' && !found.typeOnly;

/** Whatever would load zod before a frame needs it. */
export function checkSchemas(files: readonly SourceFile[]): string[] {
  const sources = files.filter(({ path }) => isSource(path));
  return [...sources.flatMap(findEagerImports), ...findZodBehindPlainDoor(sources)];
}

function findEagerImports(file: SourceFile): string[] {
  const layer = layerOf(file.path) ?? '';
  const schemas = localImports(file)
    .filter((found) => WITHOUT_SCHEMAS.has(layer) && found.target === SCHEMA_DOOR && isEager(found))
    .map(
      ({ line }) =>
        `${file.path}:${line}: loads protocol/index.js; use \`import type\`, protocol/plain.js or \`await import()\``,
    );
  const zod = scanImports(file.text)
    .filter((found) => layer !== 'protocol' && isZod(found.specifier) && isEager(found))
    .map(({ line }) => `${file.path}:${line}: loads zod; use \`import type\` or \`await import('zod')\``);
  return [...schemas, ...zod];
}

/** Follows what plain.ts loads (erased imports load nothing) and reports each way to zod. */
function findZodBehindPlainDoor(sources: readonly SourceFile[]): string[] {
  const byPath = new Map(sources.map((file) => [file.path, file]));
  const seen = new Set<string>();
  const wrong: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    const file = byPath.get(path);
    if (file === undefined || seen.has(path)) return;
    seen.add(path);
    if (scanImports(file.text).some((found) => !found.typeOnly && isZod(found.specifier))) {
      wrong.push(`${PLAIN_DOOR}: reaches zod by ${[...way, path].join(' > ')}`);
    }
    for (const found of localImports(file)) if (!found.typeOnly) visit(found.target, [...way, path]);
  };
  visit(PLAIN_DOOR, []);
  return wrong;
}
