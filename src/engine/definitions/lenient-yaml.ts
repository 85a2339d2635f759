/** Files that were never strict YAML and that people use all the same: read field by field, and what was done is said. */
import type { Field } from './field.js';
import { readPlainYaml } from './plain-yaml.js';
import { readStrictYaml, type YamlFault } from './strict-yaml.js';

/** The keys by which a field is told from a line of text such as `user: ...` inside of a description. */
const KEYS = new Set(
  [
    'name description when_to_use when-to-use model tools allowed-tools allowedTools allowed_tools disallowedTools',
    'disallowed-tools disallowed_tools argument-hint argumentHint arguments disable-model-invocation user-invocable',
    'hide-from-slash-command-tool permissionMode permission-mode mcpServers mcp-servers maxTurns max-turns skills hooks',
    'color effort initialPrompt initial-prompt background isolation memory context agent keep-coding-instructions',
    'keepCodingInstructions version license author metadata tags category compatibility homepage repository title',
    'criticalSystemReminder_EXPERIMENTAL',
  ].flatMap((line) => line.split(' ')),
);
const TOP = /^([A-Za-z_][\w-]*)[ \t]*:(?=\s|$)/;

export interface LenientOutcome {
  fields: Map<string, Field>;
  /** What was done, each with its line. */
  notes: readonly YamlFault[];
}

interface Part {
  key: string;
  line: number;
  lines: string[];
}

/** Undefined when nothing in it looks like a field. */
export async function readLenientYaml(text: string, firstLine: number): Promise<LenientOutcome | undefined> {
  const parts = splitParts(text, firstLine);
  if (parts.length === 0) return undefined;
  const fields = new Map<string, Field>();
  const notes: YamlFault[] = [];
  for (const part of parts) {
    const read = await readPart(part);
    notes.push(...read.notes);
    for (const [key, field] of read.fields) {
      if (fields.has(key)) notes.push({ line: field.line, text: `"${key}" is there twice; the last one counts` });
      fields.set(key, field);
    }
  }
  return { fields, notes };
}

/** A part begins with a key that is known; all lines up to the next one belong to it. */
function splitParts(text: string, firstLine: number): Part[] {
  const parts: Part[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    const key = TOP.exec(line)?.[1];
    if (key !== undefined && KEYS.has(key)) parts.push({ key, line: firstLine + at, lines: [line] });
    else parts.at(-1)?.lines.push(line);
  }
  return parts;
}

async function readPart({ key, line, lines }: Part): Promise<LenientOutcome> {
  const written = lines.join('\n');
  const plain = readPlainYaml(written, line);
  if (plain !== undefined) return { fields: plain, notes: [] };
  const strict = await readStrictYaml(written, line);
  if (strict.fields !== undefined) return { fields: strict.fields, notes: strict.faults };
  const spaced = lines.map((each) => each.replace(/^[ \t]+/, (indent) => indent.replaceAll('\t', '  '))).join('\n');
  if (spaced !== written) {
    const again = await readStrictYaml(spaced, line);
    if (again.fields !== undefined) {
      const text = `"${key}" is indented with tabs, which YAML does not allow; they were read as spaces`;
      return { fields: again.fields, notes: [{ line: firstTab(lines, line), text }, ...again.faults] };
    }
  }
  const text = `"${key}" is not strict YAML (${strict.fault.text}); it was read as plain text. Put it in quotes, or write "${key}: |" and indent the text below.`;
  const fields = new Map([[key, { value: toText(lines), line }]]);
  return { fields, notes: [{ line: strict.fault.line, text }] };
}

const firstTab = (lines: readonly string[], line: number): number =>
  line +
  Math.max(
    0,
    lines.findIndex((each) => /^[ ]*\t/.test(each)),
  );

/** The value as it stands there, without the mark of a block or quotes around the whole. */
function toText([first = '', ...rest]: readonly string[]): string {
  const start = first.replace(TOP, '').trim();
  const lines = [/^[|>][-+]?$/.test(start) ? '' : start, ...rest.map((line) => line.trim())];
  const text = lines.join('\n').trim();
  const quoted = /^(["'])([\s\S]*)\1$/.exec(text);
  return (quoted?.[2] ?? text).trim();
}
