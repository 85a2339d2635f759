/** What a prompt mentions, read for the model before it is asked. Nothing here makes a turn fail. */
import { resolve } from 'node:path';
import type { FileStat, ToolContext, UserContentBlock } from '../../protocol/index.js';
import { remind } from '../compaction/remind.js';
import { cutText } from '../tools/bound.js';
import { resolvePath, shortenPath } from '../tools/paths.js';
import { listFolder } from './list-folder.js';
import { type LineRange, looksLikePath, type Mention, parseMentions, spellingsOf } from './parse.js';
import { readMentioned, type RunRead } from './read-file.js';
import { findServer, type MentionedServers, readResource } from './read-resource.js';

export const MAX_MENTIONS = 50;
/** Characters of all files together: more would leave no room for the conversation. */
const MAX_TEXT = 400_000;
const MAX_IMAGES = 20;
/** In base64: what fits into one request, with room for the conversation. */
const MAX_IMAGES_BASE64 = 15 * 1024 * 1024;
const MAX_REMARKS = 50;
const MAX_REASON = 300;

export type ReadVerdict = 'allow' | 'deny' | 'ask';

export interface MentionParts {
  /** What a tool call of the session would get. */
  context: Pick<ToolContext, 'workspace' | 'clock' | 'signal' | 'cwd' | 'roots' | 'env' | 'ledger' | 'keep'>;
  /** What `~` stands for. */
  home: string;
  /**
   * What the rules say about reading there; `path` has its links resolved, `given` has not. `exclusions`: what a listing
   * of the folder must leave out. What is to be asked about is left to Read, which asks. A rejection means deny.
   */
  mayRead(
    path: string,
    about: { given: string; kind: 'file' | 'folder' },
  ): Promise<ReadVerdict | { verdict: ReadVerdict; exclusions?: readonly string[] }>;
  /** Read itself, or Read under hooks. */
  runRead: RunRead;
  /** Absent: there are no servers. */
  servers?: MentionedServers;
}

export interface ExpandedMentions {
  /** To stand before the prompt. */
  blocks: UserContentBlock[];
  /** The files that were read, links resolved. */
  files: string[];
  /** Why others were not; the model is told the same. */
  remarks: string[];
}

interface Place {
  path: string;
  stat: FileStat;
}

/** `texts` are those of one prompt. Never rejects; when the signal aborts, the rest is left out. */
export async function expandMentions(texts: readonly string[], parts: MentionParts): Promise<ExpandedMentions> {
  const found: ExpandedMentions = { blocks: [], files: [], remarks: [] };
  const room: Room = { text: MAX_TEXT, images: MAX_IMAGES, imageBase64: MAX_IMAGES_BASE64 };
  const known = new Set<string>();
  for (const mention of texts.flatMap(parseMentions)) {
    if (parts.context.signal.aborted) break;
    const target = await findTarget(mention, parts);
    const key = JSON.stringify([target.name, target.place === undefined ? 0 : (mention.lines ?? 0)]);
    if ((target.kind === 'nothing' && !looksLikePath(mention)) || known.has(key)) continue;
    if (known.size >= MAX_MENTIONS) {
      found.remarks.push(`There are more than ${MAX_MENTIONS} mentions: the others were not read.`);
      break;
    }
    known.add(key);
    await expand({ mention, target }, { found, room, parts }).catch((error: unknown) => {
      found.remarks.push(`${target.name}: ${reasonOf(error)}`);
    });
  }
  if (found.remarks.length > 0) found.blocks.push(remind(describeRemarks(found.remarks)));
  return found;
}

type Target =
  | { kind: 'nothing'; name: string; place?: undefined }
  | { kind: 'resource'; name: string; server: string; uri: string; place?: undefined }
  | { kind: 'place'; name: string; place: Place };

/** What the mention stands for: the longest spelling of it that there is. */
async function findTarget(mention: Mention, { context, home, servers }: MentionParts): Promise<Target> {
  const spellings = spellingsOf(mention);
  for (const spelling of spellings) {
    const path = toPath(spelling, { cwd: context.cwd, home });
    const stat = path === undefined ? undefined : await context.workspace.stat(path).catch(() => undefined);
    if (path !== undefined && stat !== undefined) {
      return { kind: 'place', name: shortenPath(context.cwd, path), place: { path, stat } };
    }
  }
  const shortest = spellings.at(-1) ?? mention.target;
  const address = findServer(shortest, servers?.names ?? []);
  if (address !== undefined) return { kind: 'resource', name: shortest, ...address };
  return { kind: 'nothing', name: shortest };
}

function toPath(spelling: string, { cwd, home }: { cwd: string; home: string }): string | undefined {
  // To look at a share of another machine tells that machine who is asking.
  if (spelling.includes('\0') || /^(?:\\\\|\/\/)/.test(spelling)) return undefined;
  return /^~(?:\/|$)/.test(spelling) ? resolve(home, `.${spelling.slice(1)}`) : resolvePath(cwd, spelling);
}

