import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLists, type ListChange } from '../../src/engine/lists.js';
import { createTodoWriteTool } from '../../src/engine/tools/todo-write.js';
import { type Bench, createBench } from './bench.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.close());

function createTodos() {
  const changes: ListChange[] = [];
  const lists = createLists({ known: {}, onChange: (change) => changes.push(change) });
  const tool = createTodoWriteTool({ lists });
  return { changes, lists, tool, write: (todos: unknown) => bench.call(tool, { todos }) };
}

const a = { content: 'A', status: 'in_progress', activeForm: 'Doing A' };
const b = { content: 'B', status: 'pending', activeForm: 'Doing B' };

describe('TodoWrite', () => {
  it('replaces the list, and gives the one before beside the new one', async () => {
    const { changes, lists, write } = createTodos();
    const first = await write([a, b]);
    expect(first.text).toMatch(/^Todos have been modified successfully\. /);
    expect(first.isError).toBeUndefined();
    expect(first.structured).toEqual({ oldTodos: [], newTodos: [a, b] });
    const second = await write([b]);
    expect(second.structured).toEqual({ oldTodos: [a, b], newTodos: [b] });
    expect(lists.todos).toEqual([b]);
    expect(changes).toEqual([{ todos: [a, b] }, { todos: [b] }]);
  });

  it('keeps a list whose todos are all completed', async () => {
    const { lists, write } = createTodos();
    const done = [a, b].map((todo) => ({ ...todo, status: 'completed' }));
    expect((await write(done)).structured).toEqual({ oldTodos: [], newTodos: done });
    expect(lists.todos).toEqual(done);
  });

  it('takes an empty list', async () => {
    const { lists, write } = createTodos();
    await write([a]);
    expect((await write([])).structured).toEqual({ oldTodos: [a], newTodos: [] });
    expect(lists.todos).toEqual([]);
  });

  it('says which field is wrong, and changes nothing', async () => {
    const { changes, write } = createTodos();
    const { isError, text } = await write([{ content: '', status: 'done', activeForm: 'x' }]);
    expect(isError).toBe(true);
    expect(text).toContain('`todos[0].content` is not valid');
    expect(text).toContain('`todos[0].status` is not valid');
    expect(changes).toEqual([]);
  });

  it('is not read-only: it runs alone', () => {
    expect(createTodos().tool.isReadOnly({ todos: [] }, { cwd: '/' })).toBe(false);
  });
});
