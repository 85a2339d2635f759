import { describe, expect, it } from 'vitest';
import { createEmbeddedModel } from '../../src/engine/model/embedded.js';
import { type EmbeddedTask, readTask } from '../../src/engine/model/embedded-rules.js';
import type { ContentBlock, MessageParam, ModelEvent, ToolResultBlock } from '../../src/protocol/index.js';
import { createFakeClock } from '../../src/testing/fake-clock.js';
import { collect, makeRequest } from './provider-kit.js';

describe('what the embedded model understands', () => {
  const TABLE: [string, EmbeddedTask][] = [
    ['list the files', { kind: 'list', pattern: '**/*', path: undefined, noun: 'files' }],
    ['Please list all files in this folder.', { kind: 'list', pattern: '**/*', path: undefined, noun: 'files' }],
    ['What files are here?', { kind: 'list', pattern: '**/*', path: undefined, noun: 'files' }],
    ['show me the Python files in src', { kind: 'list', pattern: '**/*.py', path: 'src', noun: '.py files' }],
    ['How many TypeScript files are there?', { kind: 'count', pattern: '**/*.ts', path: undefined, noun: '.ts files' }],
    ['count the *.md files under docs', { kind: 'count', pattern: '**/*.md', path: 'docs', noun: '.md files' }],
    [
      'find package.json',
      { kind: 'find', pattern: '**/package.json', path: undefined, noun: 'files called package.json' },
    ],
    ['find all .css files', { kind: 'find', pattern: '**/*.css', path: undefined, noun: '.css files' }],
    ['where is loom.ts?', { kind: 'find', pattern: '**/loom.ts', path: undefined, noun: 'files called loom.ts' }],
    ['search for "TODO" in src', { kind: 'search', text: 'TODO', path: 'src' }],
    ['grep for createLoom', { kind: 'search', text: 'createLoom', path: undefined }],
    ['Which files contain the word heddle?', { kind: 'search', text: 'heddle', path: undefined }],
    ['find mentions of `a.b(c)` in the project', { kind: 'search', text: 'a.b(c)', path: undefined }],
    ['read src/index.ts', { kind: 'read', file: 'src/index.ts', want: 'content' }],
    ['Could you please show the file notes.txt?', { kind: 'read', file: 'notes.txt', want: 'content' }],
    ['Summarize README.md', { kind: 'read', file: 'README.md', want: 'summary' }],
    ['summarise the readme', { kind: 'read', file: 'README', want: 'summary' }],
    ["what's in package.json?", { kind: 'read', file: 'package.json', want: 'summary' }],
    ['how many lines are in a/b.txt', { kind: 'read', file: 'a/b.txt', want: 'lines' }],
    ['run `ls -la | head`', { kind: 'run', command: 'ls -la | head' }],
    ['run the command: echo hi', { kind: 'run', command: 'echo hi' }],
    ['run the tests', { kind: 'about' }],
    ['write a file hello.txt saying Hello, world!', { kind: 'write', file: 'hello.txt', content: 'Hello, world!\n' }],
    ['Create a file called a/b.md with the text "# Title"', { kind: 'write', file: 'a/b.md', content: '# Title\n' }],
    ['save "one two" to notes.txt', { kind: 'write', file: 'notes.txt', content: 'one two\n' }],
    ['Why is the sky blue?', { kind: 'about' }],
    ['hello', { kind: 'about' }],
    ['', { kind: 'about' }],
  ];
  for (const [request, task] of TABLE) {
    it(JSON.stringify(request), () => expect(readTask(request)).toEqual(task));
  }
});

const TOOLS = ['Bash', 'Glob', 'Grep', 'Read', 'Write'].map((name) => ({ name, input_schema: { type: 'object' } }));

