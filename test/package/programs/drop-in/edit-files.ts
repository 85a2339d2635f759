// Streaming input, a permission callback, partial messages, and the result by its subtype.
import {
  AbortError,
  query,
  type CanUseTool,
  type Options,
  type PermissionMode,
  type PermissionResult,
  type SDKAssistantMessage,
  type SDKMessage,
  type SDKPartialAssistantMessage,
  type SDKResultMessage,
  type SDKSystemMessage,
  type SDKUserMessage,
} from '@anthropic-ai/claude-agent-sdk';
import type { FileWriteInput } from '@anthropic-ai/claude-agent-sdk/sdk-tools.js';

class Inbox implements AsyncIterable<SDKUserMessage> {
  private readonly waiting: SDKUserMessage[] = [];
  private wake: (() => void) | undefined;
  private closed = false;

  push(text: string): void {
    this.waiting.push({
      type: 'user',
      message: { role: 'user', content: [{ type: 'text', text }] },
      parent_tool_use_id: null,
      session_id: '',
    });
    this.wake?.();
  }

  close(): void {
    this.closed = true;
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SDKUserMessage> {
    while (true) {
      const next = this.waiting.shift();
      if (next) yield next;
      else if (this.closed) return;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}

const asked: string[] = [];
const canUseTool: CanUseTool = async (toolName, input, { signal, suggestions }): Promise<PermissionResult> => {
  asked.push(`${toolName} ${suggestions ? 'with' : 'without'} suggestions`);
  if (signal.aborted) throw new AbortError('too late');
  if (toolName === 'Write') {
    const { file_path, content } = input as unknown as FileWriteInput;
    return { behavior: 'allow', updatedInput: { file_path, content: content.toUpperCase() } };
  }
  return { behavior: 'deny', message: 'Only files may be written.', interrupt: false };
};

const mode: PermissionMode = 'default';
const options: Options = {
  model: 'claude-sonnet-4-6',
  permissionMode: mode,
  allowedTools: ['Read', 'Glob'],
  disallowedTools: ['WebSearch'],
  systemPrompt: { type: 'preset', preset: 'claude_code', append: 'Be brief.' },
  settingSources: [],
  includePartialMessages: true,
  maxTurns: 10,
  abortController: new AbortController(),
  env: { ...process.env },
  stderr: (data) => process.stderr.write(data),
  canUseTool,
};

function onInit(message: SDKSystemMessage): void {
  const { tools, slash_commands, mcp_servers, permissionMode } = message;
  console.log('init:', tools.includes('Write'), Array.isArray(slash_commands), mcp_servers.length, permissionMode);
}

function onPartial({ event }: SDKPartialAssistantMessage): string {
  if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') return event.delta.text;
  return '';
}

function onAssistant({ message }: SDKAssistantMessage): void {
  for (const block of message.content) {
    if ('text' in block) console.log('text:', block.text);
    else if ('name' in block) console.log('tool:', block.name);
  }
}

function onResult(result: SDKResultMessage): void {
  switch (result.subtype) {
    case 'success':
      console.log('success:', result.result, result.num_turns, result.total_cost_usd >= 0);
      break;
    case 'error_max_turns':
    case 'error_max_budget_usd':
    case 'error_during_execution':
    case 'error_max_structured_output_retries':
      console.error('failed:', result.subtype, result.errors.join('; '));
  }
  for (const { tool_name } of result.permission_denials) console.log('denied:', tool_name);
  for (const [, usage] of Object.entries(result.modelUsage))
    console.log('tokens:', usage.inputTokens + usage.outputTokens > 0);
  console.log('cache:', result.usage.cache_read_input_tokens);
}

const inbox = new Inbox();
inbox.push('Write a greeting to hello.txt.');
let streamed = '';
let results = 0;
let sessionId: string | undefined;

for await (const message of query({ prompt: inbox, options })) {
  const known: SDKMessage = message;
  sessionId ??= known.session_id;
  if (message.type === 'system' && message.subtype === 'init') onInit(message);
  else if (message.type === 'stream_event') streamed += onPartial(message);
  else if (message.type === 'assistant') onAssistant(message);
  else if (message.type === 'result') {
    onResult(message);
    results += 1;
    if (results === 1) inbox.push('Now remove it.');
    else inbox.close();
  }
}
console.log('streamed:', streamed);
console.log('asked:', asked.join(', '));
console.log('session:', typeof sessionId);
