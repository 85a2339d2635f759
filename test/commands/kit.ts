import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ModelRequest, SessionConfig } from '../../src/protocol/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { type Run, type RunOptions, scratch, start } from '../engine/kit.js';

export type Files = Readonly<Record<string, string>>;

export function write(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** Files of the project count. */
export const TRUSTED: Partial<SessionConfig> = { settingSources: ['project', 'user'], trusted: true };

/** A session in a trusted folder with these files in its `.claude`. */
export function startWith(files: Files, script: readonly ScriptStep[], options: RunOptions = {}): Promise<Run> {
  const cwd = options.cwd ?? scratch();
  write(join(cwd, '.claude'), files);
  return start(script, { ...options, cwd, config: { ...TRUSTED, ...options.config } });
}

/** All that the model was sent in one request, as text. */
export const sent = (request: ModelRequest | undefined): string => JSON.stringify(request?.body.messages ?? []);

/** The texts of the last message of a request, in order. */
export function lastTexts(request: ModelRequest | undefined): string[] {
  const content = request?.body.messages.at(-1)?.content ?? [];
  return typeof content === 'string'
    ? [content]
    : content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

export const skill = (description: string, body: string, more = ''): string =>
  `---\ndescription: ${description}\n${more}---\n\n${body}\n`;
