/** A slash command from its Markdown file. */
import { canonicalToolName, TOOL_SCHEMAS } from '../../protocol/plain.js';
import { matchesGlob, parseGlob } from '../permissions/rules/glob.js';
import { isKnownTool } from '../permissions/rules/written.js';
import { mayExist, sameTool } from './agent-rules.js';
import type { CommandFile } from './definition.js';
import { createFieldReader, type FieldReader, firstWords } from './field-reader.js';
import { describeDoubt, type GuardedKey } from './guarded.js';
import { readDenials, readToolList, saysSame } from './tool-list.js';
import { type DefinitionSource, isCallName, type Parsed, withNamespace } from './source.js';

export function parseCommandFile(source: DefinitionSource): Parsed<CommandFile> {
  const { matter, file, origin } = source;
  const reader = createFieldReader(matter.fields, file);
  const finish = (value: CommandFile | undefined): Parsed<CommandFile> => ({
    value,
    problems: [...matter.problems, ...reader.problems],
  });
  if (matter.state === 'none' && /^readme$/i.test(source.name)) return finish(undefined);
  const name = [...source.folders, source.name].join(':');
  if (!isCallName(name)) {
    reader.warn(1, `"/${name}" cannot be called: rename the file or its folder, without blanks and quotes`);
    return finish(undefined);
  }
  const fork = [reader.find('context'), reader.find('agent')].find(
    ({ value } = { value: 'inline', line: 1 }) => value !== 'inline',
  );
  if (fork !== undefined) {
    reader.warn(
      fork.line,
      '"context" and "agent" count in skills; a command goes to whoever calls it. Make it a skill',
    );
  }
  return finish({ name: withNamespace(origin, name), ...readCallFields(reader, source), origin });
}

/** What commands and skills have in common. */
export function readCallFields(
  reader: FieldReader,
  { matter }: DefinitionSource,
): Omit<CommandFile, 'name' | 'origin'> {
  const description = reader.text('description') ?? firstWords(matter.body);
  const occasion = reader.text('when_to_use', 'when-to-use');
  const model = reader.word('model');
  for (const { key, line } of matter.doubts) if (OF_CALLS.has(key)) reader.warn(line, describeDoubt(key));
  const isDoubtful = (...keys: GuardedKey[]): boolean => matter.doubts.some(({ key }) => keys.includes(key));
  // Of a frontmatter that cannot be read nobody knows whether it kept the model away.
  const isKeptAway =
    matter.state === 'broken' ||
    isDoubtful('disable-model-invocation', 'hide-from-slash-command-tool') ||
    reader.flag('disable-model-invocation', { whenWrong: true }) === true ||
    reader.flag('hide-from-slash-command-tool', { whenWrong: true }) === true;
  const mayAllow = !isDoubtful('tools', 'allowed-tools', 'disallowedTools');
  return {
    description: occasion === undefined ? description : `${description} ${occasion}`.trim(),
    argumentHint: readHint(reader),
    allowedTools: mayAllow ? readAllowed(reader) : [],
    ...(model === undefined || model === 'inherit' ? {} : { model }),
    modelMayCall: !isKeptAway,
    userMayCall: !isDoubtful('user-invocable') && (reader.flag('user-invocable', { whenWrong: false }) ?? true),
  };
}

const OF_CALLS: ReadonlySet<string> = new Set<GuardedKey>([
  'tools',
  'allowed-tools',
  'disallowedTools',
  'disable-model-invocation',
  'hide-from-slash-command-tool',
  'user-invocable',
]);