interface Room {
  text: number;
  images: number;
  imageBase64: number;
}

interface Expansion {
  found: ExpandedMentions;
  room: Room;
  parts: MentionParts;
}

async function expand({ mention, target }: { mention: Mention; target: Target }, at: Expansion): Promise<void> {
  const { found, room, parts } = at;
  const { context } = parts;
  if (target.kind === 'nothing') throw new Error('There is no such file or folder.');
  if (room.text <= 0) throw new Error('It was left out, since the other mentions are long. Use Read if it matters.');
  if (target.kind === 'resource') {
    if (parts.servers === undefined) return;
    const shown = await readResource(target, { servers: parts.servers, signal: context.signal });
    add(shown, { title: `The resource ${target.name}, which the user mentions`, ...at });
    return;
  }
  const { path, stat } = target.place;
  if (stat.kind === 'other') throw new Error('It is a device, pipe or socket.');
  const kind = stat.kind === 'directory' ? 'folder' : 'file';
  const { real, exclusions } = await judge({ path, kind }, parts);
  const tool = toToolContext(context, { path, real, exclusions });
  if (kind === 'folder') {
    const text = await listFolder(real, tool);
    add({ text, images: [] }, { title: `What is in the folder ${target.name}, which the user mentions`, ...at });
    return;
  }
  const { lines } = mention;
  const shown = await readMentioned({ path, size: stat.size, ...(lines && { lines }) }, tool, parts.runRead);
  if ('remark' in shown) {
    found.remarks.push(`${target.name}: ${shown.remark}`);
    return;
  }
  found.files.push(real);
  add(shown, { title: `${target.name}${showLines(lines)}, which the user mentions, as Read shows it`, ...at });
}

const showLines = (lines: LineRange | undefined): string =>
  lines === undefined ? '' : ` (lines ${lines.from} to ${lines.to})`;

/** Throws when it must not be read, or not without a question. */
async function judge(
  { path, kind }: { path: string; kind: 'file' | 'folder' },
  { context, mayRead }: MentionParts,
): Promise<{ real: string; exclusions: readonly string[] }> {
  const real = await context.workspace.realPath(path);
  const answer = await mayRead(real, { given: path, kind }).catch(() => 'deny' as const);
  const { verdict, exclusions = [] } = typeof answer === 'string' ? { verdict: answer } : answer;
  if (verdict === 'allow') return { real, exclusions };
  throw new Error(
    verdict === 'ask'
      ? 'It needs the permission of the user. Use the tools if it matters: they ask for it.'
      : 'Permission to read it is denied.',
  );
}

const toToolContext = (
  context: MentionParts['context'],
  { path, real, exclusions }: { path: string; real: string; exclusions: readonly string[] },
): ToolContext => ({
  ...context,
  toolUseId: 'mention',
  setCwd: () => {},
  progress: () => {},
  judgedPath: (asked) => (asked === path ? real : asked),
  exclusions,
});

type Image = Extract<UserContentBlock, { type: 'image' }>;

function add(shown: { text: string; images: readonly Image[] }, { title, found, room }: Expansion & { title: string }) {
  const images: Image[] = [];
  for (const image of shown.images) {
    const size = 'data' in image.source && typeof image.source.data === 'string' ? image.source.data.length : 0;
    if (room.images < 1 || size > room.imageBase64) {
      found.remarks.push(`${title}: there are too many images. Use Read to see this one.`);
      break;
    }
    room.images -= 1;
    room.imageBase64 -= size;
    images.push(image);
  }
  const text = cutToRoom(shown.text, room);
  room.text -= text.length;
  const next = images.length === 0 ? '' : images.length === 1 ? ' (the image follows)' : ' (the images follow)';
  if (text !== '' || images.length > 0) found.blocks.push(remind(`${title}${next}:\n${text}`), ...images);
}

function cutToRoom(text: string, room: Room): string {
  if (text.length <= room.text) return text;
  const head = cutText(text, room.text);
  const end = head.lastIndexOf('\n');
  return `${end === -1 ? head : head.slice(0, end)}\n\n[Cut: too much is mentioned. Use Read to see the rest.]`;
}

const reasonOf = (error: unknown): string =>
  cutText((error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' '), MAX_REASON);

function describeRemarks(remarks: readonly string[]): string {
  const more = remarks.length > MAX_REMARKS ? [`- and ${remarks.length - MAX_REMARKS} more`] : [];
  const lines = remarks.slice(0, MAX_REMARKS).map((remark) => `- ${remark}`);
  return ['Mentioned by the user, and not shown here:', ...lines, ...more].join('\n');
}