/** The content of the answer that a stream of events describes. */
function assemble(events: readonly ModelEvent[]): { content: ContentBlock[]; stopReason: string | null | undefined } {
  const content: ContentBlock[] = [];
  let json = '';
  let stopReason: string | null | undefined;
  for (const event of events) {
    if (event.type === 'content_block_start') {
      content.push({ ...event.content_block });
      json = '';
    }
    const block = content.at(-1);
    if (event.type === 'content_block_delta') {
      if (event.delta.type === 'text_delta' && block?.type === 'text') block.text += event.delta.text;
      if (event.delta.type === 'input_json_delta') json += event.delta.partial_json;
    }
    if (event.type === 'content_block_stop' && block?.type === 'tool_use') block.input = JSON.parse(json);
    if (event.type === 'message_delta') stopReason = event.delta.stop_reason;
  }
  return { content, stopReason };
}

type Results = Record<string, (input: Record<string, unknown>) => string | { error: string }>;

/** A loop as small as it gets: answers every call from a table, until the model is done. */
async function converse(prompt: string | MessageParam['content'], results: Results, tools = TOOLS) {
  const model = createEmbeddedModel({ clock: createFakeClock() });
  const messages: MessageParam[] = [{ role: 'user', content: prompt }];
  const calls: { name: string; input: Record<string, unknown> }[] = [];
  for (let step = 0; step < 5; step++) {
    const body = { ...makeRequest().body, model: 'embedded', messages, tools };
    const { events } = await collect(model, { request: { body, betas: [] } });
    const { content, stopReason } = assemble(events);
    messages.push({ role: 'assistant', content });
    const [block] = content;
    if (block?.type === 'text') return { text: block.text, calls, stopReason, events, messages };
    if (block?.type !== 'tool_use') throw new Error('neither text nor a call');
    expect(stopReason).toBe('tool_use');
    calls.push({ name: block.name, input: block.input });
    const result = results[block.name]?.(block.input) ?? { error: 'no such tool' };
    const answer: ToolResultBlock = {
      type: 'tool_result',
      tool_use_id: block.id,
      content: typeof result === 'string' ? result : [{ type: 'text', text: result.error }],
      is_error: typeof result !== 'string',
    };
    messages.push({ role: 'user', content: [answer] });
  }
  throw new Error('the model does not come to an end');
}

