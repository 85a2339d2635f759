import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLists } from '../../src/engine/lists.js';
import { askUserQuestionTool } from '../../src/engine/tools/ask-user-question.js';
import { createBashTool } from '../../src/engine/tools/bash.js';
import { editTool } from '../../src/engine/tools/edit.js';
import { globTool } from '../../src/engine/tools/glob.js';
import { grepTool } from '../../src/engine/tools/grep.js';
import { createTaskListTools } from '../../src/engine/tools/list-tasks.js';
import { notebookEditTool } from '../../src/engine/tools/notebook-edit.js';
import { readTool } from '../../src/engine/tools/read.js';
import { createTaskOutputTool } from '../../src/engine/tools/task-output.js';
import { createTaskStopTool } from '../../src/engine/tools/task-stop.js';
import { createTodoWriteTool } from '../../src/engine/tools/todo-write.js';
import { writeTool } from '../../src/engine/tools/write.js';
import {
  type AskUserQuestionOutput,
  type BashOutput,
  problemsOf,
  type ReadOutput,
  TOOL_INPUTS,
  TOOL_OUTPUTS,
  type WholeTool,
} from '../../src/protocol/index.js';
import type { FileReadOutput, ToolOutputSchemas } from '../../src/sdk/sdk-tools.js';
import { type Bench, createBench } from '../tools/bench.js';
import { makePdf, showing } from '../tools/pdf-maker.js';
import { createTasksKit } from '../tools/tasks-kit.js';
import { recordings } from './recordings.js';

type OutputName = keyof typeof TOOL_OUTPUTS;

const isKnown = (name: string | undefined): name is OutputName =>
  name !== undefined && Object.hasOwn(TOOL_OUTPUTS, name);

const problems = (name: OutputName, output: unknown): string[] => {
  const outcome = TOOL_OUTPUTS[name]().safeParse(output);
  return outcome.success ? [] : problemsOf(outcome.error.issues).map(({ path, problem }) => `${path}: ${problem}`);
};

/** Parses, and nothing of it is lost. */
const expectFit = (name: OutputName, output: unknown): void => {
  expect(problems(name, output), `${name}: ${JSON.stringify(output)}`).toEqual([]);
  expect(TOOL_OUTPUTS[name]().parse(output)).toEqual(output);
};

