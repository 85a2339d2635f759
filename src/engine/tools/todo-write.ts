import type { TodoWriteInput, TodoWriteOutput, WholeTool } from '../../protocol/index.js';
import type { ToolParts } from './parts.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

export function createTodoWriteTool({ lists }: Pick<ToolParts, 'lists'>): WholeTool<TodoWriteInput> {
  return {
    name: 'TodoWrite',
    description:
      'Replaces your list of todos, which the user sees. Use it for work of several steps; have one in progress at a time.',
    inputSchema: inputSchemaOf('TodoWrite'),
    parse: (input) => parseToolInput('TodoWrite', input),
    isReadOnly: () => false,
    async run({ todos }) {
      const structured: TodoWriteOutput = { oldTodos: [...lists.todos], newTodos: todos };
      lists.setTodos(todos);
      return {
        content: 'Todos have been modified successfully. Go on with what is in progress, and keep the list current.',
        structured,
      };
    },
  };
}
