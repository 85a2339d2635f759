/** Questions of a session put to the person at the terminal: the whole call, and a plain y or n. */
import type { CanUseToolParams, PermissionResult, PermissionUpdate } from '../protocol/index.js';
import { type Look, marksFor, paintFor } from './paint.js';
import { toVisible, toVisibleExactly, toVisibleLine } from './visible.js';

/** Reads one line. Undefined: the input ended, or the question is gone. */
export type ReadLine = (prompt: string) => Promise<string | undefined>;

export interface AskOptions extends Look {
  cwd: string;
  readLine: ReadLine;
  write: (text: string) => void;
}

export async function askPerson(question: CanUseToolParams, options: AskOptions): Promise<PermissionResult> {
  if (question.tool_name === 'AskUserQuestion') return askChoices(question, options);
  options.write(describeQuestion(question, options));
  const { input, permission_suggestions: always = [] } = question;
  const choices = always.length > 0 ? 'y / n / a for always' : 'y / n';
  const answer = (await options.readLine(`Allow? ${choices}, or say what to do instead: `))?.trim();
  if (answer === undefined) return deny('The person left without answering.');
  if (/^y(es)?$/i.test(answer)) return { behavior: 'allow', updatedInput: input };
  if (always.length > 0 && /^a(lways)?$/i.test(answer)) {
    return { behavior: 'allow', updatedInput: input, updatedPermissions: always };
  }
  return deny(answer === '' || /^no?$/i.test(answer) ? 'The person refused this call.' : answer);
}

const deny = (message: string): PermissionResult => ({ behavior: 'deny', message });

/** Nothing is left out or shortened: what is approved must have been seen. */
export function describeQuestion(question: CanUseToolParams, options: Look & { cwd: string }): string {
  const paint = paintFor(options);
  const rows: [string, string][] = [
    ...Object.entries(question.input).map(([key, value]): [string, string] => [key, toField(value)]),
    ['cwd', question.cwd ?? options.cwd],
  ];
  if (question.agent_id) rows.push(['agent', question.agent_id]);
  const because = question.explanation ?? question.decision_reason;
  if (because) rows.push(['asked because', because]);
  const { permission_suggestions: always = [] } = question;
  if (always.length > 0) rows.push(['always would', always.map(describeUpdate).join('\n')]);
  const title = `${marksFor(options).call} ${paint.bold(nameOf(question.tool_name))} needs your approval`;
  return `\n${paint.yellow(title)}\n${rows.map(([key, value]) => toRow(paint.dim(`${nameOf(key)}:`), value)).join('')}`;
}

/** What is kept is shown before it is: D5. */
function describeUpdate(update: PermissionUpdate): string {
  const where = PLACES[update.destination] ?? `in ${update.destination}`;
  if (update.type === 'setMode') return `switch to ${update.mode} ${where}`;
  if (update.type === 'addDirectories') return `open ${update.directories.join(', ')} ${where}`;
  if (update.type !== 'addRules') return JSON.stringify(update);
  const rules = update.rules.map(({ toolName, ruleContent }) =>
    ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`,
  );
  return `${update.behavior} ${rules.join(', ')} ${where}`;
}

const PLACES: Readonly<Record<string, string>> = {
  session: 'for this session',
  localSettings: 'in .claude/settings.local.json',
  projectSettings: 'in .claude/settings.json',
  userSettings: 'in your settings',
};

const nameOf = (text: string): string => toVisibleLine(toVisibleExactly(text));

const toField = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

function toRow(label: string, value: string): string {
  const lines = toVisibleExactly(value).split('\n');
  if (lines.length === 1) return `  ${label} ${lines[0]}\n`;
  return `  ${label}\n${lines.map((line) => `    ${line}\n`).join('')}`;
}

interface Choice {
  question: string;
  header?: string;
  options: { label: string; description?: string; preview?: string; markdown?: string }[];
  multiSelect?: boolean;
}

/** So often a number that stands for nothing is asked for again; then it is what the person means to say. */
const MAX_RETRIES = 3;

async function askChoices(question: CanUseToolParams, options: AskOptions): Promise<PermissionResult> {
  const answers: [string, string][] = [];
  for (const choice of readChoices(question.input)) {
    options.write(describeChoice(choice, options));
    const answer = await askChoice(choice, options);
    if (answer === undefined) return deny('The person left without answering.');
    if (answer !== '') answers.push([choice.question, answer]);
  }
  // Only a person answers: what the input holds of such fields already is not from one.
  const { answers: _answers, annotations: _annotations, ...input } = question.input;
  return { behavior: 'allow', updatedInput: { ...input, answers: Object.fromEntries(answers) } };
}

function readChoices(input: Record<string, unknown>): Choice[] {
  return Array.isArray(input.questions) ? (input.questions as Choice[]) : [];
}

function describeChoice(choice: Choice, options: Look): string {
  const paint = paintFor(options);
  const lines = choice.options.map(({ label, description, preview, markdown }, at) => {
    const more = description ? paint.dim(` ${toVisibleLine(description)}`) : '';
    return `  ${at + 1}. ${toVisibleLine(label)}${more}\n${describePreview(preview ?? markdown)}`;
  });
  const header = choice.header ? `${paint.dim(`[${toVisibleLine(choice.header)}]`)} ` : '';
  return `\n${header}${paint.bold(toVisible(choice.question))}\n${lines.join('')}`;
}

function describePreview(preview: string | undefined): string {
  if (!preview) return '';
  const lines = toVisible(preview).trimEnd().split('\n');
  return lines.map((line) => `     | ${line}\n`).join('');
}

/** The answer in words; empty when there is none. Undefined: the person left. */
async function askChoice(choice: Choice, options: AskOptions): Promise<string | undefined> {
  const numbers = choice.multiSelect ? 'Numbers with commas' : 'A number';
  for (let retries = 0; ; retries += 1) {
    const line = await options.readLine(`${numbers}, nothing for no answer, or your own words: `);
    if (line === undefined) return undefined;
    const text = line.trim();
    const { answer, problem } = toAnswer(text, choice);
    if (problem === undefined || retries === MAX_RETRIES) return answer;
    options.write(`  ${problem}\n`);
  }
}

/** Numbers stand for labels; anything else is the answer itself. A problem: numbers that stand for nothing. */
function toAnswer(text: string, { options, multiSelect }: Choice): { answer: string; problem?: string } {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const numbers = parts.filter((part) => /^\d+$/.test(part));
  const hasWords = numbers.length < parts.length;
  if (numbers.length === 0 || (hasWords && !multiSelect)) return { answer: text };
  const unknown = numbers.find((number) => options[Number(number) - 1] === undefined);
  if (unknown === undefined && (multiSelect || numbers.length === 1)) {
    const chosen = parts.map((part) => (numbers.includes(part) ? options[Number(part) - 1]?.label : part));
    return { answer: [...new Set(chosen)].join(', ') };
  }
  if (hasWords) return { answer: text };
  const problem = unknown === undefined ? 'Only one can be chosen.' : `There is no ${unknown}.`;
  return { answer: text, problem: `${problem} The numbers are 1 to ${options.length}.` };
}
