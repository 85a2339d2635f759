// What an app pays for the package: its import, and sixteen queries at once in one process over HTTP.
import { runProgram } from './child.js';
import { interleave, medianOf } from './rounds.js';

const IMPORT_MS = 40;
const QUERIES = 16;
const SECONDS = 0.3;
const MEMORY_MB = 130;

export async function measurePackage({ root, cwd, env }) {
  const { imports, many } = await interleave(
    {
      imports: () => runProgram('import-package.js', [root], { cwd, env }),
      many: () => runProgram('query-many.js', [root, String(QUERIES)], { cwd, env }),
    },
    { count: 7 },
  );
  const cpuMs = medianOf(imports, 'cpuMs');
  const seconds = medianOf(many, 'seconds');
  const memoryMb = medianOf(many, 'memoryMb');
  return [
    {
      what: 'CPU of importing the package',
      unit: 'ms',
      value: cpuMs,
      aim: `<= ${IMPORT_MS} ms`,
      met: cpuMs <= IMPORT_MS,
    },
    {
      what: `${QUERIES} queries at once, import included`,
      unit: 's',
      value: seconds,
      aim: `<= ${SECONDS} s`,
      met: seconds <= SECONDS,
    },
    {
      what: `most memory of ${QUERIES} queries at once`,
      unit: 'MB',
      value: memoryMb,
      aim: `<= ${MEMORY_MB} MB`,
      met: memoryMb <= MEMORY_MB,
    },
  ];
}
