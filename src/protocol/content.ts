/** Content blocks of the model API, as they appear in messages, logs and requests. */
import { z } from 'zod';
import { type Infer, lazy } from './lazy.js';
import { jsonObject, type Lazy, type MemberOf, openUnion } from './open-union.js';

export const CacheControl = lazy(() =>
  z.object({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }),
);
export type CacheControl = Infer<typeof CacheControl>;

const cached = () => ({ cache_control: CacheControl().nullable().optional() });

export const TextBlock = lazy(() =>
  z.object({
    type: z.literal('text'),
    text: z.string(),
    citations: z.array(z.unknown()).nullable().optional(),
    ...cached(),
  }),
);
export type TextBlock = Infer<typeof TextBlock>;

export const ThinkingBlock = lazy(() =>
  z.object({
    type: z.literal('thinking'),
    thinking: z.string(),
    signature: z.string().optional().describe('Proof of origin; goes back to the API unchanged.'),
  }),
);
export type ThinkingBlock = Infer<typeof ThinkingBlock>;

export const RedactedThinkingBlock = lazy(() => z.object({ type: z.literal('redacted_thinking'), data: z.string() }));
export type RedactedThinkingBlock = Infer<typeof RedactedThinkingBlock>;

export const ToolUseBlock = lazy(() =>
  z.object({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: jsonObject(), ...cached() }),
);
export type ToolUseBlock = Infer<typeof ToolUseBlock>;

export const ServerToolUseBlock = lazy(() =>
  z.object({ type: z.literal('server_tool_use'), id: z.string(), name: z.string(), input: jsonObject(), ...cached() }),
);
export type ServerToolUseBlock = Infer<typeof ServerToolUseBlock>;

export const McpToolUseBlock = lazy(() =>
  z.object({
    type: z.literal('mcp_tool_use'),
    id: z.string(),
    name: z.string(),
    server_name: z.string(),
    input: jsonObject(),
    ...cached(),
  }),
);
export type McpToolUseBlock = Infer<typeof McpToolUseBlock>;

/** Results of tools that the API itself runs. Their content goes back to the API untouched, so it is not looked into. */
const serverResult = <T extends string>(type: T) =>
  z.object({ type: z.literal(type), tool_use_id: z.string(), content: z.unknown(), ...cached() });

export const WebSearchToolResultBlock = lazy(() => serverResult('web_search_tool_result'));
export type WebSearchToolResultBlock = Infer<typeof WebSearchToolResultBlock>;

export const WebFetchToolResultBlock = lazy(() => serverResult('web_fetch_tool_result'));
export type WebFetchToolResultBlock = Infer<typeof WebFetchToolResultBlock>;

export const CodeExecutionToolResultBlock = lazy(() => serverResult('code_execution_tool_result'));
export type CodeExecutionToolResultBlock = Infer<typeof CodeExecutionToolResultBlock>;

export const McpToolResultBlock = lazy(() => serverResult('mcp_tool_result'));
export type McpToolResultBlock = Infer<typeof McpToolResultBlock>;

export const ContainerUploadBlock = lazy(() =>
  z.object({ type: z.literal('container_upload'), file_id: z.string(), ...cached() }),
);
export type ContainerUploadBlock = Infer<typeof ContainerUploadBlock>;

const sources = {
  base64: lazy(() => z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() })),
  url: lazy(() => z.object({ type: z.literal('url'), url: z.string() })),
  file: lazy(() => z.object({ type: z.literal('file'), file_id: z.string() })),
  text: lazy(() => z.object({ type: z.literal('text'), media_type: z.string(), data: z.string() })),
  content: lazy(() => z.object({ type: z.literal('content'), content: z.unknown() })),
} as const;

export type BlockSource = MemberOf<typeof sources>;
export const BlockSource: Lazy<BlockSource> = lazy(() => openUnion('type', sources));

export const ImageBlock = lazy(() => z.object({ type: z.literal('image'), source: BlockSource(), ...cached() }));
export type ImageBlock = Infer<typeof ImageBlock>;

export const DocumentBlock = lazy(() =>
  z.object({
    type: z.literal('document'),
    source: BlockSource(),
    title: z.string().nullable().optional(),
    context: z.string().nullable().optional(),
    citations: z.unknown().optional(),
    ...cached(),
  }),
);
export type DocumentBlock = Infer<typeof DocumentBlock>;

export const SearchResultBlock = lazy(() =>
  z.object({
    type: z.literal('search_result'),
    source: z.string(),
    title: z.string(),
    content: z.array(TextBlock()),
    citations: z.unknown().optional(),
    ...cached(),
  }),
);
export type SearchResultBlock = Infer<typeof SearchResultBlock>;

export const ToolReferenceBlock = lazy(() =>
  z
    .object({ type: z.literal('tool_reference'), tool_name: z.string(), ...cached() })
    .describe('Names a tool that was found by search; the API puts its definition in place.'),
);
export type ToolReferenceBlock = Infer<typeof ToolReferenceBlock>;

const resultBlocks = {
  text: TextBlock,
  image: ImageBlock,
  document: DocumentBlock,
  search_result: SearchResultBlock,
  tool_reference: ToolReferenceBlock,
} as const;

export type ToolResultContentBlock = MemberOf<typeof resultBlocks>;
export const ToolResultContentBlock: Lazy<ToolResultContentBlock> = lazy(() => openUnion('type', resultBlocks));

export const ToolResultContent = lazy(() => z.union([z.string(), z.array(ToolResultContentBlock())]));
export type ToolResultContent = Infer<typeof ToolResultContent>;

export const ToolResultBlock = lazy(() =>
  z.object({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: ToolResultContent().optional(),
    is_error: z.boolean().optional(),
    ...cached(),
  }),
);
export type ToolResultBlock = Infer<typeof ToolResultBlock>;

const assistantBlocks = {
  text: TextBlock,
  thinking: ThinkingBlock,
  redacted_thinking: RedactedThinkingBlock,
  tool_use: ToolUseBlock,
  server_tool_use: ServerToolUseBlock,
  web_search_tool_result: WebSearchToolResultBlock,
  web_fetch_tool_result: WebFetchToolResultBlock,
  code_execution_tool_result: CodeExecutionToolResultBlock,
  mcp_tool_use: McpToolUseBlock,
  mcp_tool_result: McpToolResultBlock,
  container_upload: ContainerUploadBlock,
} as const;

const userBlocks = { ...resultBlocks, tool_result: ToolResultBlock, container_upload: ContainerUploadBlock } as const;

const allBlocks = { ...assistantBlocks, ...userBlocks } as const;

/** What the model writes. */
export type ContentBlock = MemberOf<typeof assistantBlocks>;
export const ContentBlock: Lazy<ContentBlock> = lazy(() => openUnion('type', assistantBlocks));

/** What is written to the model. */
export type UserContentBlock = MemberOf<typeof userBlocks>;
export const UserContentBlock: Lazy<UserContentBlock> = lazy(() => openUnion('type', userBlocks));

/** Any block of a request. */
export type ContentBlockParam = MemberOf<typeof allBlocks>;
export const ContentBlockParam: Lazy<ContentBlockParam> = lazy(() => openUnion('type', allBlocks));

export const MessageParam = lazy(() =>
  z
    .object({
      role: z.enum(['user', 'assistant']),
      content: z.union([z.string(), z.array(ContentBlockParam())]),
    })
    .describe('One message of a conversation, as the API takes it.'),
);
export type MessageParam = Infer<typeof MessageParam>;
