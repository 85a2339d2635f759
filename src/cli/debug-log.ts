/** Where diagnostics go: nowhere, to stderr, or to a file. */
import { appendFileSync } from 'node:fs';
import type { Logger } from '../protocol/index.js';

export interface DebugLogOptions {
  toStderr: boolean;
  file?: string;
  /** Words parted by commas: only entries that contain one of them. */
  topics?: string;
  stderr: { write(text: string): unknown };
}

/** Undefined when nobody wants to know. A file that cannot be written is said once on stderr. */
export function createDebugLog({ toStderr, file, topics, stderr }: DebugLogOptions): Logger | undefined {
  if (file === undefined && !toStderr) return undefined;
  const wanted = topics?.split(',').map((topic) => topic.trim().toLowerCase());
  const write = file === undefined ? (line: string) => void stderr.write(line) : writerTo(file, stderr);
  return (...entry) => {
    const line = toLine(...entry);
    if (wanted === undefined || wanted.some((topic) => line.toLowerCase().includes(topic))) write(line);
  };
}

function writerTo(file: string, stderr: DebugLogOptions['stderr']): (line: string) => void {
  let broken = false;
  return (line) => {
    if (broken) return;
    try {
      appendFileSync(file, line);
    } catch (error) {
      broken = true;
      stderr.write(
        `heddle: the debug file cannot be written: ${error instanceof Error ? error.message : String(error)}\n`,
      );
    }
  };
}

function toLine(...[level, text, data]: Parameters<Logger>): string {
  const facts = data === undefined ? '' : ` ${JSON.stringify(data)}`;
  return `${new Date().toISOString()} ${level} ${text}${facts}\n`;
}
