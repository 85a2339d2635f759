/** What the embedded model says about the results of its tool calls. Pure. */
import type { EmbeddedTask } from './embedded-rules.js';

export interface ToolOutcome {
  name: string;
  text: string;
  isError: boolean;
}

export const ABOUT = [
  'I am the embedded model of Heddle: a small set of rules inside the package, for trying Heddle without a network or a key.',
  'I cannot reason or write code. I can work with files through real tool calls. Try one of these:',
  '',
  '- list the files in src',
  '- how many TypeScript files are there?',
  '- find package.json',
  '- search for "open" in src',
  '- read package.json, or: summarize README.md',
  '- run `git status`',
  '- write a file hello.txt saying Hello!',
  '',
  'For real work, set ANTHROPIC_API_KEY and choose a model such as --model sonnet.',
].join('\n');

const MAX_SHOWN = 20;

export const explainMissingTool = (tool: string): string =>
  `I would need the ${tool} tool for that, and it is not offered in this session.`;

export function explainFailure(outcome: ToolOutcome): string {
  const [first = 'no reason was given'] = outcome.text
    .replace(/<\/?tool_use_error>/g, '')
    .trim()
    .split('\n');
  return `That did not work: ${outcome.name} said "${first.slice(0, 300)}".`;
}

/** The answer to a task from its last result. */
export function answerTask(task: EmbeddedTask, outcome: ToolOutcome): string {
  switch (task.kind) {
    case 'about':
      return ABOUT;
    case 'list':
    case 'count':
    case 'find':
      return answerFiles(task, listedPaths(outcome.text));
    case 'search':
      return answerSearch(task.text, outcome.text);
    case 'read':
      return answerRead(task, unnumber(outcome.text));
    case 'run':
      return answerRun(task.command, outcome);
    case 'write':
      return `I wrote ${task.file} (${task.content.length} characters).`;
  }
}

/** The paths of a Glob result: one per line, remarks and the note that nothing was found left out. */
export function listedPaths(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '' && !/^(no files found|found \d+ |\(|<)/i.test(line));
}

function answerFiles(task: { kind: string; noun: string; path?: string }, paths: readonly string[]): string {
  const place = task.path === undefined ? 'here' : `in ${task.path}`;
  if (paths.length === 0) return `There are no ${task.noun} ${place}.`;
  const noun = paths.length === 1 ? task.noun.replace(/\bfiles\b/, 'file') : task.noun;
  const verb = paths.length === 1 ? 'is' : 'are';
  const head = `There ${verb} ${paths.length} ${noun} ${place}`;
  return task.kind === 'count' ? `${head}.` : `${head}:\n\n${bullets(paths)}`;
}

function answerSearch(wanted: string, text: string): string {
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^(no (files|matches) found|found \d+ )/i.test(line.trim()));
  if (lines.length === 0) return `I found no "${wanted}".`;
  const files = new Set(lines.map((line) => /^(.+?):\d+[:-]/.exec(line)?.[1] ?? line));
  const head = `I found "${wanted}" on ${plural(lines.length, 'line')} in ${plural(files.size, 'file')}`;
  return `${head}:\n\n${bullets(lines.map((line) => line.slice(0, 200)))}`;
}

function answerRun(command: string, outcome: ToolOutcome): string {
  const output = outcome.text.trim();
  if (outcome.isError) return `\`${command}\` failed:\n\n${fence(output)}`;
  if (output === '' || /^\([^)]*no output[^)]*\)$/i.test(output)) return `\`${command}\` ran and printed nothing.`;
  return `\`${command}\` printed:\n\n${fence(output)}`;
}

function answerRead(task: { file: string; want: string }, lines: readonly string[]): string {
  const count = plural(lines.length, 'line');
  if (lines.every((line) => line.trim() === '')) return `${task.file} is empty.`;
  if (task.want === 'lines') return `${task.file} has ${count}.`;
  if (task.want === 'content') return `${task.file} (${count}):\n\n${fence(lines.join('\n'))}`;
  return `${task.file} has ${count}. ${summarize(lines)}`;
}

/** Sentences picked from the text itself: its title, first paragraph and headings, or its keys, or its first line. */
function summarize(lines: readonly string[]): string {
  const keys = topLevelKeys(lines.join('\n'));
  if (keys !== undefined)
    return `It is JSON with ${plural(keys.length, 'key')}: ${keys.slice(0, MAX_SHOWN).join(', ')}.`;
  const headings = lines.flatMap((line) => /^#{1,3}\s+(.+)$/.exec(line)?.[1]?.trim() ?? []);
  const paragraph = firstParagraph(lines);
  if (headings.length === 0) return `It begins: ${paragraph}`;
  const [title, ...rest] = headings;
  const sections = rest.length === 0 ? '' : `\n\nIts sections: ${rest.slice(0, MAX_SHOWN).join(', ')}.`;
  return `Its title is "${title}".${paragraph === '' ? '' : ` It begins: ${paragraph}`}${sections}`;
}

function firstParagraph(lines: readonly string[]): string {
  const start = lines.findIndex((line) => /^[^#\s<![\-*`|>]/.test(line));
  if (start < 0) return (lines.find((line) => line.trim() !== '' && !line.startsWith('#')) ?? '').trim();
  const end = lines.findIndex((line, index) => index > start && line.trim() === '');
  const text = lines.slice(start, end < 0 ? start + 5 : end).join(' ');
  return text.length > 400 ? `${text.slice(0, 400).replace(/\s+\S*$/, '')} ...` : text;
}

function topLevelKeys(text: string): string[] | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return Object.keys(JSON.parse(text) as object);
  } catch {
    return undefined;
  }
}

/** The lines of a Read result without their numbers and without remarks of the engine. */
function unnumber(text: string): string[] {
  const plain = text.replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '').replace(/\n+$/, '');
  const lines = plain.split('\n').map((line) => line.replace(/^\s*\d+(?:\t|→)/, ''));
  while (lines.length > 1 && lines.at(-1) === '') lines.pop();
  return lines;
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function bullets(items: readonly string[]): string {
  const shown = items.slice(0, MAX_SHOWN).map((item) => `- ${item}`);
  const left = items.length - MAX_SHOWN;
  return left > 0 ? `${shown.join('\n')}\n- ... and ${left} more` : shown.join('\n');
}

function fence(text: string): string {
  const lines = text.split('\n');
  const shown = lines.slice(0, MAX_SHOWN * 2).join('\n');
  const left = lines.length - MAX_SHOWN * 2;
  const mark = shown.includes('```') ? '````' : '```';
  return `${mark}\n${shown}\n${mark}${left > 0 ? `\n\n... and ${plural(left, 'more line')}.` : ''}`;
}
