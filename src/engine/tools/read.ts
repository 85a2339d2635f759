import { basename, dirname, extname } from 'node:path';
import type { ReadInput, Tool, ToolContext, ToolOutput } from '../../protocol/index.js';
import { cutText } from './bound.js';
import { findNearestName } from './nearest.js';
import { noteCwd, resolvePath } from './paths.js';
import { runSearch } from './search.js';
import { decodeText, isBinary, showText, splitLines } from './text-file.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

const MAX_LINES = 2_000;
const MAX_LINE_LENGTH = 2_000;
/** The most text that one call gives. */
const MAX_TEXT_BYTES = 256 * 1024;
/** The largest file of which a part can be read. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** What model APIs take, counted in base64. */
const MAX_IMAGE_BASE64 = 5 * 1024 * 1024;

export const readTool: Tool<ReadInput> = {
  name: 'Read',
  description:
    'Reads a file. Text comes as number<TAB>line, 2,000 lines unless offset and limit say otherwise; very long lines ' +
    'are cut. PNG, JPEG, GIF and WebP files are shown as images.',
  inputSchema: inputSchemaOf('Read'),
  parse: (input) => parseToolInput('Read', input),
  isReadOnly: () => true,
  accesses: (input, { cwd }) => [{ path: resolvePath(cwd, input.file_path), access: 'read' }],
  async run(input, context) {
    const path = resolvePath(context.cwd, input.file_path);
    const bytes = await readOrdinary(path, context);
    const output = readImage(path, bytes) ?? readText({ path, bytes, input });
    context.ledger.note(await context.workspace.realPath(path), bytes);
    return output;
  },
};

async function readOrdinary(path: string, context: ToolContext): Promise<Uint8Array> {
  const stat = await context.workspace.stat(path);
  if (stat === undefined) throw new Error(await explainMissing(path, context));
  if (stat.kind === 'directory') {
    throw new Error(`EISDIR: illegal operation on a directory, read '${path}'. Use Glob to list its files.`);
  }
  if (stat.kind === 'other') throw new Error(`${path} is a device, pipe or socket. Only ordinary files can be read.`);
  if (stat.size > MAX_FILE_BYTES) {
    throw new Error(
      `File content (${showSize(stat.size)}) is too large for Read, which takes ${showSize(MAX_FILE_BYTES)}. ` +
        'Use Grep, or a command such as sed -n, to get the part you need.',
    );
  }
  return context.workspace.readFile(path, { maxBytes: MAX_FILE_BYTES });
}

async function explainMissing(path: string, context: ToolContext): Promise<string> {
  const similar = await findSimilar(path, context).catch(() => undefined);
  const guess = similar === undefined ? '' : ` Did you mean ${similar}?`;
  return `File does not exist. ${noteCwd(context.cwd)}${guess}`;
}

/** A file of the same folder with a similar name. */
async function findSimilar(path: string, context: ToolContext): Promise<string | undefined> {
  const folder = dirname(path);
  if ((await context.workspace.stat(folder))?.kind !== 'directory') return undefined;
  const names: string[] = [];
  await runSearch(context, {
    folder,
    args: ['--files', '--no-ignore', '--max-depth=1', '--null', '--', './'],
    separator: '\0',
    onRecord: (name) => names.push(basename(name)) < 5_000,
  });
  const name = findNearestName(basename(path), names.toSorted());
  return name === undefined ? undefined : `${folder === '/' ? '' : folder}/${name}`;
}

const showSize = (bytes: number): string =>
  bytes < 1024 * 1024 ? `${Number((bytes / 1024).toFixed(1))}KB` : `${Number((bytes / 1024 / 1024).toFixed(1))}MB`;

function imageTypeOf(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif';
  return start.startsWith('RIFF') && start.slice(8) === 'WEBP' ? 'image/webp' : undefined;
}

function readImage(path: string, bytes: Uint8Array): ToolOutput | undefined {
  const type = imageTypeOf(bytes);
  if (type === undefined) return undefined;
  const data = Buffer.from(bytes).toString('base64');
  if (data.length > MAX_IMAGE_BASE64) {
    throw new Error(
      `The image ${path} (${showSize(bytes.length)}) is too large to be shown. Make a smaller copy and read that.`,
    );
  }
  return {
    content: [{ type: 'image', source: { type: 'base64', media_type: type, data } }],
    structured: { type: 'image', file: { base64: data, type, originalSize: bytes.length } },
  };
}

const showLine = (line: string): string =>
  line.length <= MAX_LINE_LENGTH
    ? line
    : `${cutText(line, MAX_LINE_LENGTH)}... [cut: this line has ${line.length.toLocaleString('en-US')} characters]`;

const tooMuchText = (size: number): Error =>
  new Error(
    `File content (${showSize(size)}) exceeds maximum allowed size (${showSize(MAX_TEXT_BYTES)}). ` +
      'Use offset and limit to read a part of the file, or Grep to find what you need.',
  );

function readText(file: { path: string; bytes: Uint8Array; input: ReadInput }): ToolOutput {
  const { path, bytes, input } = file;
  if (Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '%PDF-') {
    throw new Error('PDF files cannot be read in this version. If pdftotext is installed, run it with Bash.');
  }
  if (isBinary(bytes)) {
    const suffix = extname(path);
    throw new Error(
      `This tool cannot read binary files. The file appears to be a binary ${suffix === '' ? '' : `${suffix} `}file. ` +
        'Use a suitable program with Bash.',
    );
  }
  const isWhole = input.offset === undefined && input.limit === undefined;
  if (isWhole && bytes.length > MAX_TEXT_BYTES) throw tooMuchText(bytes.length);

  const all = splitLines(showText(decodeText(bytes)));
  const startLine = Math.max(1, input.offset ?? 1);
  const shown = all.slice(startLine - 1, startLine - 1 + (input.limit ?? MAX_LINES)).map(showLine);
  const content = shown.join('\n');
  if (content.length > MAX_TEXT_BYTES) throw tooMuchText(content.length);
  return {
    content: numberLines(shown, { startLine, total: all.length, hasLimit: input.limit !== undefined }),
    structured: {
      type: 'text',
      file: { filePath: path, content, numLines: shown.length, startLine, totalLines: all.length },
    },
  };
}

const remind = (text: string): string => `<system-reminder>Warning: ${text}</system-reminder>`;

function numberLines(lines: readonly string[], at: { startLine: number; total: number; hasLimit: boolean }): string {
  const { startLine, total } = at;
  if (total === 0) return remind('the file exists but the contents are empty.');
  if (lines.length === 0) {
    return remind(
      `the file exists but is shorter than the provided offset (${startLine}). The file has ${total} lines.`,
    );
  }
  const text = lines.map((line, i) => `${startLine + i}\t${line}`).join('\n');
  const lastLine = startLine + lines.length - 1;
  if (at.hasLimit || lastLine === total) return text;
  return `${text}\n\n[Lines ${startLine} to ${lastLine} of ${total}. Use offset and limit to read more.]`;
}
