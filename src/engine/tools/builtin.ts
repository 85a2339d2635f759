import type { Tool } from '../../protocol/index.js';
import { createAgentTool } from './agent.js';
import { askUserQuestionTool } from './ask-user-question.js';
import { createBashTool } from './bash.js';
import { createConfigTool } from './config.js';
import { editTool } from './edit.js';
import { createEnterPlanModeTool } from './enter-plan-mode.js';
import { createExitPlanModeTool } from './exit-plan-mode.js';
import { globTool } from './glob.js';
import { grepTool } from './grep.js';
import { createTaskListTools } from './list-tasks.js';
import { notebookEditTool } from './notebook-edit.js';
import type { ToolParts } from './parts.js';
import { readTool } from './read.js';
import { createSkillTool } from './skill.js';
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
    ...(parts.agents.mayStart ? [createAgentTool(parts)] : []),
    askUserQuestionTool,
    createBashTool(parts),
    editTool,
    createEnterPlanModeTool(parts),
    createExitPlanModeTool(parts),
    globTool,
    grepTool,
    notebookEditTool,
    readTool,
    ...(parts.skills.isOffered ? [createSkillTool(parts)] : []),
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
