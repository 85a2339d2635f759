// What 20,000 deltas cost the CLI that an SDK drives: the frames of the protocol on stdin and stdout.
import { join } from 'node:path';
import { askForDeltas } from './api.js';
import { runNode } from './child.js';
import { interleave, medianOf } from './rounds.js';

const DELTAS = 20_000;
const CPU_MS = 800;

export async function measureSubprocess({ root, cwd, env }) {
  const flags = ['--output-format', 'stream-json', '--verbose', '--include-partial-messages'];
  const prompt = askForDeltas(DELTAS, 64);
  const run = async () => {
    const { stdout, cpuMs } = await runNode([join(root, 'bin/heddle.js'), '-p', prompt, ...flags], { cwd, env });
    // A reader that is slower than the model finds neighbouring deltas joined: what counts is that no text is lost.
    const deltas = stdout.split('\n').filter((line) => line.includes('"content_block_delta"'));
    const words =
      deltas
        .map((line) => JSON.parse(line).event.delta.text)
        .join('')
        .split('a word ').length - 1;
    if (words !== DELTAS) throw new Error(`The text of ${words} deltas came instead of ${DELTAS}.`);
    return { cpuMs };
  };
  const { cli } = await interleave({ cli: run }, { count: 5 });
  const value = medianOf(cli, 'cpuMs');
  return [
    {
      what: `CPU of ${DELTAS} deltas through the CLI`,
      unit: 'ms',
      value,
      aim: `<= ${CPU_MS} ms`,
      met: value <= CPU_MS,
    },
  ];
}
