import { onTestFinished } from 'vitest';
import type { ScriptAnswer, ScriptStep, ScriptToolUse } from '../../src/engine/model/script-step.js';
import type { Message, ModelRequest, SystemMessage } from '../../src/protocol/index.js';
import { type Run, type RunOptions, start } from '../engine/kit.js';

export const task = (id: string, input: object = {}): ScriptToolUse => ({
  name: 'Task',
  id,
  input: { description: `Task ${id}`, prompt: `Do ${id}.`, ...input },
});

export const bash = (id: string, command: string): ScriptToolUse => ({ name: 'Bash', id, input: { command } });

/** The text of all that the model was told in a request, without what its tools are. */
export const saidIn = ({ body }: ModelRequest): string => JSON.stringify(body.messages);

type Answer = string | ScriptAnswer | Promise<string | ScriptAnswer>;

/** A model whose answers depend on what it is asked, since agents that work at once ask in any order. */
export const routed = (count: number, answer: (request: ModelRequest, said: string) => Answer): ScriptStep[] =>
  Array.from({ length: count }, () => (request: ModelRequest) => answer(request, saidIn(request)));

/** A session that is closed with its test. */
export async function open(script: readonly ScriptStep[], options: RunOptions = {}): Promise<Run> {
  const run = await start(script, options);
  onTestFinished(() => run.session.close());
  return run;
}

export const ofSubtype = <S extends SystemMessage['subtype']>(messages: readonly Message[], subtype: S) =>
  messages.filter(
    (message): message is Extract<SystemMessage, { subtype: S }> =>
      message.type === 'system' && message.subtype === subtype,
  );

export const agentIdIn = (text: string): string => /a[0-9a-f]{16}/.exec(text)?.[0] ?? 'no agent id';
