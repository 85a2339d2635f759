// A4: how long the built program takes to its first line of output, against Node doing nothing.
import { join } from 'node:path';
import { runNode } from './child.js';
import { interleave, medianOf } from './rounds.js';

const TIMES = 2;
const PLUS_MS = 60;

export async function measureFirstLine({ root, cwd, env }) {
  const program = join(root, 'bin/heddle.js');
  const args = [program, '-p', 'hi', '--output-format', 'stream-json', '--verbose'];
  const { nothing, heddle } = await interleave(
    {
      nothing: () => runNode(['-e', '0'], { cwd, env }),
      heddle: async () => {
        const result = await runNode(args, { cwd, env });
        const { type, subtype } = JSON.parse(result.stdout.slice(0, result.stdout.indexOf('\n')));
        if (`${type}/${subtype}` !== 'system/init') throw new Error(`The first line is ${type}/${subtype}.`);
        return result;
      },
    },
    { count: 11 },
  );
  const floor = medianOf(nothing, 'wallMs');
  const value = medianOf(heddle, 'firstLineMs');
  return [
    {
      what: 'A4 first line of heddle -p (floor: node -e 0)',
      unit: 'ms',
      value,
      floor,
      aim: `<= ${TIMES}x + ${PLUS_MS} ms`,
      met: value <= TIMES * floor + PLUS_MS,
    },
  ];
}
