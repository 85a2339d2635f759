import type { Tool } from '../../protocol/index.js';
import { askUserQuestionTool } from './ask-user-question.js';
import { createBashTool } from './bash.js';
import { createConfigTool } from './config.js';
import { editTool } from './edit.js';
import { globTool } from './glob.js';
import { grepTool } from './grep.js';
import { createTaskListTools } from './list-tasks.js';
import { notebookEditTool } from './notebook-edit.js';
import type { ToolParts } from './parts.js';
import { readTool } from './read.js';
import { createTaskOutputTool } from './task-output.js';
import { createTaskStopTool } from './task-stop.js';
import { createTodoWriteTool } from './todo-write.js';
import { createWebFetchTool } from './web-fetch.js';
import { createWebSearchTool } from './web-search.js';
import { writeTool } from './write.js';

/** The tools every session has unless it is told otherwise. */
export function createBuiltinTools(parts: ToolParts): Tool[] {
  const webSearch = createWebSearchTool(parts);
  return [
    askUserQuestionTool,
    createBashTool(parts),
    editTool,
    globTool,
    grepTool,
    notebookEditTool,
    readTool,
    createTaskOutputTool(parts),
    createTaskStopTool(parts),
    createTodoWriteTool(parts),
    createWebFetchTool(parts),
    ...(webSearch ? [webSearch] : []),
    writeTool,
    ...createTaskListTools(parts),
    createConfigTool({ userFile: parts.settings().files.user, current: parts.settings }),
  ] as Tool[];
}
