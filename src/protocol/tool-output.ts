/**
 * What a consumer finds in `tool_use_result` after a call of a built-in tool that went well; after a failed one it is a
 * text. Fields that older engines do not give are optional, and unknown ones survive.
 */
import { z } from 'zod';
import { type Infer, lazy } from './lazy.js';
import { openName } from './open-union.js';

const file = <S extends z.ZodRawShape>(shape: S) => z.looseObject({ filePath: z.string(), ...shape });

const notebookCell = () =>
  z.looseObject({
    cellType: z.string(),
    source: z.string(),
    cell_id: z.string().optional(),
    language: z.string().optional(),
    execution_count: z.number().optional(),
    outputs: z.array(z.looseObject({ output_type: z.string(), text: z.string().optional() })).optional(),
  });

export const ReadOutput = lazy(() =>
  z.discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('text'),
      file: file({ content: z.string(), numLines: z.int(), startLine: z.int(), totalLines: z.int() }),
    }),
    z.looseObject({
      type: z.literal('image'),
      file: z.looseObject({
        base64: z.string(),
        type: z.string().optional().describe('Media type'),
        originalSize: z.int().optional().describe('Bytes of the file'),
        dimensions: z
          .looseObject({
            originalWidth: z.number(),
            originalHeight: z.number(),
            displayWidth: z.number(),
            displayHeight: z.number(),
          })
          .partial()
          .optional(),
      }),
    }),
    z.looseObject({
      type: z.literal('pdf'),
      file: file({
        numPages: z.int(),
        pages: z.tuple([z.int(), z.int()]).describe('First and last that were read'),
        content: z.string(),
        originalSize: z.int().describe('Bytes of the file'),
      }),
    }),
    z.looseObject({ type: z.literal('notebook'), file: file({ cells: z.array(notebookCell()) }) }),
  ]),
);
export type ReadOutput = Infer<typeof ReadOutput>;

const structuredPatch = () =>
  z.array(
    z.looseObject({
      oldStart: z.int(),
      oldLines: z.int(),
      newStart: z.int(),
      newLines: z.int(),
      lines: z.array(z.string()).describe('Each begins with a blank, - or +'),
    }),
  );

const changed = () => ({
  structuredPatch: structuredPatch(),
  structuredPatchCut: z.boolean().optional().describe('The patch is longer than what is shown of it.'),
  originalFile: z.string().nullable().describe('The text before; null when there was none to tell'),
  userModified: z.boolean().optional(),
});

export const WriteOutput = lazy(() =>
  z.looseObject({ type: z.enum(['create', 'update']), filePath: z.string(), content: z.string(), ...changed() }),
);
export type WriteOutput = Infer<typeof WriteOutput>;

export const EditOutput = lazy(() =>
  z.looseObject({
    filePath: z.string(),
    oldString: z.string(),
    newString: z.string(),
    replaceAll: z.boolean(),
    ...changed(),
  }),
);
export type EditOutput = Infer<typeof EditOutput>;

export const NotebookEditOutput = lazy(() =>
  z.looseObject({
    notebook_path: z.string(),
    edit_mode: openName('replace', 'insert', 'delete'),
    cell_id: z.string().optional(),
    cell_type: openName('code', 'markdown'),
    language: z.string(),
    new_source: z.string(),
    old_source: z.string().optional(),
    original_file: z.string().nullable(),
    updated_file: z.string().nullable(),
    error: z.string().optional(),
  }),
);
export type NotebookEditOutput = Infer<typeof NotebookEditOutput>;

export const GlobOutput = lazy(() =>
  z.looseObject({
    filenames: z.array(z.string()),
    durationMs: z.number(),
    numFiles: z.int(),
    truncated: z.boolean(),
    totalMatches: z.int().optional(),
    countIsComplete: z.boolean().optional(),
  }),
);
export type GlobOutput = Infer<typeof GlobOutput>;

const found = () => ({ filenames: z.array(z.string()), numFiles: z.int() });

export const GrepOutput = lazy(() =>
  z.discriminatedUnion('mode', [
    z.looseObject({ mode: z.literal('files_with_matches'), ...found(), totalFiles: z.int().optional() }),
    z.looseObject({ mode: z.literal('content'), ...found(), content: z.string(), numLines: z.int() }),
    z.looseObject({ mode: z.literal('count'), ...found(), content: z.string(), numMatches: z.int() }),
  ]),
);
export type GrepOutput = Infer<typeof GrepOutput>;

export const BashOutput = lazy(() =>
  z.looseObject({
    stdout: z.string().describe('Both streams, in order'),
    stderr: z.string().describe('Notes about the shell'),
    interrupted: z.boolean(),
    isImage: z.boolean().optional(),
    noOutputExpected: z.boolean().optional(),
    backgroundTaskId: z.string().optional().describe('It still runs, under this id'),
  }),
);
export type BashOutput = Infer<typeof BashOutput>;

