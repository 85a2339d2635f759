import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileStore } from '../../src/engine/index.js';
import { selectTools } from '../../src/engine/tools/registry.js';
import type { Message, Tool, ToolContext, ToolOutput } from '../../src/protocol/index.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { outline, resultText, scratch, start } from './kit.js';
import { probeTool } from './traced-store.js';

const bypass = { permissionMode: 'bypassPermissions' as const };
const call = (name: string, id: string, input: Record<string, unknown> = {}) => ({ name, input, id });

const toolOf = (name: string, rest: Partial<Tool> & Pick<Tool, 'run'>): Tool => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  parse: (input) => input as Record<string, unknown>,
  isReadOnly: () => true,
  ...rest,
});

/** A tool that runs until it is told to stop. */
function hanging(name: string) {
  const started = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const run = (_: unknown, { signal }: ToolContext) =>
    new Promise<ToolOutput>((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        stopped.resolve();
        reject(new Error('stopped'));
      });
      started.resolve();
    });
  return { tool: toolOf(name, { run }), started: started.promise, stopped: stopped.promise };
}

const useResult = (messages: readonly Message[]) =>
  messages.flatMap((message) =>
    message.type === 'user' && 'tool_use_result' in message ? [message.tool_use_result] : [],
  );

describe('one call', () => {
  it('a check that refuses it keeps it from starting', async () => {
    const events: string[] = [];
    const tool = { ...probeTool(events), enforce: async () => 'Read it first.' };
    const run = await start([{ toolUse: call('Probe', 't1') }, 'ok'], { tools: [tool], config: bypass });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toBe('<tool_use_error>Read it first.</tool_use_error>');
    expect(events).toEqual([]);
    const life = run.session.scope.recorder.log.entries.filter((entry) => 'kind' in entry && entry.kind === 'call');
    expect(life).toEqual([]);
  });

  it('an edit of a file that was not read is refused', async () => {
    const edit = call('Edit', 't1', { file_path: 'a.txt', old_string: 'a', new_string: 'b' });
    const run = await start([{ toolUse: edit }, 'ok'], { config: bypass });
    writeFileSync(join(run.cwd, 'a.txt'), 'a');
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toMatch(/^<tool_use_error>.*read/is);
  });

  it('a denial names what the model asked for, not what became of it', async () => {
    const tool = toolOf('Fills', {
      parse: (input) => ({ ...(input as object), filled: true }),
      isReadOnly: () => false,
      run: async () => ({ content: 'x' }),
    });
    const run = await start([{ toolUse: call('Fills', 't1', { n: 1 }) }, 'ok'], { tools: [tool] });
    expect((await run.ask('go')).permission_denials).toEqual([
      { tool_name: 'Fills', tool_use_id: 't1', tool_input: { n: 1 } },
    ]);
  });

  it('gives the consumer what is structured; without it the text, and errors as text', async () => {
    const outputs: Record<string, ToolOutput> = {
      structured: { content: 'short', structured: { rows: [1, 2] } },
      plain: { content: 'text' },
      blocks: { content: [{ type: 'text', text: 'b' }] },
      failed: { content: 'bad', isError: true },
    };
    const tool = toolOf('Out', { run: async (input) => outputs[String(input.kind)] ?? { content: '' } });
    const toolUse = Object.keys(outputs).map((kind) => call('Out', kind, { kind }));
    const run = await start([...toolUse.map((one) => ({ toolUse: one })), 'ok'], { tools: [tool] });
    await run.ask('go');
    expect(useResult(run.messages)).toEqual([{ rows: [1, 2] }, 'text', '[{"type":"text","text":"b"}]', 'Error: bad']);
  });

  it('a tool that throws is an error with its words', async () => {
    const tool = toolOf('Throws', { run: () => Promise.reject(new Error('no luck')) });
    const run = await start([{ toolUse: call('Throws', 't1') }, 'ok'], { tools: [tool] });
    expect(await run.ask('go')).toMatchObject({ result: 'ok' });
    expect(resultText(run.messages, 't1')).toBe('no luck');
    expect(useResult(run.messages)).toEqual(['Error: no luck']);
  });

  it('says that it is alive, and for how long it has been', async () => {
    const tool = toolOf('Long', {
      run: async (_, { clock, progress }) => {
        run.clock.advance(3_400);
        progress();
        return { content: String(clock.monotonic()) };
      },
    });
    const run = await start([{ toolUse: call('Long', 't1') }, 'ok'], { tools: [tool] });
    await run.ask('go');
    expect(run.messages).toContainEqual(
      expect.objectContaining({ type: 'tool_progress', tool_use_id: 't1', tool_name: 'Long', elapsed_time_seconds: 3 }),
    );
  });

  it('G1: one that stops when it is told leaves no timer', async () => {
    const { tool, started } = hanging('Slow');
    const run = await start([{ toolUse: call('Slow', 't1') }], { tools: [tool] });
    const result = run.ask('go');
    await started;
    run.session.interrupt();
    await result;
    expect(run.clock.pending).toEqual([]);
    expect(resultText(run.messages, 't1')).toMatch(/^This call was interrupted while it ran/);
  });

  it('moving to where one is, is not a move', async () => {
    const tool = toolOf('Stay', {
      run: async (_, { cwd, setCwd }) => {
        setCwd(cwd);
        return { content: 'ok' };
      },
    });
    const run = await start([{ toolUse: call('Stay', 't1') }, 'ok'], { tools: [tool] });
    await run.ask('go');
    const sets = run.session.scope.recorder.log.entries.filter((entry) => 'kind' in entry && entry.kind === 'set');
    expect(sets).toEqual([]);
  });
});