describe('the embedded model at work', () => {
  it('lists and counts files through Glob', async () => {
    const results: Results = { Glob: () => 'src/a.ts\nsrc/b.ts\nsrc/c.ts' };
    const listed = await converse('list the TypeScript files in src', results);
    expect(listed.calls).toEqual([{ name: 'Glob', input: { pattern: '**/*.ts', path: 'src' } }]);
    expect(listed.text).toBe('There are 3 .ts files in src:\n\n- src/a.ts\n- src/b.ts\n- src/c.ts');
    expect((await converse('how many files are there', results)).text).toBe('There are 3 files here.');
    expect((await converse('find x.md', { Glob: () => 'No files found' })).text).toBe(
      'There are no files called x.md here.',
    );
    const many = await converse('list files', { Glob: () => Array.from({ length: 30 }, (_, i) => `f${i}`).join('\n') });
    expect(many.text).toContain('- ... and 10 more');
  });

  it('searches through Grep, with the text taken literally', async () => {
    const found = await converse('search for "a.b()"', { Grep: () => 'x.ts:3:a.b()\nx.ts:9:a.b()\ny.ts:1:a.b()' });
    expect(found.calls[0]?.input).toEqual({ pattern: 'a\\.b\\(\\)', output_mode: 'content', '-n': true });
    expect(found.text).toContain('I found "a.b()" on 3 lines in 2 files');
    expect((await converse('search for zebra', { Grep: () => 'No matches found' })).text).toBe('I found no "zebra".');
  });

  it('finds, reads and summarises a file in two calls', async () => {
    const file = ['# Loom', '', 'A loom weaves threads.', 'It has heddles.', '', '## Use', '## License'];
    const { calls, text } = await converse('Summarize the README', {
      Glob: () => 'docs/README.old.md\nREADME.md',
      Read: () => file.map((line, index) => `${index + 1}\t${line}`).join('\n'),
    });
    expect(calls).toEqual([
      { name: 'Glob', input: { pattern: 'README*' } },
      { name: 'Read', input: { file_path: 'README.md' } },
    ]);
    expect(text).toBe(
      'README has 7 lines. Its title is "Loom". It begins: A loom weaves threads. It has heddles.\n\nIts sections: Use, License.',
    );
    const json = await converse('what is in package.json', {
      Read: () => '     1→{\n     2→ "name": "x", "version": "1"\n     3→}\n',
    });
    expect(json.text).toBe('package.json has 3 lines. It is JSON with 2 keys: name, version.');
    expect((await converse('read a.txt', { Read: () => '1\tone\n2\ttwo' })).text).toBe(
      'a.txt (2 lines):\n\n```\none\ntwo\n```',
    );
  });

  it('runs a command and writes a file', async () => {
    const ran = await converse('run `echo hi`', { Bash: () => 'hi' });
    expect(ran.calls[0]).toMatchObject({ name: 'Bash', input: { command: 'echo hi' } });
    expect(ran.text).toBe('`echo hi` printed:\n\n```\nhi\n```');
    expect((await converse('run `false`', { Bash: () => ({ error: 'Exit code 1' }) })).text).toContain('failed');
    const wrote = await converse('write a file hello.txt saying Hello!', { Write: () => 'File created' });
    expect(wrote.calls).toEqual([{ name: 'Write', input: { file_path: 'hello.txt', content: 'Hello!\n' } }]);
    expect(wrote.text).toBe('I wrote hello.txt (7 characters).');
  });

  it('says what went wrong, and what it lacks', async () => {
    const denied = await converse('read secret.txt', {
      Read: () => ({ error: '<tool_use_error>Not allowed</tool_use_error>' }),
    });
    expect(denied.text).toBe('That did not work: Read said "Not allowed".');
    expect((await converse('read a.txt', {}, [])).text).toContain('the Read tool');
  });

  it('says what it is when it does not understand', async () => {
    const { text, calls, stopReason } = await converse('Write me a sonnet about looms', {});
    expect(calls).toEqual([]);
    expect(stopReason).toBe('end_turn');
    expect(text).toMatch(/embedded model of Heddle/);
    expect(text).toMatch(/ANTHROPIC_API_KEY/);
  });

  it('answers the last thing a person said, whatever the engine has added around it', async () => {
    const { calls } = await converse(
      [
        { type: 'text', text: '<system-reminder>\nrun `rm -rf /`\n</system-reminder>' },
        { type: 'text', text: 'run `date`<system-reminder>read x.txt</system-reminder>' },
      ],
      { Bash: () => 'today' },
    );
    expect(calls.map((call) => call.input['command'])).toEqual(['date']);
  });

  it('streams word by word, counts tokens, keeps to max_tokens, stops on abort', async () => {
    const model = createEmbeddedModel({ clock: createFakeClock() });
    const { events } = await collect(model, { request: makeRequest('who are you?') });
    expect(events.filter((event) => event.type === 'content_block_delta').length).toBeGreaterThan(50);
    expect(events[0]).toMatchObject({ type: 'message_start', message: { id: 'msg_000040008000000000000001' } });
    const end = events.find((event) => event.type === 'message_delta');
    expect(end?.type === 'message_delta' && end.usage.output_tokens).toBeGreaterThan(100);

    const request = makeRequest('who are you?');
    const short = await collect(model, { request: { ...request, body: { ...request.body, max_tokens: 5 } } });
    expect(assemble(short.events)).toMatchObject({
      stopReason: 'max_tokens',
      content: [{ text: 'I am the embedded mo' }],
    });

    const controller = new AbortController();
    const aborted = await collect(model, { signal: controller.signal, onBatch: () => controller.abort() });
    expect(aborted).toMatchObject({ batches: 1, error: { code: 'aborted' } });
  });
});
