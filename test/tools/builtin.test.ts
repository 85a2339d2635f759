import { describe, expect, it } from 'vitest';
import { createLists } from '../../src/engine/lists.js';
import { createBuiltinTools } from '../../src/engine/tools/builtin.js';
import type { ToolParts } from '../../src/engine/tools/parts.js';
import { selectTools } from '../../src/engine/tools/registry.js';

const parts = (rest: Partial<ToolParts> = {}): ToolParts => ({
  tasks: {} as ToolParts['tasks'],
  agents: { list: [], mayStart: true } as unknown as ToolParts['agents'],
  lists: createLists({ known: {}, onChange: () => {} }),
  openOutput: () => Promise.reject(new Error('not here')) as never,
  callAside: () => Promise.reject(new Error('not here')),
  settings: () => ({ files: { user: '/config/settings.json' } }) as ReturnType<ToolParts['settings']>,
  env: {},
  plan: {} as ToolParts['plan'],
  skills: { isOffered: true } as ToolParts['skills'],
  providerSearches: true,
  ...rest,
});

describe('createBuiltinTools', () => {
  const tools = createBuiltinTools(parts());

  it('gives all of them, and WebSearch only where something can search', () => {
    const names = tools.map((tool) => tool.name);
    expect(names).toEqual([
      'Task',
      'AskUserQuestion',
      'Bash',
      'Edit',
      'EnterPlanMode',
      'ExitPlanMode',
      'Glob',
      'Grep',
      'NotebookEdit',
      'Read',
      'Skill',
      'TaskOutput',
      'TaskStop',
      'TodoWrite',
      'WebFetch',
      'WebSearch',
      'Write',
      'TaskCreate',
      'TaskUpdate',
      'TaskGet',
      'TaskList',
      'Config',
    ]);
    const without = createBuiltinTools(parts({ providerSearches: false })).map((tool) => tool.name);
    expect(names.filter((name) => !without.includes(name))).toEqual(['WebSearch']);
  });

  it('knows which of them edit files', () => {
    expect(tools.filter((tool) => tool.edits === true).map((tool) => tool.name)).toEqual([
      'Edit',
      'NotebookEdit',
      'Write',
    ]);
  });

  it('size budget: those that every session has take at most 10 KB of the request', () => {
    const { params } = selectTools(tools, {}, { canAsk: true });
    expect(Buffer.byteLength(JSON.stringify(params))).toBeLessThan(10_240);
  });

  it('has the schema of every one', () => {
    expect(tools.filter((tool) => tool.inputSchema.properties === undefined).map((tool) => tool.name)).toEqual([]);
  });
});