describe('output that is kept aside', () => {
  const keeps = toolOf('Keep', {
    run: async (_, { keep }) => ({ content: await keep('../../../evil.txt', 'all of it') }),
  });
  const script = [{ toolUse: call('Keep', 't1') }, 'ok'];

  it('lies beside the log, whatever its name, and outlives the session', async () => {
    const store = createFileStore({ configDir: scratch() });
    const run = await start(script, { tools: [keeps], store });
    await run.ask('go');
    await run.session.close();
    const path = resultText(run.messages, 't1');
    const log = store.pathOf?.({ sessionId: run.session.id, cwd: run.cwd }) ?? '';
    expect(dirname(dirname(path))).toBe(log.replace(/\.jsonl$/, ''));
    expect(readFileSync(path, 'utf8')).toBe('all of it');
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it('is gone with a session of which nothing is kept', async () => {
    const run = await start(script, { tools: [keeps], config: { persistSession: false } });
    await run.ask('go');
    const path = resultText(run.messages, 't1');
    expect(readFileSync(path, 'utf8')).toBe('all of it');
    await run.session.close();
    expect(existsSync(dirname(path))).toBe(false);
  });
});

describe('the calls of one message', () => {
  it('a denial that ends the turn stops the calls that run beside it', async () => {
    const { tool, started, stopped } = hanging('Slow');
    const toolUse = [call('Slow', 't1'), call('Bash', 't2', { command: 'touch a' }), call('Slow', 't3')];
    const run = await start([{ toolUse }], {
      tools: [tool],
      ask: async () => {
        await started;
        return { behavior: 'deny', message: 'Stop it all', interrupt: true };
      },
    });
    expect(await run.ask('go')).toMatchObject({ is_error: false, terminal_reason: 'aborted_tools' });
    await stopped;
    expect(resultText(run.messages, 't1')).toMatch(/interrupted/);
    expect(resultText(run.messages, 't2')).toBe('Stop it all');
  });

  it('G10: none of an answer that broke off runs, not even one that had arrived whole', async () => {
    const events: string[] = [];
    const error = new HeddleError('model_stream', 'broken', { retryable: true });
    const run = await start(
      [{ toolUse: [call('Probe', 't1', { n: 1 }), call('Probe', 't2', { n: 2 })], error }, 'instead'],
      { tools: [probeTool(events)], config: bypass },
    );
    const result = run.ask('go');
    await run.clock.armed();
    run.clock.advance(60_000);
    expect(await result).toMatchObject({ result: 'instead', num_turns: 1 });
    expect(outline(run.messages)).toContain('assistant Probe({"n":1})');
    expect(events).toEqual([]);
    expect(JSON.stringify(run.model.requests[1]?.body.messages)).not.toContain('tool_use');
  });
});

describe('which tools there are', () => {
  const tool = (name: string) => toolOf(name, { run: async () => ({ content: name }) });
  const tools = ['Write', 'Read', 'mcp__s__t', 'Bash', 'Agent'].map(tool);
  const names = (config: Parameters<typeof selectTools>[1]) => selectTools(tools, config, { canAsk: true }).names;

  it.each<[string, Parameters<typeof selectTools>[1], string[]]>([
    ['all, sorted', {}, ['Agent', 'Bash', 'Read', 'Write', 'mcp__s__t']],
    [
      'a preset is all',
      { tools: { type: 'preset', preset: 'heddle' } },
      ['Agent', 'Bash', 'Read', 'Write', 'mcp__s__t'],
    ],
    ['some, by old names too; those of servers stay', { tools: ['FileRead'] }, ['Read', 'mcp__s__t']],
    ['none of ours', { tools: [] }, ['mcp__s__t']],
    ['default is all', { tools: ['default'] }, ['Agent', 'Bash', 'Read', 'Write', 'mcp__s__t']],
    ['whole ones are taken away', { disallowedTools: ['Bash', 'mcp__s'] }, ['Agent', 'Read', 'Write']],
    ['not for a rule about some calls', { tools: ['Bash'], disallowedTools: ['Bash(rm:*)'] }, ['Bash', 'mcp__s__t']],
  ])('%s', (_, config, expected) => {
    expect(names(config)).toEqual(expected);
    expect(selectTools(tools, config, { canAsk: true }).params.map(({ name }) => name)).toEqual(expected);
  });

  it('a model that calls one by its old name is understood', async () => {
    const run = await start([{ toolUse: call('FileRead', 't1', { file_path: 'a.txt' }) }, 'ok']);
    writeFileSync(join(run.cwd, 'a.txt'), 'alpha');
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain('alpha');
    expect(existsSync(join(run.cwd, 'a.txt'))).toBe(true);
  });
});

describe('what a call tells', () => {
  it('while it runs, every few seconds; and when the batch is over, in one sentence', async () => {
    const { tool, started } = hanging('Slow');
    const run = await start([{ toolUse: [call('Slow', 't1'), call('Read', 't2', { file_path: 'none.txt' })] }, 'ok'], {
      tools: [tool],
    });
    const result = run.ask('go');
    await started;
    run.clock.advance(3_000);
    run.clock.advance(3_000);
    run.session.interrupt();
    await result;
    const told = run.messages.filter((message) => message.type === 'tool_progress');
    expect(told.map((message) => [message.tool_use_id, message.elapsed_time_seconds])).toEqual([
      ['t1', 3],
      ['t1', 6],
    ]);
    expect(run.messages.find((message) => message.type === 'tool_use_summary')).toMatchObject({
      summary: 'Used Slow, read none.txt (2 of 2 failed)',
      preceding_tool_use_ids: ['t1', 't2'],
    });
  });

  it('three that run together and are interrupted give three paired results', async () => {
    const slow = ['A', 'B', 'C'].map(hanging);
    const run = await start([{ toolUse: ['A', 'B', 'C'].map((name) => call(name, name)) }, 'next'], {
      tools: slow.map(({ tool }) => tool),
    });
    const result = run.ask('go');
    await Promise.all(slow.map(({ started }) => started));
    run.session.interrupt();
    expect((await result).is_error).toBe(false);
    for (const name of ['A', 'B', 'C']) expect(resultText(run.messages, name)).toContain('interrupted');
    await run.ask('and now?');
    const results = run.model.requests[1]?.body.messages.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.filter((block) => block.type === 'tool_result'),
    );
    expect(results).toHaveLength(3);
  });
});

describe('what only a host may fill in', () => {
  const ask = call('AskUserQuestion', 't1', {
    questions: [
      {
        question: 'Which?',
        header: 'Which',
        options: [
          { label: 'A', description: 'a' },
          { label: 'B', description: 'b' },
        ],
      },
    ],
    answers: { 'Which?': 'the model says A' },
  });

  it('H7: an answer of the model itself is dropped; unanswered has a result that says so', async () => {
    const asked: unknown[] = [];
    const run = await start([{ toolUse: ask }, 'ok'], {
      ask: async (question) => {
        asked.push(question.input);
        return { behavior: 'allow' };
      },
    });
    await run.ask('go');
    expect(asked[0]).not.toHaveProperty('answers');
    expect(resultText(run.messages, 't1')).not.toContain('the model says A');
    expect(resultText(run.messages, 't1')).toContain('Which?');
  });

  it('H7: the answer of the host counts; where nobody can be asked there is no such tool', async () => {
    const run = await start([{ toolUse: ask }, 'ok'], {
      ask: async ({ input }) => ({ behavior: 'allow', updatedInput: { ...input, answers: { 'Which?': 'B' } } }),
    });
    await run.ask('go');
    expect(resultText(run.messages, 't1')).toContain('"Which?"="B"');
    const alone = await start([{ toolUse: ask }, 'ok'], { config: bypass });
    await alone.ask('go');
    expect(alone.model.requests[0]?.body.tools?.map(({ name }) => name)).not.toContain('AskUserQuestion');
    expect(resultText(alone.messages, 't1')).toContain('No such tool available');
  });
});

describe('a tool of the app that gives nonsense', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const cases: [string, () => unknown, RegExp][] = [
    ['a block without its text', () => ({ content: [{ type: 'text' }] }), /content\[0\] is no content block/],
    ['no block at all', () => ({ content: [null] }), /content\[0\]/],
    ['a text as a block', () => ({ content: ['hello'] }), /content\[0\]/],
    ['an image without a source', () => ({ content: [{ type: 'image' }] }), /content\[0\]/],
    ['a structure that is a circle', () => ({ content: 'x', structured: cyclic }), /not JSON/],
    ['a number that JSON has not', () => ({ content: 'x', structured: { n: 1n } }), /not JSON/],
    ['a function', () => ({ content: 'x', structured: () => 1 }), /not JSON/],
    [
      'something thrown that is no error',
      () => {
        throw Object.create(null);
      },
      /no error/,
    ],
  ];
  it.each(cases)('%s: the model is told, and the turn goes on', async (_, run, expected) => {
    const tool = toolOf('Odd', { run: async () => run() as ToolOutput });
    const one = await start([{ toolUse: call('Odd', 't1') }, 'ok'], { tools: [tool] });
    expect(await one.ask('go')).toMatchObject({ result: 'ok' });
    expect(resultText(one.messages, 't1')).toMatch(expected);
  });

  it('much of it: one file, one note, and a log that stays small', async () => {
    const blocks = Array.from({ length: 3_000 }, () => ({ type: 'text' as const, text: 'x'.repeat(100) }));
    const tool = toolOf('Much', {
      limits: { text: undefined as unknown as number },
      run: async () => ({
        content: blocks,
        structured: Array.from({ length: 100_000 }, (_, n) => ({ row: `row ${n}` })),
      }),
    });
    const run = await start([{ toolUse: call('Much', 't1') }, 'ok'], { tools: [tool] });
    await run.ask('go');
    const sent = JSON.stringify(run.model.requests[1]?.body.messages);
    expect(sent.length).toBeLessThan(200_000);
    expect(sent.match(/\[Cut:/g)).toHaveLength(1);
    expect(useResult(run.messages)[0]).toMatch(/^\[Cut: .* of JSON are left out\. The whole is kept in .*\.json\]$/);
  });

  it('a promise where a yes or no is due is no yes', async () => {
    const ran: string[] = [];
    const tool = toolOf('Sly', {
      isReadOnly: (async () => false) as unknown as () => boolean,
      run: async () => (ran.push('ran'), { content: 'x' }),
    });
    const run = await start([{ toolUse: call('Sly', 't1') }, 'ok'], { tools: [tool] });
    await run.ask('go');
    expect(ran).toEqual([]);
  });

  it.each(['parse', 'enforce'] as const)('G1: an interrupt ends a call that hangs in %s', async (stage) => {
    const hung = Promise.withResolvers<void>();
    const never = (): Promise<never> => (hung.resolve(), new Promise(() => {}));
    const tool = toolOf('Hung', { [stage]: never, run: async () => ({ content: 'x' }) });
    const run = await start([{ toolUse: call('Hung', 't1') }], { tools: [tool] });
    const result = run.ask('go');
    await hung.promise;
    run.session.interrupt();
    await run.clock.armed();
    run.clock.advance(900);
    expect((await result).is_error).toBe(false);
  });
});
