// A5: what 20,000 deltas with partial messages cost on their way to the consumer of an in-process query(), against
// reading the same stream with bare fetch and parsing the JSON in it.
import { askForDeltas } from './api.js';
import { runProgram } from './child.js';
import { interleave, medianOf } from './rounds.js';

const DELTAS = 20_000;
const CPU_TIMES = 2;

export async function measureStreaming({ root, cwd, env }) {
  const rows = [];
  for (const eventsPerWrite of [1, 64]) {
    const prompt = askForDeltas(DELTAS, eventsPerWrite);
    const { fetch, query } = await interleave(
      {
        fetch: () => countedOf(runProgram('fetch-stream.js', [prompt], { cwd, env })),
        query: () => countedOf(runProgram('query-stream.js', [prompt, root], { cwd, env })),
      },
      { count: 7 },
    );
    const [floor, value] = [medianOf(fetch, 'cpuMs'), medianOf(query, 'cpuMs')];
    rows.push({
      what: `A5 CPU of ${DELTAS} deltas, ${eventsPerWrite} per write (floor: fetch + JSON.parse)`,
      unit: 'ms',
      value,
      floor,
      aim: `<= ${CPU_TIMES}x`,
      met: value <= CPU_TIMES * floor,
    });
  }
  return rows;
}

async function countedOf(running) {
  const result = await running;
  if (result.deltas !== DELTAS) throw new Error(`${result.deltas} deltas came instead of ${DELTAS}.`);
  return result;
}
