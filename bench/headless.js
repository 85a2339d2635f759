// One short answer from the built program over HTTP, against a script that fetches the same answer and parses it.
import { join } from 'node:path';
import { runNode } from './child.js';
import { interleave, medianOf } from './rounds.js';

const CPU_TIMES = 1.6;
const MEMORY_MB = 80;

export async function measureHeadless({ root, cwd, env }) {
  const bare = join(import.meta.dirname, 'programs/fetch-answer.js');
  const { fetch, heddle } = await interleave(
    {
      fetch: () => answerOf(runNode([bare], { cwd, env })),
      heddle: () => answerOf(runNode([join(root, 'bin/heddle.js'), '-p', 'hi'], { cwd, env })),
    },
    { count: 15 },
  );
  const [floor, value] = [medianOf(fetch, 'cpuMs'), medianOf(heddle, 'cpuMs')];
  const [floorMb, valueMb] = [medianOf(fetch, 'maxRssMb'), medianOf(heddle, 'maxRssMb')];
  return [
    {
      what: 'CPU of heddle -p "hi" (floor: bare fetch)',
      unit: 'ms',
      value,
      floor,
      aim: `<= ${CPU_TIMES}x`,
      met: value <= CPU_TIMES * floor,
    },
    {
      what: 'most memory of heddle -p "hi"',
      unit: 'MB',
      value: valueMb,
      floor: floorMb,
      aim: `<= ${MEMORY_MB} MB`,
      met: valueMb <= MEMORY_MB,
    },
  ];
}

async function answerOf(running) {
  const result = await running;
  if (result.stdout.trim() !== 'Hello there.') throw new Error(`The answer was ${JSON.stringify(result.stdout)}.`);
  return result;
}