/** Nothing, where it is not sure what is allowed. */
function readAllowed(reader: FieldReader): readonly string[] {
  const [last, ...others] = reader.all('allowed-tools', 'tools');
  const none = (line: number, text: string): readonly string[] => {
    reader.warn(line, `${text}; nothing is allowed by it`);
    return [];
  };
  const denied = readDenied(reader);
  if (last === undefined) return [];
  const unsure = [last, ...others].find(({ fault }) => fault !== undefined);
  if (unsure !== undefined) return none(unsure.line, `"allowed-tools" cannot be read (${unsure.fault})`);
  const other = others.find(({ value }) => !saysSame(value, last.value));
  if (other !== undefined) {
    return none(last.line, `"allowed-tools" or "tools" is there twice (line ${other.line}), and says two things`);
  }
  const allowed = readToolList(last.value);
  if (allowed === undefined) return none(last.line, '"allowed-tools" must be a list of names');
  warnOfIdle(allowed, (text) => reader.warn(last.line, `"allowed-tools": ${text}`));
  return denied === undefined ? [] : allowed.filter((rule) => !denied.some((denial) => overlaps(rule, denial)));
}

/** Two rules in one bracket. */
const JOINED = /^Bash\(.*:\*\s*,/s;

/** Rules that no call matches. A name that nobody knows may be that of a tool of the host. */
function warnOfIdle(rules: readonly string[], warn: (text: string) => void): void {
  const idle = rules.filter((rule) => !mayExist(rule) || JOINED.test(rule));
  const isAll = idle.length === rules.length;
  for (const rule of idle) {
    const same = sameTool(rule);
    if (same !== undefined) warn(`"${rule}" allows nothing: the tool is called ${same}`);
    else if (JOINED.test(rule)) warn(`"${rule}" allows nothing: write one rule for each, as Bash(a:*), Bash(b:*)`);
    else if (isAll)
      warn(`"${rule}" names no tool that is built in; it allows one of that name, if a server or the host brings it`);
  }
}

/** What a file names there is at least not allowed by it. Undefined when that cannot be read, or names no tool. */
function readDenied(reader: FieldReader): readonly string[] | undefined {
  const fields = reader.all('disallowedTools');
  if (fields[0] === undefined) return [];
  reader.warn(fields[0].line, '"disallowed-tools" only takes tools from "allowed-tools" here; rules in settings deny');
  const denied: string[] = [];
  for (const { value, fault, line } of fields) {
    const list = fault === undefined ? readDenials(value) : undefined;
    const unknown = list?.find((rule) => !namesTool(rule));
    if (list === undefined || unknown !== undefined) {
      const why = unknown === undefined ? 'cannot be read' : `holds "${unknown}", which names no tool`;
      reader.warn(line, `"disallowed-tools" ${why}; nothing is allowed by "allowed-tools"`);
      return undefined;
    }
    denied.push(...list);
  }
  return denied;
}

const toolOf = (rule: string): string => canonicalToolName(rule.split('(', 1)[0] ?? '').toLowerCase();

const TOOLS = Object.keys(TOOL_SCHEMAS).map((name) => name.toLowerCase());

const namesTool = (rule: string): boolean =>
  isKnownTool(rule.split('(', 1)[0] ?? '') || TOOLS.some((tool) => matches(toolOf(rule), tool));

/** Some call may be meant by both. */
function overlaps(rule: string, denial: string): boolean {
  const [one, other] = [toolOf(rule), toolOf(denial)];
  return matches(one, other) || matches(other, one) || (one.includes('*') && other.includes('*'));
}

/** As in rules: a pattern of names, or a server with all of its tools. */
const matches = (pattern: string, name: string): boolean =>
  pattern === name ||
  (pattern.includes('*') && matchesGlob(parseGlob(pattern, { onlyStars: true }), name)) ||
  (pattern.startsWith('mcp__') && name.startsWith(`${pattern}__`));

/** A list of names is shown the way hints are written. */
function readHint(reader: FieldReader): string {
  const field = reader.find('argument-hint', 'argumentHint');
  if (!Array.isArray(field?.value)) return reader.text('argument-hint', 'argumentHint') ?? '';
  const items: readonly unknown[] = field.value.flat(2);
  return items.map((item) => (/^[[<]/.test(String(item)) ? String(item) : `[${String(item)}]`)).join(' ');
}
