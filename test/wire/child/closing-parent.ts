/** Starts a child that ignores TERM and outlives its parent, closes it, and has nothing more to do. */
import { systemClock } from '../../../src/protocol/plain.js';
import { spawnEngineProcess } from '../../../src/wire/index.js';

const script = `
  const parent = process.ppid;
  process.on('SIGTERM', () => {});
  setInterval(() => {
    if (process.ppid === parent) return;
    require('fs').writeFileSync(process.argv[1], 'the parent has exited');
    process.exit();
  }, 10);
  console.log('{"type":"ready"}');`;

const [, , marker = ''] = process.argv;
const channel = spawnEngineProcess({
  command: process.execPath,
  args: ['-e', script, marker],
  env: {},
  clock: systemClock,
});
channel.receive({ frame: () => channel.close(), end: () => {} });
