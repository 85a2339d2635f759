/** The inputs of the built-in tools, under the names that programs written for SDK 0.2 know. Types only. */
import type {
  AskUserQuestionInput,
  BashInput,
  ConfigInput,
  EditInput,
  ExitPlanModeInput,
  GlobInput,
  GrepInput,
  ListMcpResourcesInput,
  NotebookEditInput,
  ReadInput,
  ReadMcpResourceInput,
  TaskInput,
  TaskOutputInput,
  TaskStopInput,
  TodoWriteInput,
  WebFetchInput,
  WebSearchInput,
  WriteInput,
} from '../protocol/index.js';

export type {
  AskUserQuestionInput,
  BashInput,
  ConfigInput,
  ExitPlanModeInput,
  GlobInput,
  GrepInput,
  ListMcpResourcesInput,
  NotebookEditInput,
  ReadMcpResourceInput,
  TaskOutputInput,
  TaskStopInput,
  TodoWriteInput,
  WebFetchInput,
  WebSearchInput,
};
export type AgentInput = TaskInput;
export type FileEditInput = EditInput;
export type FileReadInput = ReadInput;
export type FileWriteInput = WriteInput;
/** The input of a tool of an MCP server. */
export type McpInput = Record<string, unknown>;

export type ToolInputSchemas =
  | AgentInput
  | AskUserQuestionInput
  | BashInput
  | ConfigInput
  | ExitPlanModeInput
  | FileEditInput
  | FileReadInput
  | FileWriteInput
  | GlobInput
  | GrepInput
  | ListMcpResourcesInput
  | McpInput
  | NotebookEditInput
  | ReadMcpResourceInput
  | TaskOutputInput
  | TaskStopInput
  | TodoWriteInput
  | WebFetchInput
  | WebSearchInput;
