import type { EditInput, ToolContext, ToolOutput } from '../../protocol/index.js';
import { cutText } from './bound.js';
import { refuseUnknown } from './ledger.js';
import { findNearestLines } from './nearest.js';
import { createPatch, tellPatch } from './patch.js';
import { noteCwd, resolvePath } from './paths.js';
import { findPlaces, MAX_PLACES, replacePlaces } from './places.js';
import {
  originalFor,
  readThere,
  refuseBrokenText,
  refuseFolderName,
  refuseSize,
  refusing,
  replaceFile,
} from './replace-file.js';
import { decodeText, encodeText, isBinary, showText, toFileText } from './text-file.js';
import type { TextFile } from './text-file.js';

const MAX_QUOTE = 2_000;

interface Plan {
  path: string;
  real: string;
  /** The file that is changed; undefined when one is created. */
  bytes?: Uint8Array;
  before?: TextFile;
  after: TextFile;
  data: Uint8Array;
}

const emptyFile: TextFile = { text: '', encoding: 'utf8', bom: false };

/** Works out the edit on the file as it is now. A text refuses. */
async function plan(input: EditInput, context: ToolContext): Promise<Plan | string> {
  if (input.old_string === input.new_string) {
    return 'No changes to make: old_string and new_string are exactly the same.';
  }
  const wrong =
    refuseFolderName(input.file_path) ??
    refuseBrokenText('old_string', input.old_string) ??
    refuseBrokenText('new_string', input.new_string);
  if (wrong !== undefined) return wrong;
  const path = resolvePath(context.cwd, input.file_path);
  const real = context.judgedPath(path);
  const bytes = await readThere(real, context);
  const create = input.old_string === '';
  if (bytes === undefined) {
    if (create) {
      const after = { ...emptyFile, text: input.new_string };
      return { path, real, after, data: encodeText(after) };
    }
    return `File does not exist. ${noteCwd(context.cwd)}`;
  }
  if (create && bytes.length > 0) {
    return 'File already exists. An empty old_string only creates new files; give the text that is to be replaced.';
  }
  const unknown = create ? undefined : refuseUnknown(context.ledger.compare(real, bytes));
  if (unknown !== undefined) return unknown;
  if (isBinary(bytes)) return 'This tool cannot edit binary files.';
  const before = decodeText(bytes);
  const text = create ? { text: input.new_string } : replace(before, input);
  if (typeof text === 'string') return text;
  const after = { ...before, text: text.text };
  const data = encodeText(after);
  return refuseSize(data.length) ?? { path, real, bytes, before, after, data };
}

/** The new text, or why there is none. */
function replace(file: TextFile, input: EditInput): { text: string } | string {
  const from = toFileText(input.old_string, file.encoding);
  const to = toFileText(input.new_string, file.encoding);
  const places = findPlaces(file.text, from);
  if (places.length === 0) return explainNotFound(file, input.old_string);
  const isMany = places.length > MAX_PLACES;
  const count = isMany ? `more than ${MAX_PLACES.toLocaleString('en-US')}` : String(places.length);
  if (places.length > 1 && !input.replace_all) {
    return (
      `Found ${count} matches of the string to replace, but replace_all is false. Set replace_all to change all of ` +
      `them, or add lines around the one you mean.\nString: ${cutText(input.old_string, MAX_QUOTE)}`
    );
  }
  if (isMany) return `Found ${count} matches, too many for this tool. Use a program such as sed with Bash.`;
  // No encoding takes less than a byte for a character.
  const tooLarge = refuseSize(file.text.length + places.length * (to.length - from.length));
  if (tooLarge !== undefined) return tooLarge;
  const text = replacePlaces(file.text, places, to);
  if (text !== file.text) return { text };
  return 'No changes to make: the strings differ only in line endings, which stay those of the file.';
}

function explainNotFound(file: TextFile, wanted: string): string {
  const parts = [`String to replace not found in file.\nString: ${cutText(wanted, MAX_QUOTE)}`];
  const text = showText(file);
  const unfindable = explainUnfindable({ text, encoding: file.encoding }, wanted);
  if (unfindable !== undefined) return [...parts, unfindable].join('\n\n');
  if (/^\s*\d+\t/.test(wanted)) parts.push('Leave out the line numbers that Read puts in front of each line.');
  const nearest = findNearestLines(text, wanted);
  if (nearest !== undefined) {
    const lines = nearest.lines.map((line, i) => `${nearest.line + i}\t${cutText(line, MAX_QUOTE / 4)}`);
    const what = nearest.sameWords ? 'The same words, but other white space, are at' : 'The most similar text is at';
    parts.push(`${what} line ${nearest.line}:\n${lines.join('\n')}`);
  }
  return parts.join('\n\n');
}

/** Characters that the file does not have as they are shown: the most similar text would look the same. */
function explainUnfindable(shown: Pick<TextFile, 'text' | 'encoding'>, wanted: string): string | undefined {
  const { text, encoding } = shown;
  if (wanted.includes('\ufeff') && !text.includes('\ufeff')) {
    return 'Leave out U+FEFF: a byte order mark at the start of the file stays there, and is not a part of the text.';
  }
  if (encoding === 'utf8' || !wanted.includes('\ufffd') || !text.includes('\ufffd')) return undefined;
  return (
    'U+FFFD stands for bytes of the file that are no text, and so cannot be found. Give text before or behind them, or ' +
    'change the bytes with a program in Bash.'
  );
}

export const refuseEdit = (input: EditInput, context: ToolContext): Promise<string | undefined> =>
  refusing(() => plan(input, context));

export async function runEdit(input: EditInput, context: ToolContext): Promise<ToolOutput> {
  // Time may have passed since `enforce`, for a person was asked: the edit is made on what is there now.
  const edit = await plan(input, context);
  if (typeof edit === 'string') throw new Error(edit);
  const { path, real, bytes, before, after, data } = edit;
  const original = before === undefined ? undefined : showText(before);
  // Before the write: what fails must not fail behind it.
  const patch = createPatch(original ?? '', showText(after));
  await replaceFile(context, { real, before: bytes, data });

  return {
    content: describeEdit(path, { created: before === undefined, all: input.replace_all }),
    structured: {
      filePath: path,
      oldString: input.old_string,
      newString: input.new_string,
      originalFile: originalFor(original),
      ...tellPatch(patch),
      userModified: false,
      replaceAll: input.replace_all,
    },
  };
}

function describeEdit(path: string, edit: { created: boolean; all: boolean }): string {
  if (edit.created) return `File created successfully at: ${path}`;
  if (edit.all) return `The file ${path} has been updated. All occurrences were successfully replaced.`;
  return `The file ${path} has been updated successfully.`;
}
