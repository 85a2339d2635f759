// Plan mode: the model looks around and plans, your program decides about the plan, then it is carried out. See docs/plan-mode.md.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CanUseTool, type Message, query } from 'heddle';
import { createScriptedModel, toolResults } from 'heddle/testing';

const folder = mkdtempSync(join(tmpdir(), 'heddle-example-'));
writeFileSync(join(folder, 'pattern.txt'), 'plain weave\n');

const PLAN = '# A new pattern\n\n1. Change pattern.txt to a twill.';
const write = { toolUse: { name: 'Write', input: { file_path: 'pattern.txt', content: 'twill\n' } } };
const model = createScriptedModel([
  { toolUse: { name: 'Read', input: { file_path: 'pattern.txt' } } },
  write, // too early
  { toolUse: { name: 'ExitPlanMode', input: { plan: PLAN } } },
  { toolUse: { name: 'ExitPlanMode', input: { plan: `${PLAN}\n2. Weave a sample first.` } } },
  write,
  'The pattern is a twill now.',
]);

// Whatever does more than read is put to your program, the plan as well; no rule approves it in its place.
const canUseTool: CanUseTool = async (name, input) => {
  console.log(`asked: ${name}`);
  if (name !== 'ExitPlanMode') return { behavior: 'deny', message: 'Show me the plan first.' };
  if (!String(input['plan']).includes('sample')) return { behavior: 'deny', message: 'A sample must come first.' };
  return {
    behavior: 'allow',
    // Without this the mode would be the one before. The plan itself could be changed with `updatedInput`.
    updatedPermissions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
  };
};

const messages: Message[] = [];
for await (const message of query({
  prompt: 'Make it a twill.',
  options: {
    cwd: folder,
    env: { ...process.env, HEDDLE_CONFIG_DIR: join(folder, 'config') }, // plans are kept in its folder `plans`
    permissionMode: 'plan',
    canUseTool,
    persistSession: false,
    heddle: { provider: model },
  },
})) {
  messages.push(message);
  if (message.type === 'system' && message.subtype === 'status' && message.permissionMode !== undefined) {
    console.log(`mode:  ${message.permissionMode}`);
  }
}

for (const { name, isError, text } of toolResults(messages)) {
  console.log(`${name}: ${isError ? 'no: ' : ''}${text.trim().split('\n')[0]}`);
}
console.log(`pattern.txt: ${readFileSync(join(folder, 'pattern.txt'), 'utf8').trim()}`);
model.assertDone();
rmSync(folder, { recursive: true });
