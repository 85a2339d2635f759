/**
 * The input of every built-in tool. The model reads these descriptions with each request, so they are short.
 * Unlike messages, inputs are strict and may have defaults: what runs is the parsed copy.
 */
import { z } from 'zod';
import { type Infer, lazy } from './lazy.js';

const path = (what: string) => z.string().min(1).describe(what);
/** Filled in by the host: checked, but not shown to the model. */
const byHost = <T extends z.ZodType>(schema: T) => schema.optional().meta({ 'x-host': true });
const flag = (what: string) => z.boolean().optional().describe(what);

export const ReadInput = lazy(() =>
  z.strictObject({
    file_path: path('File, absolute path'),
    offset: z.int().min(0).optional().describe('First line, from 1'),
    limit: z.int().positive().optional().describe('Number of lines'),
    pages: z.string().optional().describe('PDF pages, such as 1-5'),
  }),
);
export type ReadInput = Infer<typeof ReadInput>;

export const WriteInput = lazy(() =>
  z.strictObject({ file_path: path('File, absolute path'), content: z.string().describe('The whole new content') }),
);
export type WriteInput = Infer<typeof WriteInput>;

export const EditInput = lazy(() =>
  z.strictObject({
    file_path: path('File, absolute path'),
    old_string: z.string().describe('Exact text to replace; must occur once'),
    new_string: z.string().describe('Text to put there'),
    replace_all: z.boolean().default(false).describe('Replace every occurrence'),
  }),
);
export type EditInput = Infer<typeof EditInput>;

export const GlobInput = lazy(() =>
  z.strictObject({
    pattern: path('Such as src/**/*.ts'),
    path: z.string().optional().describe('Folder to search; default: working directory'),
  }),
);
export type GlobInput = Infer<typeof GlobInput>;

export const GrepInput = lazy(() =>
  z.strictObject({
    pattern: path('Regular expression'),
    path: z.string().optional().describe('File or folder; default: working directory'),
    glob: z.string().optional().describe('Only files like *.ts'),
    type: z.string().optional().describe('Only files of this type: js, py, ...'),
    output_mode: z.enum(['content', 'files_with_matches', 'count']).optional().describe('Default: files_with_matches'),
    '-A': z.int().min(0).optional().describe('Lines after a match'),
    '-B': z.int().min(0).optional().describe('Lines before'),
    '-C': z.int().min(0).optional().describe('Lines around'),
    context: z.int().min(0).optional().describe('Same as -C'),
    '-n': flag('Line numbers; default: true'),
    '-i': flag('Ignore case'),
    '-o': flag('Only the matched text'),
    multiline: flag('Matches may span lines'),
    head_limit: z.int().min(0).optional().describe('At most this many entries'),
    offset: z.int().min(0).optional().describe('Skip this many entries'),
  }),
);
export type GrepInput = Infer<typeof GrepInput>;

export const BashInput = lazy(() =>
  z.strictObject({
    command: path('Command line for bash'),
    description: z.string().optional().describe('What it does, in a few words'),
    timeout: z.number().positive().max(600_000).optional().describe('Milliseconds; default: 120000'),
    run_in_background: flag('Go on while it runs'),
    dangerouslyDisableSandbox: flag('Run outside the sandbox; asks first'),
  }),
);
export type BashInput = Infer<typeof BashInput>;

export const NotebookEditInput = lazy(() =>
  z.strictObject({
    notebook_path: path('Notebook, absolute path'),
    cell_id: z.string().optional().describe('Cell to change, or to insert after'),
    new_source: z.string().describe('New source of the cell'),
    cell_type: z.enum(['code', 'markdown']).optional().describe('Needed for insert'),
    edit_mode: z.enum(['replace', 'insert', 'delete']).optional().describe('Default: replace'),
  }),
);
export type NotebookEditInput = Infer<typeof NotebookEditInput>;

export const WebFetchInput = lazy(() =>
  z.strictObject({ url: z.url().describe('Address of the page'), prompt: z.string().describe('What to find out') }),
);
export type WebFetchInput = Infer<typeof WebFetchInput>;

