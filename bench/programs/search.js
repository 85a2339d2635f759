// Glob or Grep through a session, and ripgrep by hand over the same folder, in turn.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { rgPath } from '@vscode/ripgrep';

const [root, kind, folder] = process.argv.slice(2);
const { createEngine, createScriptedModel, systemClock } = await import(
  pathToFileURL(join(root, 'dist/engine/index.js')).href
);
const ROUNDS = 5;
// A hundredth of the files: both find them all, and Glob looks at the age of each.
const input = kind === 'Glob' ? { pattern: '**/*99.txt' } : { pattern: 'needle 1.*7$' };
const bareArgs =
  kind === 'Glob' ? ['--files', '--hidden', '--glob', '**/*99.txt', '--', './'] : ['-l', '--', 'needle 1.*7$', './'];

const bare = async () => {
  const started = performance.now();
  const { stdout } = await promisify(execFile)(rgPath, bareArgs, { cwd: folder, maxBuffer: 1 << 28 });
  if (stdout.length < 1_000) throw new Error('ripgrep found too little');
  return performance.now() - started;
};

let started = 0;
const own = [];
const step = () => ({ toolUse: { name: kind, input } });
const script = Array.from({ length: ROUNDS + 1 }, () => () => {
  started = performance.now();
  return step();
}).flatMap((call) => [call, 'done']);
const engine = createEngine({ clock: systemClock, provider: createScriptedModel(script) });
const session = await engine.open({ cwd: folder, env: { PATH: process.env.PATH }, configDir: join(folder, '..', 'c') });
let told;
session.attach({
  deliver(message) {
    if (message.type === 'user') {
      own.push(performance.now() - started);
      const [{ is_error: isError, content }] = message.message.content;
      if (isError || !/^\(\d+ .*of \d+/m.test(content)) throw new Error(`not all was found: ${content}`);
    }
    if (message.type === 'result') told.resolve();
  },
});
const floor = [];
for (let round = 0; round <= ROUNDS; round += 1) {
  floor.push(await bare());
  told = Promise.withResolvers();
  session.submit({ type: 'user', message: { role: 'user', content: 'go' }, parent_tool_use_id: null });
  await told.promise;
}
const middle = (numbers) => numbers.slice(1).toSorted((a, b) => a - b)[ROUNDS >> 1];
console.log(JSON.stringify({ ownMs: middle(own), bareMs: middle(floor) }));
await session.close();
process.exit();
