// A conversation that goes on: by its id, by its folder, and as a session that you send to.
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Options, query, unstable_v2_resumeSession } from 'heddle';
import { createScriptedModel, type ScriptStep } from 'heddle/testing';

const folder = mkdtempSync(join(tmpdir(), 'heddle-example-'));

// This model only counts what it was sent, which shows what a session brings along.
const count: ScriptStep = ({ body }) =>
  `That was message ${body.messages.filter(({ role }) => role === 'user').length} of this conversation.`;
const options: Options & { model: string } = {
  model: 'sonnet',
  cwd: folder,
  env: { ...process.env, HEDDLE_CONFIG_DIR: folder },
  heddle: { provider: createScriptedModel([count, count, count, count, count]) },
};

async function ask(prompt: string, extra: Partial<Options> = {}): Promise<string> {
  let id = '';
  for await (const message of query({ prompt, options: { ...options, ...extra } })) {
    if (message.type !== 'result' || message.subtype !== 'success') continue;
    console.log(`${prompt.padEnd(22)} ${message.result}`);
    id = message.session_id;
  }
  return id;
}

const first = await ask('The warp is blue.');
const resumed = await ask('The weft is white.', { resume: first });
const continued = await ask('Which colours?', { continue: true });
console.log(`one session: ${first === resumed && first === continued}`);

const session = unstable_v2_resumeSession(first, options);
for (const prompt of ['And the selvedge?', 'Thank you.']) {
  await session.send(prompt);
  for await (const message of session.stream()) {
    if (message.type === 'result' && message.subtype === 'success') console.log(prompt.padEnd(22), message.result);
  }
}
session.close();

// The log is a file of JSON lines; what was done stands beside what was said.
const [log = ''] = globSync(join(folder, 'projects/*/*.jsonl'));
const lines = readFileSync(log, 'utf8').trim().split('\n');
const types = lines.map((line) => (JSON.parse(line) as { type: string }).type);
console.log(`log: ${types.filter((type) => type !== 'heddle').length} messages, ${types.length} lines`);
rmSync(folder, { recursive: true });
