/** What stands in the place of a tool result that was shortened. */
import type { ToolResultBlock } from '../../protocol/index.js';

/** As the one place that cuts output says where it kept the whole. */
const KEPT = /The whole is kept in ([^\n\]]+)\]/;

/** The same result with a note for its content. Follows from the result alone, so that every request says the same. */
export function shortenResult(block: ToolResultBlock): ToolResultBlock {
  const { content, ...rest } = block;
  const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : (content ?? []);
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  const others = parts.filter((part) => part.type !== 'text').length;
  const size = [
    ...(text === '' ? [] : [`${text.length.toLocaleString('en-US')} characters`]),
    ...(others === 0 ? [] : [others === 1 ? 'one image or document' : `${others} images or documents`]),
  ].join(' and ');
  const kept = KEPT.exec(text)?.[1];
  const where = kept === undefined ? '' : ` The whole is kept in ${kept}.`;
  const note = `[This result of ${size || 'nothing'} was left out later to save room.${where} Call the tool again if you need it.]`;
  return { ...rest, content: note };
}