describe('what the tools really give', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = createBench();
  });
  afterEach(() => bench.close());

  const run = async <Input>(tool: WholeTool<Input>, input: unknown) => {
    const { isError, structured, text } = await bench.call(tool, input);
    expect(isError, text).toBeUndefined();
    expectFit(tool.name as OutputName, structured);
    return structured;
  };

  it('Read', async () => {
    const text = bench.write('a.txt', 'one\ntwo\n');
    expect(await run(readTool, { file_path: text })).toMatchObject({ type: 'text', file: { startLine: 1 } });
    const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const image = bench.write('a.png', Buffer.from(dot, 'base64'));
    expect(await run(readTool, { file_path: image })).toMatchObject({ type: 'image' });
    const pdf = bench.write('a.pdf', makePdf({ pages: [showing('One'), showing('Two')] }));
    expect(await run(readTool, { file_path: pdf })).toMatchObject({ type: 'pdf', file: { pages: [1, 2] } });
  });

  it('Read of a notebook, and NotebookEdit', async () => {
    const outputs = [{ output_type: 'stream', name: 'stdout', text: ['2\n'] }];
    const cells = [
      { cell_type: 'markdown', id: 'm', metadata: {}, source: ['# Title'] },
      { cell_type: 'code', id: 'c', metadata: {}, source: 'print(2)', execution_count: 1, outputs },
    ];
    const notebook_path = bench.write(
      'a.ipynb',
      JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }),
    );
    const read = await run(readTool, { file_path: notebook_path });
    expect(read).toMatchObject({ type: 'notebook', file: { cells: [{ cell_id: 'm' }, { outputs: [{ text: '2' }] }] } });
    const edit = (input: object) => run(notebookEditTool, { notebook_path, new_source: '', ...input });
    await edit({ cell_id: 'c', new_source: 'print(3)' });
    await edit({ cell_id: 'c', edit_mode: 'insert', cell_type: 'markdown', new_source: 'end' });
    expect(await edit({ cell_id: 'm', edit_mode: 'delete' })).toMatchObject({ edit_mode: 'delete', cell_id: 'm' });
  });

  it('Write and Edit', async () => {
    const file_path = bench.path('a.txt');
    expect(await run(writeTool, { file_path, content: 'one\n' })).toMatchObject({ type: 'create' });
    expect(await run(writeTool, { file_path, content: 'two\n' })).toMatchObject({ type: 'update' });
    const edited = await run(editTool, { file_path, old_string: 'two', new_string: 'three' });
    expect(edited).toMatchObject({ structuredPatch: [{ lines: ['-two', '+three'] }] });
  });

  it('Glob and Grep in its three modes', async () => {
    bench.write('a.txt', 'one\n');
    expect(await run(globTool, { pattern: '*.txt' })).toMatchObject({ numFiles: 1 });
    for (const output_mode of ['files_with_matches', 'content', 'count']) {
      const found = await run(grepTool, { pattern: 'one', output_mode });
      expect(found).toMatchObject({ mode: output_mode, numFiles: 1 });
      await run(grepTool, { pattern: 'nowhere', output_mode });
    }
  });

  it('Bash, TaskOutput and TaskStop', async () => {
    const parts = createTasksKit();
    const bash = createBashTool(parts);
    await run(bash, { command: 'echo hello' });
    const start = async (command: string) => {
      const { backgroundTaskId } = (await run(bash, { command, run_in_background: true })) as BashOutput;
      expect(backgroundTaskId).toBeTypeOf('string');
      return backgroundTaskId;
    };
    const done = await run(createTaskOutputTool(parts), { task_id: await start('echo hello') });
    expect(done).toMatchObject({ retrieval_status: 'success', task: { output: 'hello\n', exitCode: 0 } });
    const task_id = await start('sleep 60');
    const busy = await run(createTaskOutputTool(parts), { task_id, block: false });
    expect(busy).toMatchObject({ task: { status: 'running' } });
    expect(await run(createTaskStopTool(parts), { task_id })).toMatchObject({ task_id });
  });

  it('TodoWrite, the tools of the task list, and AskUserQuestion', async () => {
    const lists = createLists({ known: {}, onChange: () => {} });
    const todos = [{ content: 'A', status: 'pending', activeForm: 'Doing A' }];
    await run(createTodoWriteTool({ lists }), { todos });
    const [create, update, get, list] = createTaskListTools({ lists });
    if (!create || !update || !get || !list) throw new Error('a tool is missing');
    for (const subject of ['First', 'Second']) await run(create, { subject, description: 'd', metadata: { a: 1 } });
    await run(update, { taskId: '2', status: 'completed', addBlockedBy: ['1'], owner: 'ann', activeForm: 'x' });
    await run(update, { taskId: '9', status: 'completed' });
    expect(await run(get, { taskId: '2' })).toMatchObject({ task: { owner: 'ann' } });
    expect(await run(get, { taskId: '9' })).toEqual({ task: null });
    await run(list, {});
    await run(update, { taskId: '1', status: 'deleted' });
    const options = ['a', 'b'].map((label) => ({ label, description: label, preview: '#' }));
    const asked = {
      questions: [{ question: 'Which?', header: 'h', options }],
      annotations: { 'Which?': { notes: 'n' } },
    };
    await run(askUserQuestionTool, { ...asked, answers: { 'Which?': ['a', 'b'] } });
  });
});

