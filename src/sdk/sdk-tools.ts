/** The inputs and results of the built-in tools, under the names that programs written for SDK 0.2 know. Types only. */
import type {
  AskUserQuestionInput,
  AskUserQuestionOutput,
  BashInput,
  BashOutput,
  ConfigInput,
  EditInput,
  EditOutput,
  ExitPlanModeInput,
  GlobInput,
  GlobOutput,
  GrepInput,
  GrepOutput,
  ListMcpResourcesInput,
  NotebookEditInput,
  NotebookEditOutput,
  ReadInput,
  ReadMcpResourceInput,
  ReadOutput,
  TaskInput,
  TaskOutputInput,
  TaskOutputOutput,
  TaskStopInput,
  TaskStopOutput,
  TodoWriteInput,
  TodoWriteOutput,
  WebFetchInput,
  WebFetchOutput,
  WebSearchInput,
  WebSearchOutput,
  WriteInput,
  WriteOutput,
} from '../protocol/index.js';

export type {
  AskUserQuestionInput,
  AskUserQuestionOutput,
  BashInput,
  BashOutput,
  ConfigInput,
  ExitPlanModeInput,
  GlobInput,
  GlobOutput,
  GrepInput,
  GrepOutput,
  ListMcpResourcesInput,
  NotebookEditInput,
  NotebookEditOutput,
  ReadMcpResourceInput,
  TaskOutputInput,
  TaskOutputOutput,
  TaskStopInput,
  TaskStopOutput,
  TodoWriteInput,
  TodoWriteOutput,
  WebFetchInput,
  WebFetchOutput,
  WebSearchInput,
  WebSearchOutput,
};
export type AgentInput = TaskInput;
export type FileEditInput = EditInput;
export type FileReadInput = ReadInput;
export type FileWriteInput = WriteInput;
export type FileEditOutput = EditOutput;
export type FileReadOutput = ReadOutput;
export type FileWriteOutput = WriteOutput;
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

/** What `tool_use_result` may be after a call that went well. */
export type ToolOutputSchemas =
  | AskUserQuestionOutput
  | BashOutput
  | FileEditOutput
  | FileReadOutput
  | FileWriteOutput
  | GlobOutput
  | GrepOutput
  | NotebookEditOutput
  | TaskOutputOutput
  | TaskStopOutput
  | TodoWriteOutput
  | WebFetchOutput
  | WebSearchOutput;
