// A2: what sessions that have answered and now wait for more cost an app that keeps them.
import { runProgram } from './child.js';
import { interleave, medianOf } from './rounds.js';

const SESSIONS = 100;
const EACH_MB = 2;

export async function measureIdleSessions({ root, cwd, env }) {
  const run = () => runProgram('query-idle.js', [root, String(SESSIONS)], { cwd, env, flags: ['--expose-gc'] });
  const { idle } = await interleave({ idle: run }, { count: 3 });
  const value = medianOf(idle, 'eachMb');
  return [
    {
      what: `A2 memory of each of ${SESSIONS} idle sessions`,
      unit: 'MB',
      value,
      aim: `<= ${EACH_MB} MB`,
      met: value <= EACH_MB,
    },
  ];
}
