/** A resource of an MCP server that somebody mentions, as `@server:uri`. */
import type { UserContentBlock } from '../../protocol/index.js';
import { cutText } from '../tools/bound.js';
import { imageTypeOf } from '../tools/file-kind.js';
import { showSize } from '../tools/ordinary-file.js';

/** As MCP gives it. */
export interface ResourceContent {
  uri?: string;
  mimeType?: string;
  text?: string;
  /** In base64. */
  blob?: string;
}

export interface MentionedServers {
  /** The names of servers that have resources. */
  names: readonly string[];
  /** May reject; the message is shown to the model. Says no where rules deny it, and keeps its own time limit. */
  read(server: string, uri: string, signal: AbortSignal): Promise<readonly ResourceContent[]>;
}

export interface ResourceAddress {
  server: string;
  uri: string;
}

const MAX_TEXT = 100_000;
const MAX_PARTS = 20;
/** What model APIs take of one image, in base64. */
const MAX_BLOB = 5 * 1024 * 1024;

/** A name may have colons in it: of two servers that could be meant, it is the one with the longer name. */
export function findServer(spelling: string, names: readonly string[]): ResourceAddress | undefined {
  const server = names
    .filter((name) => spelling.startsWith(`${name}:`) && spelling.length > name.length + 1)
    .toSorted((one, other) => other.length - one.length)[0];
  return server === undefined ? undefined : { server, uri: spelling.slice(server.length + 1) };
}

export interface ShownResource {
  text: string;
  images: Extract<UserContentBlock, { type: 'image' }>[];
}

/** Throws what the server says when it cannot be read. */
export async function readResource(
  { server, uri }: ResourceAddress,
  { servers, signal }: { servers: MentionedServers; signal: AbortSignal },
): Promise<ShownResource> {
  const contents = await servers.read(server, uri, signal);
  const texts: string[] = [];
  const images: ShownResource['images'] = [];
  let left = MAX_TEXT;
  for (const content of contents.slice(0, MAX_PARTS)) {
    if (content.blob === undefined) {
      const text = content.text ?? '';
      const shown = cutText(text, left);
      left -= shown.length;
      texts.push(shown.length === text.length ? text : `${shown}\n[Cut: the resource is longer]`);
      continue;
    }
    const image = await toImage(content.blob, { name: `${server}:${uri}`, signal }).catch(() => undefined);
    if (image !== undefined) images.push(image);
    else texts.push(describeBlob(content));
  }
  if (contents.length > MAX_PARTS) texts.push(`[${contents.length - MAX_PARTS} more parts are left out]`);
  return { text: texts.join('\n'), images };
}

/** Checked and made smaller like an image of a file: an API that refuses one refuses the whole conversation. */
async function toImage(
  blob: string,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<ShownResource['images'][number] | undefined> {
  if (blob.length > 2 * MAX_BLOB) return undefined;
  const bytes = Buffer.from(blob, 'base64');
  const type = imageTypeOf(bytes);
  if (type === undefined) return undefined;
  const { showImage } = await import('../tools/read-image.js');
  const shown = await showImage({ name, bytes, type }, { signal });
  return { type: 'image', source: { type: 'base64', media_type: shown.type, data: shown.base64 } };
}

const describeBlob = ({ blob = '', mimeType = 'unknown type' }: ResourceContent): string =>
  `[Binary content of ${mimeType}, ${showSize((blob.length * 3) / 4)}, is not shown]`;
