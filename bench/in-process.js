// A1: how long an app waits for the first message of a query() in its own process. The model is scripted, no network.
import { runProgram } from './child.js';
import { interleave, medianOf } from './rounds.js';

const FIRST_MS = 50;
const SECOND_MS = 10;

export async function measureInProcess({ root, cwd, env }) {
  const { fresh } = await interleave({ fresh: () => runProgram('query-first.js', [root], { cwd, env }) }, { count: 9 });
  const first = medianOf(fresh, 'firstMs');
  const second = medianOf(fresh, 'secondMs');
  return [
    {
      what: 'A1 first message of query(), fresh process',
      unit: 'ms',
      value: first,
      aim: `<= ${FIRST_MS} ms`,
      met: first <= FIRST_MS,
    },
    {
      what: 'A1 first message of the second query()',
      unit: 'ms',
      value: second,
      aim: `<= ${SECOND_MS} ms`,
      met: second <= SECOND_MS,
    },
    { what: 'import of the package and first message', unit: 'ms', value: medianOf(fresh, 'importedMs') },
  ];
}