const taskType = () => openName('local_bash', 'local_agent');

export const TaskOutputOutput = lazy(() =>
  z.looseObject({
    retrieval_status: openName('success', 'timeout', 'not_ready'),
    task: z
      .looseObject({
        task_id: z.string(),
        task_type: taskType(),
        status: openName('running', 'completed', 'failed', 'stopped'),
        description: z.string(),
        output: z.string(),
        exitCode: z.int().nullable().optional(),
      })
      .nullable(),
  }),
);
export type TaskOutputOutput = Infer<typeof TaskOutputOutput>;

export const TaskStopOutput = lazy(() =>
  z.looseObject({
    message: z.string(),
    task_id: z.string(),
    task_type: taskType(),
    command: z.string().optional(),
  }),
);
export type TaskStopOutput = Infer<typeof TaskStopOutput>;

const workStatus = () => openName('pending', 'in_progress', 'completed');

const todos = () => z.array(z.looseObject({ content: z.string(), status: workStatus(), activeForm: z.string() }));

export const TodoWriteOutput = lazy(() => z.looseObject({ oldTodos: todos(), newTodos: todos() }));
export type TodoWriteOutput = Infer<typeof TodoWriteOutput>;

export const TaskCreateOutput = lazy(() =>
  z.looseObject({ task: z.looseObject({ id: z.string(), subject: z.string() }) }),
);
export type TaskCreateOutput = Infer<typeof TaskCreateOutput>;

export const TaskUpdateOutput = lazy(() =>
  z.looseObject({
    success: z.boolean(),
    taskId: z.string(),
    updatedFields: z.array(z.string()),
    statusChange: z
      .looseObject({ from: workStatus(), to: openName('pending', 'in_progress', 'completed', 'deleted') })
      .optional(),
    error: z.string().optional(),
  }),
);
export type TaskUpdateOutput = Infer<typeof TaskUpdateOutput>;

const listed = () => ({
  id: z.string(),
  subject: z.string(),
  status: workStatus(),
  owner: z.string().optional(),
  blockedBy: z.array(z.string()).describe('Ids of the tasks it waits for'),
});

export const TaskGetOutput = lazy(() =>
  z.looseObject({
    task: z
      .looseObject({
        ...listed(),
        description: z.string(),
        blocks: z.array(z.string()).describe('Ids of the tasks that wait for it'),
        activeForm: z.string().optional(),
        metadata: z.record(z.string(), z.unknown()).optional(),
      })
      .nullable(),
  }),
);
export type TaskGetOutput = Infer<typeof TaskGetOutput>;

export const TaskListOutput = lazy(() => z.looseObject({ tasks: z.array(z.looseObject(listed())) }));
export type TaskListOutput = Infer<typeof TaskListOutput>;

export const WebFetchOutput = lazy(() =>
  z.looseObject({
    url: z.string(),
    bytes: z.int().describe('Size of the page'),
    code: z.int().describe('HTTP status'),
    codeText: z.string(),
    result: z.string(),
    durationMs: z.number(),
  }),
);
export type WebFetchOutput = Infer<typeof WebFetchOutput>;

export const WebSearchOutput = lazy(() =>
  z.looseObject({
    query: z.string(),
    results: z
      .array(z.union([z.string(), z.looseObject({ title: z.string().optional(), url: z.string().optional() })]))
      .describe('What was found, and what was said of it'),
    durationSeconds: z.number(),
    searchCount: z.int().optional(),
  }),
);
export type WebSearchOutput = Infer<typeof WebSearchOutput>;

export const AskUserQuestionOutput = lazy(() =>
  z.looseObject({
    questions: z.array(
      z.looseObject({
        question: z.string(),
        header: z.string(),
        options: z.array(z.looseObject({ label: z.string(), description: z.string(), preview: z.string().optional() })),
        multiSelect: z.boolean(),
      }),
    ),
    answers: z.record(z.string(), z.string()).describe('Question to answer; several are joined by commas'),
    annotations: z.record(z.string(), z.unknown()).optional(),
  }),
);
export type AskUserQuestionOutput = Infer<typeof AskUserQuestionOutput>;

/** Tool name to the schema of its result. */
export const TOOL_OUTPUTS = {
  TaskOutput: TaskOutputOutput,
  TaskStop: TaskStopOutput,
  Bash: BashOutput,
  Read: ReadOutput,
  Write: WriteOutput,
  Edit: EditOutput,
  Glob: GlobOutput,
  Grep: GrepOutput,
  NotebookEdit: NotebookEditOutput,
  WebFetch: WebFetchOutput,
  WebSearch: WebSearchOutput,
  TodoWrite: TodoWriteOutput,
  TaskCreate: TaskCreateOutput,
  TaskUpdate: TaskUpdateOutput,
  TaskGet: TaskGetOutput,
  TaskList: TaskListOutput,
  AskUserQuestion: AskUserQuestionOutput,
} as const;
