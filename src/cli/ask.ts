/** Questions of a session put to the person at the terminal: the whole call, and a plain y or n. */
import type { CanUseToolParams, PermissionResult } from '../protocol/index.js';
import { type Look, marksFor, paintFor } from './paint.js';
import { toVisible, toVisibleLine } from './visible.js';

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
  const answer = (await options.readLine('Allow? y / n, or say what to do instead: '))?.trim();
  if (answer === undefined) return deny('The person left without answering.');
  if (/^y(es)?$/i.test(answer)) return { behavior: 'allow', updatedInput: question.input };
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
  if (question.decision_reason) rows.push(['asked because', question.decision_reason]);
  const title = `${marksFor(options).call} ${paint.bold(toVisibleLine(question.tool_name))} needs your approval`;
  return `\n${paint.yellow(title)}\n${rows.map(([key, value]) => toRow(paint.dim(`${toVisibleLine(key)}:`), value)).join('')}`;
}

const toField = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

function toRow(label: string, value: string): string {
  const lines = toVisible(value).split('\n');
  if (lines.length === 1) return `  ${label} ${lines[0]}\n`;
  return `  ${label}\n${lines.map((line) => `    ${line}\n`).join('')}`;
}

interface Choice {
  question: string;
  options: { label: string; description?: string }[];
  multiSelect?: boolean;
}

async function askChoices(question: CanUseToolParams, options: AskOptions): Promise<PermissionResult> {
  const answers: Record<string, string> = {};
  for (const choice of readChoices(question.input)) {
    options.write(describeChoice(choice, options));
    const hint = choice.multiSelect ? 'Numbers with commas, or your own words: ' : 'A number, or your own words: ';
    const answer = await options.readLine(hint);
    if (answer === undefined) return deny('The person left without answering.');
    answers[choice.question] = toAnswer(answer.trim(), choice);
  }
  return { behavior: 'allow', updatedInput: { ...question.input, answers } };
}

function readChoices(input: Record<string, unknown>): Choice[] {
  return Array.isArray(input.questions) ? (input.questions as Choice[]) : [];
}

function describeChoice(choice: Choice, options: Look): string {
  const paint = paintFor(options);
  const lines = choice.options.map(({ label, description }, at) => {
    const more = description ? paint.dim(` ${toVisibleLine(description)}`) : '';
    return `  ${at + 1}. ${toVisibleLine(label)}${more}\n`;
  });
  return `\n${paint.bold(toVisible(choice.question))}\n${lines.join('')}`;
}

/** Numbers stand for labels; anything else is the answer itself. */
function toAnswer(text: string, choice: Choice): string {
  const labels = text
    .split(',')
    .map((part) => (/^\d+$/.test(part.trim()) ? choice.options[Number(part) - 1]?.label : undefined));
  if (labels.some((label) => label === undefined) || (labels.length > 1 && !choice.multiSelect)) return text;
  return labels.join(', ');
}
