/** JSON files of a plugin, and parts of them that know on which line they stand. */
import { statSync } from 'node:fs';
import type { DefinitionProblem } from '../definitions/definition.js';
import { type ParsedText, parseJsonc } from '../settings/jsonc.js';
import { readText } from '../settings/read.js';

export const MAX_JSON_BYTES = 1024 * 1024;

/** A value that stands somewhere in a file. */
export interface JsonPart {
  file: string;
  value: unknown;
  /** `rest` is the path below the value: `.PreToolUse[0]`, or nothing for the value itself. */
  lineOf(rest?: string): number;
}

export interface ReadPart {
  /** Absent when the file is no JSON. */
  part?: JsonPart;
  problems: DefinitionProblem[];
}

/** Comments and trailing commas are fine. Never rejects. */
export async function readJson(file: string): Promise<ReadPart> {
  const broken = (text: string, line = 0): ReadPart => ({ problems: [{ severity: 'error', file, line, text }] });
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MAX_JSON_BYTES) {
    return broken(`it is larger than ${MAX_JSON_BYTES / 1024} KB, too large to be read`);
  }
  const read = await readText(file, MAX_JSON_BYTES);
  if ('fault' in read) return broken(read.fault);
  if (read.text === undefined) return broken('there is no such file');
  const parsed = await parseJsonc(read.text.replace(/^\uFEFF/, ''));
  const problems = parsed.faults.map(
    ({ line, text }): DefinitionProblem => ({
      severity: parsed.value === undefined ? 'error' : 'warning',
      file,
      line,
      text,
    }),
  );
  return parsed.value === undefined ? { problems } : { part: toPart(file, parsed), problems };
}

const toPart = (file: string, { value, placeOf }: ParsedText): JsonPart => ({
  file,
  value,
  lineOf: (rest = '') => placeOf(rest.replace(/^\./, '')).line,
});

/** The part at a path below another: `.hooks`, `[1]`. */
export const partAt = (part: JsonPart, rest: string, value: unknown): JsonPart => ({
  file: part.file,
  value,
  lineOf: (inner = '') => part.lineOf(`${rest}${inner}`),
});

/** Says something about what stands at a path below the part. */
export const problemAt = (
  part: JsonPart,
  rest: string,
  { severity = 'error', text }: { severity?: DefinitionProblem['severity']; text: string },
): DefinitionProblem => ({ severity, file: part.file, line: part.lineOf(rest), text });
