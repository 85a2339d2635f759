import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLists, type KnownLists, lastLists, type ListChange } from '../../src/engine/lists.js';
import type { Entry } from '../../src/engine/sessions/entry.js';
import { createTaskListTools } from '../../src/engine/tools/list-tasks.js';
import { type Bench, createBench } from './bench.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.close());

function createTasks(known: KnownLists = {}) {
  const changes: ListChange[] = [];
  const lists = createLists({ known, onChange: (change) => changes.push(change) });
  const tools = new Map(createTaskListTools({ lists }).map((tool) => [tool.name, tool]));
  const call = (name: string, input: object = {}) => {
    const tool = tools.get(name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return bench.call(tool, input);
  };
  return {
    changes,
    lists,
    tools,
    create: (subject: string, more: object = {}) =>
      call('TaskCreate', { subject, description: `Do ${subject}`, ...more }),
    update: (taskId: string, more: object) => call('TaskUpdate', { taskId, ...more }),
    get: (taskId: string) => call('TaskGet', { taskId }),
    list: () => call('TaskList'),
    /** Id to what it blocks and what blocks it. */
    waits: () => Object.fromEntries(lists.tasks.map(({ id, blocks, blockedBy }) => [id, { blocks, blockedBy }])),
  };
}

async function createThree() {
  const tasks = createTasks();
  for (const subject of ['First', 'Second', 'Third']) await tasks.create(subject);
  return tasks;
}

describe('TaskCreate', () => {
  it('counts ids from 1', async () => {
    const { create, list } = createTasks();
    const first = await create('First', { activeForm: 'Doing it' });
    expect(first).toMatchObject({ text: 'Task #1 created successfully: First' });
    expect(first.structured).toEqual({ task: { id: '1', subject: 'First' } });
    expect((await create('Second')).text).toBe('Task #2 created successfully: Second');
    expect((await list()).text).toBe('#1 [pending] First\n#2 [pending] Second');
  });

  it('never gives an id twice, not after a deletion and not after a resume', async () => {
    const { create, update, changes } = await createThree();
    await update('3', { status: 'deleted' });
    expect((await create('Fourth')).text).toBe('Task #4 created successfully: Fourth');
    await update('4', { status: 'deleted' });
    const entries = changes.map((change) => ({ type: 'heddle', kind: 'list', ...change }) as Entry);
    const resumed = createTasks(lastLists(entries));
    expect((await resumed.create('Fifth')).text).toBe('Task #5 created successfully: Fifth');
    expect(resumed.lists.tasks.map(({ id }) => id)).toEqual(['1', '2', '5']);
  });

  it('refuses a task without a subject', async () => {
    const { create, changes } = createTasks();
    expect(await create('')).toMatchObject({ isError: true, text: expect.stringContaining('`subject`') });
    expect(changes).toEqual([]);
  });
});

describe('TaskUpdate', () => {
  it('changes the status, and says from what to what', async () => {
    const { update, list } = await createThree();
    const started = await update('1', { status: 'in_progress' });
    expect(started.text).toBe('Updated task #1 status');
    expect(started.structured).toEqual({
      success: true,
      taskId: '1',
      updatedFields: ['status'],
      statusChange: { from: 'pending', to: 'in_progress' },
    });
    await update('1', { status: 'completed' });
    expect((await list()).text).toMatch(/^#1 \[completed\] First\n/);
  });

  it('changes every other field, and names those that are different', async () => {
    const { update, lists } = await createThree();
    const fields = { subject: 'One', description: 'All of it', activeForm: 'Doing one', owner: 'ann' };
    const { text, structured } = await update('1', { ...fields, status: 'pending' });
    expect(text).toBe('Updated task #1 subject, description, activeForm, owner');
    expect(structured).not.toHaveProperty('statusChange');
    expect(lists.tasks[0]).toEqual({ id: '1', status: 'pending', blocks: [], blockedBy: [], ...fields });
    await update('1', { owner: '', activeForm: '' });
    expect(lists.tasks[0]).not.toHaveProperty('owner');
    expect(lists.tasks[0]).not.toHaveProperty('activeForm');
  });

  it('writes nothing down when nothing is different', async () => {
    const { update, changes } = await createThree();
    const before = changes.length;
    const { text, structured } = await update('1', { status: 'pending' });
    expect(text).toBe('Updated task #1: nothing was different');
    expect(structured).toEqual({ success: true, taskId: '1', updatedFields: [] });
    expect(changes).toHaveLength(before);
  });

  it('merges metadata; null deletes a key', async () => {
    const { create, update, lists } = createTasks();
    await create('First', { metadata: { kept: 1, gone: 2, never: null } });
    expect(lists.tasks[0]?.metadata).toEqual({ kept: 1, gone: 2 });
    const { structured } = await update('1', { metadata: { gone: null, added: { deep: null } } });
    expect(structured).toMatchObject({ updatedFields: ['metadata'] });
    expect(lists.tasks[0]?.metadata).toEqual({ kept: 1, added: { deep: null } });
    await update('1', { metadata: { kept: null, added: null } });
    expect(lists.tasks[0]).not.toHaveProperty('metadata');
  });

  it('keeps both sides of a wait in step', async () => {
    const { update, waits } = await createThree();
    expect((await update('1', { addBlocks: ['2'] })).text).toBe('Updated task #1 blocks');
    expect((await update('3', { addBlockedBy: ['#1', '2'] })).text).toBe('Updated task #3 blockedBy');
    const all = {
      1: { blocks: ['2', '3'], blockedBy: [] },
      2: { blocks: ['3'], blockedBy: ['1'] },
      3: { blocks: [], blockedBy: ['1', '2'] },
    };
    expect(waits()).toEqual(all);
    expect((await update('2', { addBlockedBy: ['1'] })).structured).toMatchObject({ updatedFields: [] });
    expect(waits()).toEqual(all);
  });

  it('removes a deleted task, also from those that wait for it', async () => {
    const { update, waits } = await createThree();
    await update('2', { addBlocks: ['3'], addBlockedBy: ['1'] });
    const { text, structured } = await update('2', { status: 'deleted' });
    expect(text).toBe('Deleted task #2');
    expect(structured).toEqual({
      success: true,
      taskId: '2',
      updatedFields: ['status'],
      statusChange: { from: 'pending', to: 'deleted' },
    });
    const free = { blocks: [], blockedBy: [] };
    expect(waits()).toEqual({ 1: free, 3: free });
    expect((await update('2', { status: 'completed' })).text).toBe('Task not found');
  });

  it.each([
    [{ addBlocks: ['1'] }, 'Task #1 cannot wait for itself.'],
    [{ addBlockedBy: ['1'] }, 'Task #1 cannot wait for itself.'],
    [{ addBlocks: ['9'] }, 'There is no task #9. TaskList gives the ids there are.'],
    [{ addBlocks: ['3', '9'] }, 'There is no task #9. TaskList gives the ids there are.'],
    [{ addBlockedBy: ['3'] }, 'Task #1 cannot wait for #3, which already waits for it: #1 blocks #2 blocks #3.'],
    [{ addBlockedBy: ['2'] }, 'Task #1 cannot wait for #2, which already waits for it: #1 blocks #2.'],
    [{ subject: ' ' }, 'The subject of a task must not be empty.'],
  ])('refuses %j whole', async (input, problem) => {
    const { update, lists } = await createThree();
    await update('1', { addBlocks: ['2'] });
    await update('2', { addBlocks: ['3'] });
    const before = structuredClone(lists.tasks);
    const { isError, text } = await update('1', { status: 'completed', ...input });
    expect(isError).toBe(true);
    expect(text).toBe(problem);
    expect(lists.tasks).toEqual(before);
  });

  it('refuses a circle that one call would close by itself', async () => {
    const { update, waits } = await createThree();
    const { text } = await update('1', { addBlocks: ['2'], addBlockedBy: ['2'] });
    expect(text).toBe('Task #1 cannot wait for #2, which already waits for it: #1 blocks #2.');
    expect(waits()[1]).toEqual({ blocks: [], blockedBy: [] });
  });

  it('an unknown task is no error', async () => {
    const { isError, text, structured } = await createTasks().update('99', { status: 'completed' });
    expect(isError).toBeUndefined();
    expect(text).toBe('Task not found');
    expect(structured).toEqual({ success: false, taskId: '99', updatedFields: [], error: 'Task not found' });
  });
});

describe('TaskGet', () => {
  it('gives all of a task', async () => {
    const { update, get } = await createThree();
    await update('2', { addBlockedBy: ['1'] });
    const { text, structured } = await get('2');
    expect(text).toBe('Task #2: Second\nStatus: pending\nDescription: Do Second\nBlocked by: #1');
    expect(structured).toEqual({
      task: { id: '2', subject: 'Second', description: 'Do Second', status: 'pending', blocks: [], blockedBy: ['1'] },
    });
    await update('1', { addBlocks: ['3'], owner: 'ann', metadata: { ticket: 7 } });
    expect((await get('#1')).text).toBe(
      'Task #1: First\nStatus: pending\nDescription: Do First\nOwner: ann\nBlocks: #2, #3\nMetadata: {"ticket":7}',
    );
  });

  it('an unknown task is no error', async () => {
    const { isError, text, structured } = await createTasks().get('99');
    expect(isError).toBeUndefined();
    expect(text).toBe('Task not found');
    expect(structured).toEqual({ task: null });
  });
});

describe('TaskList', () => {
  it('shows who has a task, and which open ones it waits for', async () => {
    const { update, list } = await createThree();
    await update('3', { addBlockedBy: ['1', '2'], owner: 'ann' });
    expect((await list()).text).toBe(
      '#1 [pending] First\n#2 [pending] Second\n#3 [pending] Third (ann) [blocked by #1, #2]',
    );
    await update('1', { status: 'completed' });
    const { text, structured } = await list();
    expect(text).toBe('#1 [completed] First\n#2 [pending] Second\n#3 [pending] Third (ann) [blocked by #2]');
    expect(structured).toEqual({
      tasks: [
        { id: '1', subject: 'First', status: 'completed', blockedBy: [] },
        { id: '2', subject: 'Second', status: 'pending', blockedBy: [] },
        { id: '3', subject: 'Third', status: 'pending', owner: 'ann', blockedBy: ['1', '2'] },
      ],
    });
  });

  it('says when there are none', async () => {
    const { text, structured } = await createTasks().list();
    expect(text).toBe('There are no tasks');
    expect(structured).toEqual({ tasks: [] });
  });
});

it('the tools that only look are read-only, the others run alone', () => {
  const { tools } = createTasks();
  const readOnly = [...tools].map(([name, tool]) => [name, tool.isReadOnly({}, { cwd: '/' })]);
  expect(Object.fromEntries(readOnly)).toEqual({ TaskCreate: false, TaskUpdate: false, TaskGet: true, TaskList: true });
});
