import type { UserContentBlock } from '../../protocol/index.js';
import { toBlocks } from './content.js';
import type { McpServers } from './servers.js';

/** What a slash command of a server says to the model, after the lines that name it. Throws when the server does not answer. */
export async function expandPrompt(
  mcp: Pick<McpServers, 'expandPrompt'>,
  { name, text }: { name: string; text: string },
  options: { signal: AbortSignal },
): Promise<UserContentBlock[]> {
  const messages = await mcp.expandPrompt(name, text, options);
  const blocks = messages.flatMap(({ role, content }) => {
    const said = toBlocks([content].flat()) as UserContentBlock[];
    // One message stands for them all, so what the other side is to have said is marked.
    return role === 'user' ? said : [{ type: 'text' as const, text: `${role}:` }, ...said];
  });
  return [{ type: 'text', text: nameCommand(name, text) }, ...blocks];
}

/** How a conversation shows that a command was called. */
export const nameCommand = (name: string, text: string): string =>
  [
    `<command-message>${name}</command-message>`,
    `<command-name>/${name}</command-name>`,
    ...(text === '' ? [] : [`<command-args>${text}</command-args>`]),
  ].join('\n');
