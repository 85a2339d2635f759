/** A tool call on one line: what it is about, not all it says. */
import { isAbsolute, relative } from 'node:path';
import { toVisibleLine } from './visible.js';

const WIDTH = 110;

/** The fields that say what a call is about, most telling first. */
const SUBJECTS = ['command', 'file_path', 'notebook_path', 'pattern', 'url', 'query', 'description', 'path', 'task_id'];

export function describeCall(name: string, input: unknown, cwd: string): string {
  if (typeof input !== 'object' || input === null) return '';
  const fields = input as Record<string, unknown>;
  const subject = SUBJECTS.map((key) => fields[key]).find((value) => typeof value === 'string');
  if (typeof subject !== 'string') return Object.keys(fields).length === 0 ? '' : fit(JSON.stringify(fields));
  const where = subject === fields.pattern && typeof fields.path === 'string' ? ` in ${toShort(fields.path, cwd)}` : '';
  return fit(`${name === 'Bash' ? subject : toShort(subject, cwd)}${where}`);
}

function toShort(text: string, cwd: string): string {
  if (!isAbsolute(text)) return text;
  const inside = relative(cwd, text);
  return inside === '' ? '.' : inside.startsWith('..') ? text : inside;
}

function fit(text: string): string {
  const visible = toVisibleLine(text);
  return visible.length > WIDTH ? `${visible.slice(0, WIDTH - 1)}…` : visible;
}