export const WebSearchInput = lazy(() =>
  z.strictObject({
    query: z.string().min(2),
    allowed_domains: z.array(z.string()).optional().describe('Only these hosts'),
    blocked_domains: z.array(z.string()).optional().describe('Not these hosts'),
  }),
);
export type WebSearchInput = Infer<typeof WebSearchInput>;

const progress = () => z.enum(['pending', 'in_progress', 'completed']);

export const TodoWriteInput = lazy(() =>
  z.strictObject({
    todos: z
      .array(
        z.strictObject({
          content: z.string().min(1).describe('What to do'),
          status: progress(),
          activeForm: z.string().min(1).describe('The same while it is being done: "Running tests"'),
        }),
      )
      .describe('The whole list'),
  }),
);
export type TodoWriteInput = Infer<typeof TodoWriteInput>;

const taskMetadata = () => z.record(z.string(), z.unknown()).optional();

export const TaskCreateInput = lazy(() =>
  z.strictObject({
    subject: z.string().min(1).describe('Short title'),
    description: z.string().describe('What is to be done'),
    activeForm: z.string().optional().describe('Shown while in progress'),
    metadata: taskMetadata(),
  }),
);
export type TaskCreateInput = Infer<typeof TaskCreateInput>;

export const TaskUpdateInput = lazy(() =>
  z.strictObject({
    taskId: z.string(),
    subject: z.string().optional(),
    description: z.string().optional(),
    activeForm: z.string().optional(),
    status: z.enum(['pending', 'in_progress', 'completed', 'deleted']).optional(),
    addBlocks: z.array(z.string()).optional().describe('Tasks that wait for this one'),
    addBlockedBy: z.array(z.string()).optional().describe('Tasks this one waits for'),
    owner: z.string().optional(),
    metadata: taskMetadata(),
  }),
);
export type TaskUpdateInput = Infer<typeof TaskUpdateInput>;

export const TaskGetInput = lazy(() => z.strictObject({ taskId: z.string() }));
export type TaskGetInput = Infer<typeof TaskGetInput>;

export const TaskListInput = lazy(() => z.strictObject({}));
export type TaskListInput = Infer<typeof TaskListInput>;

export const TaskOutputInput = lazy(() =>
  z.strictObject({
    task_id: z.string().describe('Id of a background command or agent'),
    block: z.boolean().default(true).describe('Wait until it ends'),
    timeout: z.number().min(0).max(600_000).default(30_000).describe('Milliseconds to wait'),
  }),
);
export type TaskOutputInput = Infer<typeof TaskOutputInput>;

export const TaskStopInput = lazy(() =>
  z.strictObject({
    task_id: z.string().optional().describe('Id of a background command or agent'),
    shell_id: z.string().optional().describe('Older name of task_id'),
  }),
);
export type TaskStopInput = Infer<typeof TaskStopInput>;

/** Starts a subagent. */
export const TaskInput = lazy(() =>
  z.strictObject({
    description: z.string().describe('The task in three to five words'),
    prompt: z.string().describe('All the agent needs to know'),
    subagent_type: z.string().optional().describe('Name of the agent; default: general-purpose'),
    model: z.string().optional().describe('sonnet, opus, haiku or a full name; default: that of the agent'),
    resume: z.string().optional().describe('Id of an earlier agent to go on with'),
    run_in_background: flag('Go on while it works'),
    max_turns: z.int().positive().optional(),
    mode: z.string().optional().describe('Permission mode'),
    isolation: z.enum(['worktree']).optional().describe('Work in a copy of the repository'),
  }),
);
export type TaskInput = Infer<typeof TaskInput>;

