import type { UserContentBlock } from '../../protocol/index.js';
import { cutText } from '../tools/bound.js';
import { toBlocks } from './content.js';
import type { McpServers } from './servers.js';

/** As of a resource that is mentioned: a server must not fill the context by itself. */
const MAX_TEXT = 100_000;
const MAX_BLOCKS = 100;
const MAX_IMAGES = 20;
const MAX_IMAGES_BASE64 = 15 * 1024 * 1024;

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
  return [{ type: 'text', text: nameCommand(name, text) }, ...boundBlocks(blocks)];
}

/** What is left out is said. */
export function boundBlocks(blocks: readonly UserContentBlock[]): UserContentBlock[] {
  const room = { text: MAX_TEXT, images: MAX_IMAGES, base64: MAX_IMAGES_BASE64 };
  const shown = blocks.slice(0, MAX_BLOCKS).flatMap((block): UserContentBlock[] => {
    if (block.type === 'text') {
      const text = cutText(block.text, room.text);
      room.text -= text.length;
      return text.length === block.text.length ? [block] : [toText(`${text}\n[Cut: the prompt is longer]`)];
    }
    const size = JSON.stringify(block).length;
    if (room.images < 1 || size > room.base64)
      return [toText('[An image or file is left out: there are too many, or it is too large]')];
    room.images -= 1;
    room.base64 -= size;
    return [block];
  });
  const left = blocks.length - MAX_BLOCKS;
  return left > 0 ? [...shown, toText(`[${left} more parts are left out]`)] : shown;
}

const toText = (text: string): UserContentBlock => ({ type: 'text', text });

/** How a conversation shows that a command was called. */
export const nameCommand = (name: string, text: string): string =>
  [
    `<command-message>${name}</command-message>`,
    `<command-name>/${name}</command-name>`,
    ...(text === '' ? [] : [`<command-args>${text}</command-args>`]),
  ].join('\n');
