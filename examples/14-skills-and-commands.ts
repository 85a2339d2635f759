// What files bring: instructions, a command, a skill, an output style, a plugin. See weaving-project and docs/commands.md.
import { join } from 'node:path';
import { type Message, type Options, query } from 'heddle';
import { createScriptedModel, toolResults } from 'heddle/testing';

const project = join(import.meta.dirname, 'weaving-project');

const model = createScriptedModel([
  'I would order weld.',
  { toolUse: { name: 'Skill', input: { skill: 'dyeing', args: 'indigo' } } },
  'Indigo takes three dips.',
  'Warp 120 threads.',
]);

const options: Options = {
  cwd: project,
  settingSources: ['project'], // nothing is read from files without it
  plugins: [{ type: 'local', path: join(project, 'plugins/loom') }],
  persistSession: false,
  // Files of a project count when someone trusts it: your program does here, `heddle trust` does for a person.
  heddle: { provider: model, trusted: true },
};

/** The texts that the model was sent last, instructions and prompt among them. */
function lastTold(): string[] {
  const content = model.requests.at(-1)?.body.messages.at(-1)?.content ?? [];
  if (typeof content === 'string') return [content];
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

async function ask(prompt: string): Promise<Message[]> {
  const messages: Message[] = [];
  const run = query({ prompt, options });
  if (model.requests.length === 0) {
    const { commands, output_style } = await run.initializationResult();
    const own = commands.filter(({ name }) => /restock|dyeing|warp/.test(name));
    for (const { name, argumentHint, description } of own) console.log(`/${name} ${argumentHint}: ${description}`);
    console.log(`output style: ${output_style}`);
  }
  for await (const message of run) {
    messages.push(message);
    if (message.type === 'result' && message.subtype === 'success') console.log(`${prompt} -> ${message.result}`);
  }
  return messages;
}

// A command is a prompt with arguments, output of commands and files put in.
await ask('/restock weld');
console.log(lastTold().at(-1)?.trim());
console.log(`told of AGENTS.md: ${lastTold().some((text) => text.includes('Lengths are in metres.'))}`);

// Of a skill the model knows the name; its text comes when it is called.
for (const { name, text } of toolResults(await ask('How is indigo dyed?'))) {
  console.log(`${name}: ${text.trim().split('\n').at(-1)}`);
}

// What a plugin brings carries its name.
await ask('/loom:warp 120');
model.assertDone();
