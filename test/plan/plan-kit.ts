import type { Attachment, Question } from '../../src/engine/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { type Run, type RunOptions, start } from '../engine/kit.js';

export const PLAN = { permissionMode: 'plan' as const };

export const call = (name: string, id: string, input: Record<string, unknown> = {}): ScriptStep => ({
  toolUse: { name, id, input },
});
export const exit = (id = 'exit', input: Record<string, unknown> = {}): ScriptStep => call('ExitPlanMode', id, input);
export const write = (id: string, file_path: string, content = 'x'): ScriptStep =>
  call('Write', id, { file_path, content });

export interface PlanRun extends Run {
  asked: Question[];
}

type Answers = (question: Question) => unknown;

/** A session with somebody who answers; allows whatever nothing is said about. */
export async function plan(
  script: readonly ScriptStep[],
  { answers = () => undefined, ...options }: RunOptions & { answers?: Answers } = {},
): Promise<PlanRun> {
  const asked: Question[] = [];
  const ask: NonNullable<Attachment['ask']> = async (question) => {
    asked.push(question);
    return answers(question) ?? { behavior: 'allow' };
  };
  return Object.assign(await start(script, { ask, ...options }), { asked });
}

/** All that the model was told in one request. */
export const told = (run: Run, request = 0): string => JSON.stringify(run.model.requests[request]?.body.messages);

/** Where the model was told to keep its plan. */
export function fileOf(run: Run): string {
  const [path] = /[^\s"]*\/plans\/[a-z-]+\.md/.exec(told(run, run.model.requests.length - 1)) ?? [];
  if (path === undefined) throw new Error('The model was told of no file.');
  return path;
}

export const modes = ({ messages }: Run): unknown[] =>
  messages.flatMap((message) =>
    message.type === 'system' && message.subtype === 'status' && message.permissionMode ? [message.permissionMode] : [],
  );
