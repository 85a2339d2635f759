/** Mentions in a prompt, with what they need of the session. */
import type { UserContentBlock } from '../../protocol/index.js';
import { readUnderHooks } from '../hooks/under-hooks.js';
import { judgeRead, judgeResource } from '../permissions/may-read.js';
import type { SessionScope } from '../scope.js';
import { contextParts } from '../tools/context-parts.js';
import { readTool } from '../tools/read.js';
import { expandMentions } from './expand.js';

const NEEDS_ASKING = 'It needs the permission of the user. Use ReadMcpResourceTool if it matters: it asks for it.';

/** What stands before a prompt because it mentions it. Never rejects. */
export async function mentionedIn(
  scope: SessionScope,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<UserContentBlock[]> {
  const { guard, mcp, memory } = scope;
  const { blocks, files } = await expandMentions(texts, {
    context: contextParts(scope, signal),
    home: guard.home,
    mayRead: (path, about) => judgeRead(scope, path, about),
    // No word gets past a hook that keeps a file from the model: it may come from a command that somebody else wrote.
    runRead: (input, context) =>
      readUnderHooks(
        scope,
        {
          tool: 'Read',
          input: { ...input },
          shown: 'It',
          read: () => readTool.run(input, context),
          toResponse: ({ structured, content }) => structured ?? content,
        },
        signal,
      ),
    servers: {
      names: mcp.status.map(({ name }) => name),
      async read(server, uri) {
        const { verdict } = await judgeResource(scope, { server, uri });
        if (verdict === 'deny') throw new Error('Permission to read it is denied.');
        if (verdict === 'ask') throw new Error(NEEDS_ASKING);
        return readUnderHooks(
          scope,
          {
            tool: 'ReadMcpResourceTool',
            input: { server, uri },
            shown: 'It',
            read: () => mcp.readResource(server, uri, { signal }),
            toResponse: (contents) => ({ contents }),
          },
          signal,
        );
      },
    },
  });
  // As with Read: the folder of a file may have instructions of its own.
  const instructions = files.length === 0 ? [] : await memory.tellNested(files, signal);
  return [...blocks, ...instructions.map((text) => ({ type: 'text' as const, text }))];
}
