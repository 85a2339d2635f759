/** Which lines of ours can be counted with. Valid JSON may still hold anything: what is not whole counts as not there. */

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

/** The fields of a life entry that nobody stumbles over, or undefined. Kinds of later versions are passed through. */
export function toWholeLife(fields: Fields): Fields | undefined {
  const { kind } = fields;
  if (!isText(kind)) return undefined;
  const shape = Object.hasOwn(SHAPES, kind) ? SHAPES[kind] : undefined;
  if (shape !== undefined && !hasShape(fields, shape)) return undefined;
  if (kind === 'call') return hasState(fields, CALL_STATES) ? fields : undefined;
  if (kind === 'task') return hasState(fields, TASK_STATES) ? fields : undefined;
  if (kind === 'permissions') return { ...fields, updates: (fields['updates'] as unknown[]).filter(isUpdate) };
  if (kind === 'list') return withLists(fields);
  return kind === 'step' || kind === 'aborted' || kind === 'aside' ? withCounts(fields) : fields;
}

type Shape = Readonly<Record<string, Check>>;

/** A loop without a list of its own: a log has many lines. */
function hasShape(fields: Fields, shape: Shape): boolean {
  for (const name in shape) if (!shape[name]?.(fields[name])) return false;
  return true;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';

const maybe =
  (isSo: Check): Check =>
  (value) =>
    value === undefined || isSo(value);
const orNull =
  (isSo: Check): Check =>
  (value) =>
    value === null || isSo(value);
export const listOf =
  (isSo: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(isSo);

const USAGE: Shape = {
  input_tokens: Number.isFinite,
  cache_read_input_tokens: maybe(orNull(Number.isFinite)),
  cache_creation_input_tokens: maybe(orNull(Number.isFinite)),
};
const COUNTED: Shape = {
  messageId: isText,
  model: isText,
  usage: (usage) => isFields(usage) && hasShape(usage, USAGE),
};

const isWorktree: Check = (value) => isFields(value) && hasShape(value, { path: isText, cwd: isText });

/** What readers take for granted of each kind. */
const SHAPES: Readonly<Record<string, Shape>> = {
  turn: { state: isText, promptUuid: maybe(isText), subtype: maybe(isText) },
  memory: { paths: listOf(isText) },
  agent: { agentId: isText, agentType: isText, toolUseId: maybe(isText), worktree: maybe(isWorktree) },
  step: COUNTED,
  aborted: COUNTED,
  aside: { ...COUNTED, agentId: maybe(isText), agentType: maybe(isText) },
  call: { toolUseId: isText },
  set: {
    model: maybe(orNull(isText)),
    mode: maybe(isText),
    modeBefore: maybe(isText),
    plan: maybe(isText),
    maxThinkingTokens: maybe(orNull(Number.isFinite)),
    cwd: maybe(isText),
  },
  fallback: { model: isText },
  noted: { path: isText, hash: isText },
  task: { taskId: isText },
  branch: { at: orNull(isText) },
  trim: { toolUseIds: listOf(isText) },
  permissions: { updates: Array.isArray },
  file: {
    promptUuid: isText,
    path: isText,
    reason: maybe(isText),
    before: maybe(orNull(isText)),
    after: maybe(orNull(isText)),
    mode: maybe(Number.isSafeInteger),
    afterMode: maybe(Number.isSafeInteger),
  },
  queue: { state: isText, promptUuid: isText },
  mark: { archived: isBoolean },
};

const CALL_STATES: Readonly<Record<string, Shape>> = {
  requested: { questionId: isText, explanation: maybe(isText), grounds: maybe(isText), definition: maybe(isText) },
  answered: {
    behavior: (value) => value === 'allow' || value === 'deny',
    message: maybe(isText),
    updatedInput: maybe(isFields),
    grounds: maybe(isText),
  },
  started: {},
};

const TASK_STATES: Readonly<Record<string, Shape>> = {
  started: { toolUseId: isText, description: isText },
  ended: { status: isText, notice: isText },
  told: {},
};

function hasState(fields: Fields, states: Readonly<Record<string, Shape>>): boolean {
  const state = String(fields['state']);
  const shape = Object.hasOwn(states, state) ? states[state] : undefined;
  return shape !== undefined && hasShape(fields, shape);
}

/** What nobody knows the cost of was still said. */
function withCounts(fields: Fields): Fields {
  const { microCents, usage } = fields;
  const isPriced = orNull(Number.isFinite)(microCents);
  const isCounted = isFields(usage) && Number.isFinite(usage['output_tokens']);
  if (isPriced && isCounted) return fields;
  return {
    ...fields,
    microCents: isPriced ? microCents : null,
    usage: isCounted ? usage : { ...(usage as Fields), output_tokens: 0 },
  };
}

const isTodo: Check = (todo) => isFields(todo) && hasShape(todo, { content: isText, status: isText });

/** Each list that is whole. */
function withLists(fields: Fields): Fields {
  const { todos, ...rest } = fields;
  return todos === undefined || listOf(isTodo)(todos) ? fields : rest;
}

const isRule: Check = (rule) =>
  isFields(rule) && hasShape(rule, { toolName: isText, ruleContent: maybe(orNull(isText)) });

const RULES: Shape = { behavior: isText, rules: listOf(isRule) };
const DIRECTORIES: Shape = { directories: listOf(isText) };
const UPDATES: Readonly<Record<string, Shape>> = {
  addRules: RULES,
  replaceRules: RULES,
  removeRules: RULES,
  addDirectories: DIRECTORIES,
  removeDirectories: DIRECTORIES,
  setMode: { mode: isText },
};

/** One that says less than it must would be a grant that nobody could name. */
function isUpdate(update: unknown): boolean {
  if (!isFields(update) || !isText(update['type']) || !isText(update['destination'])) return false;
  const shape = Object.hasOwn(UPDATES, update['type']) ? UPDATES[update['type']] : undefined;
  return shape !== undefined && hasShape(update, shape);
}
