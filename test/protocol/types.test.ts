import { describe, expectTypeOf, it } from 'vitest';
import type {
  ContentBlock,
  ControlRequest,
  ControlResponse,
  EngineRequest,
  Frame,
  HookInput,
  HookOutput,
  HostRequest,
  InitMessage,
  Message,
  ModelEvent,
  ParamsOf,
  PermissionMode,
  PermissionResult,
  PermissionUpdate,
  ResultError,
  ResultMessage,
  ResultOf,
  ResultSuccess,
  StreamEventMessage,
  SystemMessage,
  ToolUseBlock,
} from '../../src/protocol/index.js';
import { isControlRequest } from '../../src/protocol/index.js';

type Member<Union, Key extends PropertyKey, Value> = Extract<Union, Record<Key, Value>>;

// The compiler is the judge here; at run time these only have to exist.
describe('types (H2)', () => {
  it('are not any', () => {
    expectTypeOf<Message>().not.toBeAny();
    expectTypeOf<Frame>().not.toBeAny();
    expectTypeOf<ControlRequest>().not.toBeAny();
    expectTypeOf<ControlRequest['request']>().not.toBeAny();
    expectTypeOf<ControlResponse>().not.toBeAny();
    expectTypeOf<SystemMessage>().not.toBeAny();
    expectTypeOf<ResultMessage>().not.toBeAny();
    expectTypeOf<ContentBlock>().not.toBeAny();
    expectTypeOf<ModelEvent>().not.toBeAny();
    expectTypeOf<HookInput>().not.toBeAny();
    expectTypeOf<HookOutput>().not.toBeAny();
    expectTypeOf<PermissionUpdate>().not.toBeAny();
    expectTypeOf<PermissionResult>().not.toBeAny();
  });

  it('narrow by type and subtype', () => {
    expectTypeOf<Member<Message, 'type', 'stream_event'>>().toEqualTypeOf<StreamEventMessage>();
    expectTypeOf<Member<Message, 'type', 'result'>>().toEqualTypeOf<ResultMessage>();
    expectTypeOf<Member<SystemMessage, 'subtype', 'init'>>().toEqualTypeOf<InitMessage>();
    expectTypeOf<Member<ContentBlock, 'type', 'tool_use'>>().toEqualTypeOf<ToolUseBlock>();

    const read = (message: Message): void => {
      if (message.type === 'assistant') expectTypeOf(message.message.content).toEqualTypeOf<ContentBlock[]>();
      if (message.type === 'system' && message.subtype === 'init') {
        expectTypeOf(message.permissionMode).toEqualTypeOf<PermissionMode>();
      }
      if (message.type !== 'result') return;
      if (message.subtype === 'success') expectTypeOf(message).toEqualTypeOf<ResultSuccess>();
      else expectTypeOf(message).toEqualTypeOf<ResultError>();
    };
    expectTypeOf(read).toBeFunction();
  });

  it('narrow a request by its subtype', () => {
    const read = (frame: Frame): void => {
      if (!isControlRequest(frame)) return;
      const { request } = frame;
      if (request.subtype === 'can_use_tool') expectTypeOf(request.input).toEqualTypeOf<Record<string, unknown>>();
      if (request.subtype === 'initialize')
        expectTypeOf(request.systemPrompt).toEqualTypeOf<string | string[] | undefined>();
    };
    expectTypeOf(read).toBeFunction();
  });

  it('come from THE TABLE', () => {
    expectTypeOf<ParamsOf<'rewind_files'>>().toEqualTypeOf<{
      user_message_id: string;
      dry_run?: boolean | undefined;
      overwrite_edits?: boolean | undefined;
    }>();
    expectTypeOf<ResultOf<'mcp_set_servers'>['added']>().toEqualTypeOf<string[]>();
    expectTypeOf<EngineRequest>().toEqualTypeOf<
      'can_use_tool' | 'hook_callback' | 'mcp_message' | 'elicitation' | 'request_user_dialog'
    >();
    expectTypeOf<'initialize'>().toExtend<HostRequest>();
    expectTypeOf<'mcp_message'>().toExtend<HostRequest>();
    expectTypeOf<'can_use_tool'>().not.toExtend<HostRequest>();
  });

  it('keep optional what may be absent', () => {
    expectTypeOf<{ behavior: 'allow' }>().toExtend<PermissionResult>();
    expectTypeOf<{ behavior: 'deny' }>().not.toExtend<PermissionResult>();
    expectTypeOf<{ type: 'user'; message: { role: 'user'; content: string } }>().toExtend<Message>();
  });
});
