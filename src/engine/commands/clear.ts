/** `/clear`: the conversation begins anew. The log keeps what was said, and the cost counts it. */
import type { SessionScope } from '../scope.js';
import { grantedUpdates, lastChoices } from '../sessions/resume.js';

/** Turns of dead processes must be settled before. Gives what the user is told. */
export async function clearConversation(
  scope: SessionScope,
  { promptUuid }: { promptUuid: string | undefined },
): Promise<string> {
  const { recorder, clock, commands, ledger, memory, mcp, manners, id } = scope;
  const { entries } = recorder.log;
  const [choices, updates] = [lastChoices(entries), grantedUpdates(entries)];
  await recorder.life({ kind: 'branch', at: null }, { sync: true });
  // What somebody chose or granted for the session is no part of the conversation.
  if (Object.keys(choices).length > 0) void recorder.life({ kind: 'set', ...choices });
  if (updates.length > 0) void recorder.life({ kind: 'permissions', updates });
  const { lists } = commands.own;
  if (lists.todos.length > 0) lists.setTodos([]);
  if (lists.tasks.length > 0) lists.setTasks([]);
  ledger.forget();
  memory.forget();
  mcp.retell();
  if (manners.tellsReset) {
    recorder.emit({
      type: 'conversation_reset',
      new_conversation_id: clock.uuid(),
      trigger: 'clear',
      ...(promptUuid !== undefined && { user_message_uuid: promptUuid }),
      timestamp: new Date(clock.now()).toISOString(),
      uuid: clock.uuid(),
      session_id: id,
    });
  }
  return 'The conversation begins anew.';
}
