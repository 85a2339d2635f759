// Agents: one that the turn waits for, one in the background that starts a turn when it is done. See docs/agents.md.
import { join } from 'node:path';
import { type AgentDefinition, type Message, query } from 'heddle';
import { createScriptedModel, type ScriptAnswer, type ScriptStep } from 'heddle/testing';

const agents: Record<string, AgentDefinition> = {
  counter: { description: 'Counts what is in stock.', prompt: 'You count yarn.', tools: ['Read'] },
  buyer: { description: 'Finds out what to order.', prompt: 'You buy yarn.', tools: ['Grep'], background: true },
};

const task = (subagent_type: string, prompt: string) => ({
  name: 'Task',
  input: { description: `Ask the ${subagent_type}`, prompt, subagent_type },
});
const firstTurn = Promise.withResolvers<void>();
const answers: Record<string, ScriptAnswer[]> = {
  main: [
    { toolUse: [task('buyer', 'What must be ordered?'), task('counter', 'How much weld is there?')] },
    { text: 'There are 90 metres of weld. The buyer is still at it.' },
    { text: 'The buyer says: order 210 metres.' },
  ],
  counter: [{ toolUse: { name: 'Read', input: { file_path: 'data/stock.csv' } } }, { text: 'Weld: 90 metres.' }],
  buyer: [
    { toolUse: { name: 'Grep', input: { pattern: 'order', path: 'docs' } } },
    { text: 'Order 210 metres of weld.', waitFor: firstTurn.promise },
  ],
};
// Agents call the model side by side, so the script looks at who asks.
const answer: ScriptStep = ({ body }) => {
  const system = JSON.stringify(body.system ?? '');
  const who = Object.keys(agents).find((name) => system.includes(agents[name]?.prompt ?? name)) ?? 'main';
  return answers[who]?.shift() ?? 'Nothing more.';
};
const model = createScriptedModel(Array.from({ length: 7 }, () => answer));

/** What a program can show while agents work: their calls carry who makes them, their beginning and end are messages. */
function describe(message: Message): string | undefined {
  if (message.type === 'system') {
    if (message.subtype === 'task_started') return `started: ${message.description}`;
    if (message.subtype === 'task_notification') return `${message.status}: ${message.summary}`;
  }
  if (message.type === 'assistant') {
    const calls = message.message.content.flatMap((block) => (block.type === 'tool_use' ? [block.name] : []));
    if (calls.length > 0) return `${message.subagent_type ?? 'main'} calls ${calls.join(', ')}`;
  }
  if (message.type !== 'result' || message.subtype !== 'success') return undefined;
  return `${message.origin?.kind ?? 'prompt'} -> ${message.result}`;
}

const cwd = join(import.meta.dirname, 'sample-project');
const options = { cwd, agents, persistSession: false, heddle: { provider: model } };
for await (const message of query({ prompt: 'How much weld is there, and must we order?', options })) {
  const line = describe(message);
  if (line !== undefined) console.log(line);
  if (message.type === 'result') firstTurn.resolve();
}
model.assertDone();
