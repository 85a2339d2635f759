/** What servers give back, as content for a model. What no model can look at is kept in a file. */
import type { ToolResultContentBlock } from '../../protocol/index.js';
import { imageTypeOf } from '../tools/file-kind.js';

/** Keeps a whole; gives the path of its file. */
export type Keep = (name: string, data: string | Uint8Array) => Promise<string>;

export interface Kept {
  /** What the files are called, before a number and an ending. */
  name: string;
  keep: Keep;
}

/** A part of a result with bytes that a model cannot look at. */
interface Bytes {
  what: string;
  mimeType: string;
  data: string;
}

type Part = ToolResultContentBlock | Bytes;

const isBytes = (part: Part): part is Bytes => 'what' in part && 'mimeType' in part;

/** Without a place to keep things: what cannot be shown is named. */
export const toBlocks = (content: unknown): ToolResultContentBlock[] =>
  toParts(content).map((part) => (isBytes(part) ? { type: 'text', text: `[${describeBytes(part)}]` } : part));

/** The same, with what cannot be shown in files beside. */
export async function keepBlocks(content: unknown, kept: Kept): Promise<ToolResultContentBlock[]> {
  const parts = toParts(content);
  if (!parts.some(isBytes)) return parts as ToolResultContentBlock[];
  const blocks: ToolResultContentBlock[] = [];
  for (const [index, part] of parts.entries()) {
    if (!isBytes(part)) blocks.push(part);
    else {
      const where = await keepBytes(part, { ...kept, name: `${kept.name}-${index + 1}` });
      blocks.push({ type: 'text', text: `[${describeBytes(part)}: ${where}]` });
    }
  }
  return blocks;
}

/** A disk that is full must not cost the rest of a result. */
export async function keepBytes({ mimeType, data }: Pick<Bytes, 'mimeType' | 'data'>, kept: Kept): Promise<string> {
  try {
    return `saved to ${await kept.keep(`${kept.name}.${endingOf(mimeType)}`, Buffer.from(data, 'base64'))}`;
  } catch (thrown) {
    return `it could not be saved: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}

const ENDINGS: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'application/octet-stream': 'bin',
  'text/plain': 'txt',
};

function endingOf(mimeType: string): string {
  const known = Object.hasOwn(ENDINGS, mimeType) ? ENDINGS[mimeType] : undefined;
  return known ?? /^\w+\/(?:x-)?([a-z0-9]{1,10})$/i.exec(mimeType)?.[1]?.toLowerCase() ?? 'bin';
}

const describeBytes = ({ what, mimeType, data }: Bytes): string =>
  `${what} of type ${mimeType}, ${Math.ceil((data.length * 3) / 4).toLocaleString('en-US')} bytes`;

/** More blocks than this are no structure that anybody meant. */
const MAX_BLOCKS = 200;

/** Without texts that are empty, which the model API refuses. */
function toParts(content: unknown): Part[] {
  const parts = (Array.isArray(content) ? content.map(toPart) : []).filter((part) => !isText(part) || part.text !== '');
  return parts.length > MAX_BLOCKS ? joinTexts(parts) : parts;
}

function joinTexts(parts: readonly Part[]): Part[] {
  const joined: Part[] = [];
  let run: string[] = [];
  const end = (): void => {
    if (run.length > 0) joined.push(asText(run.join('\n')));
    run = [];
  };
  for (const part of parts) {
    if (isText(part)) run.push(part.text);
    else {
      end();
      joined.push(part);
    }
  }
  end();
  return joined;
}

const isText = (part: Part): part is { type: 'text'; text: string } => 'type' in part && part.type === 'text';

function toPart(given: unknown): Part {
  const block = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
  const { type, data } = block;
  if (type === 'text') return asText(textOf(block.text));
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return toMedia(type === 'image' ? 'An image' : 'A recording', typeOf(block), data);
  }
  if (type === 'resource' && typeof block.resource === 'object' && block.resource !== null) {
    return toResource(block.resource as Record<string, unknown>);
  }
  if (type === 'resource_link') return asText(describeLink(block));
  return asText(JSON.stringify(given) ?? '');
}

function toResource(resource: Record<string, unknown>): Part {
  const { text, blob } = resource;
  const uri = textOf(resource.uri);
  if (typeof blob === 'string') return toMedia(`The resource ${uri}`, typeOf(resource), blob);
  return asText(`${uri}\n${textOf(text)}`);
}

function toMedia(what: string, mimeType: string, data: string): Part {
  const image = mimeType.startsWith('image/') ? readImage(data) : undefined;
  return image === undefined ? { what, mimeType, data } : { type: 'image', source: { type: 'base64', ...image } };
}

/** What is no image by its bytes, whatever its server calls it, would make the model API refuse every request from here on. */
function readImage(data: string): { media_type: string; data: string } | undefined {
  const bytes = Buffer.from(data, 'base64');
  const media_type = imageTypeOf(bytes);
  return media_type === undefined ? undefined : { media_type, data: bytes.toString('base64') };
}

function describeLink(link: Record<string, unknown>): string {
  const name = textOf(link.title ?? link.name);
  const more = [link.mimeType, link.description].filter((text) => typeof text === 'string' && text !== '').join(', ');
  return `[Resource link${name === '' ? '' : ` ${name}`}: ${textOf(link.uri)}${more === '' ? '' : ` (${more})`}]`;
}

const asText = (text: string): ToolResultContentBlock => ({ type: 'text', text });

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const typeOf = ({ mimeType }: Record<string, unknown>): string =>
  typeof mimeType === 'string' && mimeType.length <= 100 ? mimeType.toLowerCase() : 'application/octet-stream';
