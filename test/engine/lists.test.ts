import { describe, expect, it } from 'vitest';
import { createLists, lastLists, type ListChange } from '../../src/engine/lists.js';
import { type Entry, type ListedTask, parseEntry } from '../../src/engine/sessions/entry.js';

const todo = (content: string) => ({ content, status: 'pending' as const, activeForm: `Doing ${content}` });

const task = (id: string): ListedTask => ({
  id,
  subject: `Task ${id}`,
  description: '',
  status: 'pending',
  blocks: [],
  blockedBy: [],
});

/** As a log gives it: written and read again. */
function entry(fields: object): Entry {
  const line = JSON.stringify({ type: 'heddle', sessionId: 's', timestamp: 't', ...fields });
  const parsed = parseEntry(line);
  if (parsed === undefined) throw new Error(`no entry: ${line}`);
  return parsed;
}

describe('createLists', () => {
  it('starts empty, and tells each change with the whole list of that kind', () => {
    const changes: ListChange[] = [];
    const lists = createLists({ known: {}, onChange: (change) => changes.push(change) });
    expect(lists).toMatchObject({ todos: [], tasks: [], lastTaskId: 0 });
    lists.setTodos([todo('a'), todo('b')]);
    lists.setTasks([task('1')]);
    lists.setTodos([]);
    expect(changes).toEqual([{ todos: [todo('a'), todo('b')] }, { tasks: [task('1')] }, { todos: [] }]);
    expect(lists).toMatchObject({ todos: [], tasks: [task('1')] });
  });

  it('has the new list when the change is told', () => {
    const seen: unknown[] = [];
    const lists = createLists({ known: {}, onChange: () => seen.push(lists.todos.length, lists.lastTaskId) });
    lists.setTodos([todo('a')]);
    lists.setTasks([task('4')]);
    expect(seen).toEqual([1, 0, 1, 4]);
  });

  it('gives away a copy, so that a kept change does not follow the next one', () => {
    const changes: ListChange[] = [];
    const lists = createLists({ known: {}, onChange: (change) => changes.push(change) });
    const given = [todo('a')];
    lists.setTodos(given);
    given.push(todo('b'));
    expect(changes).toEqual([{ todos: [todo('a')] }]);
  });

  it('goes on from what is known, and remembers the highest id when its task is gone', () => {
    const lists = createLists({ known: { todos: [todo('a')], tasks: [task('2'), task('10')] }, onChange: () => {} });
    expect(lists.todos).toEqual([todo('a')]);
    expect(lists.lastTaskId).toBe(10);
    lists.setTasks([task('2')]);
    expect(lists.lastTaskId).toBe(10);
  });
});

describe('lastLists', () => {
  it('says nothing of lists that were never written', () => {
    expect(lastLists([])).toEqual({});
    expect(lastLists([entry({ kind: 'turn', state: 'started' })])).toEqual({});
  });

  it('finds the last list of each kind, and the highest id of them all', () => {
    const entries = [
      entry({ kind: 'list', todos: [todo('a')] }),
      entry({ kind: 'list', tasks: [task('1'), task('2'), task('3')] }),
      entry({ kind: 'turn', state: 'ended' }),
      entry({ kind: 'list', tasks: [task('1')] }),
      entry({ kind: 'list', todos: [todo('a'), todo('b')] }),
    ];
    const known = lastLists(entries);
    expect(known).toEqual({ todos: [todo('a'), todo('b')], tasks: [task('1')], lastTaskId: 3 });
    expect(createLists({ known, onChange: () => {} }).lastTaskId).toBe(3);
  });

  it('a list that was emptied is empty, not the one before', () => {
    const entries = [entry({ kind: 'list', todos: [todo('a')] }), entry({ kind: 'list', todos: [] })];
    expect(lastLists(entries)).toEqual({ todos: [] });
  });

  it.each([
    ['todos', 'a text'],
    ['tasks', {}],
    ['tasks', [null]],
    ['tasks', [{ id: 1 }]],
    ['tasks', [{ id: '5', subject: 'x' }]],
  ])('passes over damaged %s: %j', (kind, value) => {
    const good = [entry({ kind: 'list', todos: [todo('a')] }), entry({ kind: 'list', tasks: [task('1')] })];
    expect(lastLists([...good, entry({ kind: 'list', [kind]: value })])).toEqual(lastLists(good));
  });
});
