/** Shows what a local command answers. It is no part of the conversation, and so not kept. */
import type { SessionScope } from '../scope.js';

export function showLocal(
  { recorder, clock, manners, id }: SessionScope,
  { name, text }: { name: string; text: string },
): void {
  const shared = { parent_tool_use_id: null, session_id: id, uuid: clock.uuid() };
  if (!manners.answersCommands) {
    const content = `<local-command-stdout>${text}</local-command-stdout>`;
    recorder.emit({ type: 'user', message: { role: 'user', content }, ...shared, isReplay: true });
    return;
  }
  recorder.emit({
    type: 'assistant',
    message: {
      id: clock.uuid(),
      type: 'message',
      role: 'assistant',
      model: '<synthetic>',
      content: [{ type: 'text', text }],
      stop_reason: 'stop_sequence',
      stop_sequence: '',
      usage: { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    },
    ...shared,
    timestamp: new Date(clock.now()).toISOString(),
    local_command_source: name,
  });
}