export const AskUserQuestionInput = lazy(() =>
  z.strictObject({
    questions: z
      .array(
        z.strictObject({
          question: z.string(),
          header: z.string().describe('Label of a word or two'),
          options: z
            .array(
              z.strictObject({
                label: z.string(),
                description: z.string(),
                preview: z.string().optional().describe('Shown beside the option'),
                markdown: byHost(z.string()),
              }),
            )
            .min(2)
            .max(4),
          multiSelect: z.boolean().default(false).describe('Several may be chosen'),
        }),
      )
      .min(1)
      .max(4),
    answers: byHost(z.record(z.string(), z.union([z.string(), z.array(z.string())]))),
    annotations: byHost(z.record(z.string(), z.unknown())),
    metadata: byHost(z.strictObject({ source: z.string().optional() })),
  }),
);
export type AskUserQuestionInput = Infer<typeof AskUserQuestionInput>;

/** Not strict: hosts add fields of their own to the plan they show. */
export const ExitPlanModeInput = lazy(() =>
  z.looseObject({
    plan: z.string().optional(),
    allowedPrompts: z
      .array(z.strictObject({ tool: z.enum(['Bash']), prompt: z.string() }))
      .optional()
      .describe('What the plan needs to run, in words'),
    pushToRemote: byHost(z.boolean()),
    remoteSessionId: byHost(z.string()),
    remoteSessionUrl: byHost(z.string()),
    remoteSessionTitle: byHost(z.string()),
  }),
);
export type ExitPlanModeInput = Infer<typeof ExitPlanModeInput>;

export const EnterPlanModeInput = lazy(() => z.strictObject({}));
export type EnterPlanModeInput = Infer<typeof EnterPlanModeInput>;

export const ConfigInput = lazy(() =>
  z.strictObject({
    setting: z.string().min(1).describe('Key, such as model'),
    value: z.union([z.string(), z.boolean(), z.number()]).optional().describe('Absent: read it'),
  }),
);
export type ConfigInput = Infer<typeof ConfigInput>;

export const ListMcpResourcesInput = lazy(() =>
  z.strictObject({ server: z.string().optional().describe('Only of this MCP server') }),
);
export type ListMcpResourcesInput = Infer<typeof ListMcpResourcesInput>;

export const ReadMcpResourceInput = lazy(() =>
  z.strictObject({ server: z.string().describe('Name of the MCP server'), uri: z.string() }),
);
export type ReadMcpResourceInput = Infer<typeof ReadMcpResourceInput>;

export const SkillInput = lazy(() =>
  z.strictObject({ skill: z.string().min(1).describe('Name of the skill'), args: z.string().optional() }),
);
export type SkillInput = Infer<typeof SkillInput>;

export const ToolSearchInput = lazy(() =>
  z.strictObject({
    query: z.string().min(1).describe('Words, or select:Name,Name'),
    max_results: z.int().positive().default(5),
  }),
);
export type ToolSearchInput = Infer<typeof ToolSearchInput>;

/** Tool name to schema. `StructuredOutput` is absent: its schema is the one the caller asked for. */
export const TOOL_INPUTS = {
  Task: TaskInput,
  TaskOutput: TaskOutputInput,
  TaskStop: TaskStopInput,
  Bash: BashInput,
  Read: ReadInput,
  Write: WriteInput,
  Edit: EditInput,
  Glob: GlobInput,
  Grep: GrepInput,
  NotebookEdit: NotebookEditInput,
  WebFetch: WebFetchInput,
  WebSearch: WebSearchInput,
  TodoWrite: TodoWriteInput,
  TaskCreate: TaskCreateInput,
  TaskUpdate: TaskUpdateInput,
  TaskGet: TaskGetInput,
  TaskList: TaskListInput,
  ExitPlanMode: ExitPlanModeInput,
  EnterPlanMode: EnterPlanModeInput,
  AskUserQuestion: AskUserQuestionInput,
  Config: ConfigInput,
  ListMcpResourcesTool: ListMcpResourcesInput,
  ReadMcpResourceTool: ReadMcpResourceInput,
  Skill: SkillInput,
  ToolSearch: ToolSearchInput,
} as const;

/** Names of the built-in tools whose input is known in advance. */
export type BuiltinToolName = keyof typeof TOOL_INPUTS;
