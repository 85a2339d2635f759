// What the compiler must know of the public types. Nothing here runs: it compiles, or the test fails.
import type {
  AssistantMessage,
  CallToolResult,
  CanUseTool,
  HookInput,
  HookJSONOutput,
  InferShape,
  McpServerConfig,
  Message,
  Options,
  PermissionResult,
  PermissionUpdate,
  Query,
  ResultMessage,
  SDKMessage,
  SDKSystemMessage,
  SdkMcpToolDefinition,
  StreamEventMessage,
  SystemMessage,
  ThinkingConfig,
  Transport,
  UserMessage,
} from 'heddle';
import type {
  ContentBlock,
  ControlFrame,
  Frame,
  ModelEvent,
  ParamsOf,
  RequestSubtype,
  ResultOf,
} from 'heddle/protocol';
import type { SpawnedProcess } from 'heddle/wire';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { z } from 'zod';

export type IsAny<T> = 0 extends 1 & T ? true : false;
type IsEqual<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Fits<Value, Target> = [Value] extends [Target] ? true : false;
/** The places inside a type that are `any`, as paths; `never` when there is none. Five levels are looked at. */
type AnyPaths<T, Path extends string = '', Depth extends 0[] = []> =
  IsAny<T> extends true
    ? Path
    : Depth['length'] extends 5
      ? never
      : T extends (...args: never) => unknown
        ? never
        : T extends readonly (infer Item)[]
          ? AnyPaths<Item, `${Path}[]`, [...Depth, 0]>
          : T extends object
            ? { [K in keyof T & string]-?: AnyPaths<T[K], `${Path}.${K}`, [...Depth, 0]> }[keyof T & string]
            : never;

/** Compiles only for a list of `true`. */
export type Holds<_ extends true[]> = void;

export type NoUnionIsAny = Holds<
  [
    IsEqual<AnyPaths<Message>, never>,
    IsEqual<AnyPaths<SystemMessage>, never>,
    IsEqual<AnyPaths<ResultMessage>, never>,
    IsEqual<AnyPaths<HookInput>, never>,
    IsEqual<AnyPaths<HookJSONOutput>, never>,
    IsEqual<AnyPaths<PermissionResult>, never>,
    IsEqual<AnyPaths<PermissionUpdate>, never>,
    IsEqual<AnyPaths<McpServerConfig>, never>,
    IsEqual<AnyPaths<ContentBlock>, never>,
    IsEqual<AnyPaths<ModelEvent>, never>,
    IsEqual<AnyPaths<ControlFrame>, never>,
    IsEqual<AnyPaths<Frame>, never>,
    IsEqual<AnyPaths<CallToolResult>, never>,
    IsEqual<AnyPaths<ThinkingConfig>, never>,
    // Node's own signal has an `any` in it.
    IsEqual<AnyPaths<Omit<Options, 'abortController'>>, never>,
    IsEqual<AnyPaths<ParamsOf<RequestSubtype>>, never>,
    IsEqual<AnyPaths<ResultOf<RequestSubtype>>, never>,
  ]
>;

/** The check above can fail. */
export type AnyIsFound = Holds<
  [
    // oxlint-disable-next-line typescript/no-explicit-any
    IsEqual<AnyPaths<{ kept: string; lost: { deep: any }[] }>, '.lost[].deep'>,
    // oxlint-disable-next-line typescript/no-explicit-any
    IsEqual<IsAny<any>, true>,
    IsEqual<IsAny<unknown>, false>,
  ]
>;

export type MessagesNarrow = Holds<
  [
    Fits<SDKMessage, Message>,
    IsEqual<AnyPaths<SDKMessage>, never>,
    IsEqual<Extract<Message, { type: 'assistant' }>, AssistantMessage>,
    IsEqual<Extract<Message, { type: 'user' }>, UserMessage>,
    IsEqual<Extract<Message, { type: 'stream_event' }>, StreamEventMessage>,
    IsEqual<Extract<SDKMessage, { subtype: 'init' }>, SDKSystemMessage>,
    IsEqual<SDKSystemMessage['skills'], string[]>,
    IsEqual<Extract<ResultMessage, { subtype: 'success' }>['result'], string>,
    IsEqual<Exclude<ResultMessage, { subtype: 'success' }>['errors'], string[]>,
    Fits<'result', keyof Exclude<ResultMessage, { subtype: 'success' }>> extends false ? true : false,
    IsEqual<Extract<ModelEvent, { type: 'content_block_delta' }>['index'], number>,
    IsEqual<Extract<HookInput, { hook_event_name: 'PreToolUse' }>['tool_name'], string>,
    Fits<Query, AsyncGenerator<Message, void>>,
  ]
>;

type Shape = { city: z.ZodString; days: z.ZodDefault<z.ZodNumber>; unit: z.ZodOptional<z.ZodEnum<{ c: 'c'; f: 'f' }>> };
export type ToolInputsAreInferred = Holds<
  [
    Fits<InferShape<Shape>, { city: string; days: number; unit?: 'c' | 'f' | undefined }>,
    Fits<{ city: string; days: number }, InferShape<Shape>>,
    IsEqual<IsAny<InferShape<Shape>['unit']>, false>,
    IsEqual<SdkMcpToolDefinition<Shape>['inputSchema'], Shape>,
    IsEqual<Parameters<CanUseTool>[1], Record<string, unknown>>,
  ]
>;

export type OthersFit = Holds<
  [
    // What `spawn` gives is what `spawnClaudeCodeProcess` may return.
    Fits<ChildProcessByStdio<Writable, Readable, null>, SpawnedProcess>,
    Fits<
      { write(data: string): void; close(): void; isReady(): boolean; endInput(): void } & Pick<
        Transport,
        'readMessages'
      >,
      Transport
    >,
  ]
>;