describe('TOOL_OUTPUTS', () => {
  it('are of tools that there are', () => {
    const inputs: string[] = Object.keys(TOOL_INPUTS);
    expect(Object.keys(TOOL_OUTPUTS).filter((name) => !inputs.includes(name))).toEqual([]);
  });

  it('fit the results in the recorded exchanges', () => {
    const seen = new Set<string>();
    for (const { lines } of recordings) {
      const names = new Map<string, string>();
      for (const { frame } of lines) {
        const { content } = (frame.message ?? {}) as { content?: unknown };
        for (const block of Array.isArray(content) ? content : []) {
          if (block.type === 'tool_use') names.set(block.id, block.name);
          const name = names.get(block.tool_use_id);
          const result = frame.tool_use_result;
          if (!isKnown(name) || typeof result !== 'object') continue;
          expectFit(name, result);
          seen.add(name);
        }
      }
    }
    const wanted = [
      'AskUserQuestion',
      'Bash',
      'Edit',
      'Glob',
      'Grep',
      'Read',
      'TaskOutput',
      'TaskStop',
      'TodoWrite',
      'Write',
    ];
    expect([...seen].toSorted()).toEqual(wanted);
  });

  it.each<[OutputName, unknown]>([
    ['Read', { type: 'pdf', file: { filePath: '/a.pdf', numPages: 9, pages: [1, 2], content: 'c', originalSize: 5 } }],
    ['Read', { type: 'notebook', file: { filePath: '/a.ipynb', cells: [{ cellType: 'code', source: 'x' }] } }],
    [
      'Read',
      { type: 'image', file: { base64: '', type: 'image/png', originalSize: 1, dimensions: { displayWidth: 1 } } },
    ],
    ['WebFetch', { bytes: 5, code: 200, codeText: 'OK', result: 'r', durationMs: 1.5, url: 'https://a.example/' }],
    ['WebSearch', { query: 'q', results: ['words', { title: 't' }], durationSeconds: 0.4, searchCount: 1 }],
    ['TaskOutput', { retrieval_status: 'not_ready', task: null }],
  ])('%s: fits %j, and keeps what is new', (name, output) => {
    expectFit(name, output);
    expectFit(name, { ...(output as object), new_field: { deep: 1 } });
  });

  it.each<[OutputName, unknown, string]>([
    ['Read', { type: 'text', file: { filePath: '/a' } }, 'file.content'],
    ['Read', { type: 'video' }, 'type'],
    [
      'Read',
      { type: 'pdf', file: { filePath: '/a', numPages: 1, pages: [1], content: '', originalSize: 0 } },
      'file.pages',
    ],
    ['Grep', { mode: 'count', numFiles: 1, filenames: [], content: '' }, 'numMatches'],
    ['Bash', { stdout: 'x', interrupted: false }, 'stderr'],
    ['Write', { type: 'made', filePath: '/a', content: '', structuredPatch: [], originalFile: null }, 'type'],
    ['TodoWrite', { oldTodos: [], newTodos: [{ content: 'A' }] }, 'newTodos[0].status'],
    ['AskUserQuestion', { questions: [], answers: { a: ['b'] } }, 'answers.a'],
  ])('%s: %j does not fit, at %s', (name, output, path) => {
    expect(problems(name, output).map((problem) => problem.split(':')[0])).toContain(path);
  });

  it('have types that narrow, under the names of the SDK too', () => {
    const show = (output: FileReadOutput): string => {
      if (output.type === 'image') return output.file.base64;
      return output.type === 'notebook' ? String(output.file.cells.length) : output.file.content;
    };
    const text: ReadOutput = {
      type: 'text',
      file: { filePath: '/a', content: 'c', numLines: 1, startLine: 1, totalLines: 1 },
    };
    const answered: AskUserQuestionOutput = { questions: [], answers: { a: 'b' } };
    const outputs: ToolOutputSchemas[] = [text, answered];
    expect(show(text)).toBe('c');
    expect(outputs).toHaveLength(2);
  });
});
