/** A called command or skill as the text that goes to the model. What is put in is never read again for more to put in. */
import { fillShellLine, isInSingleQuotes, splitArguments } from './arguments.js';
import type { CommandFile, SkillFile } from './definition.js';
import { readBody } from './definition-text.js';

/** What came of a line in !`...`. */
export type ShellOutcome = { ok: true; output: string } | { ok: false; reason: string };

export interface ExpandRequest {
  command: CommandFile | SkillFile;
  /** What stands after the name. */
  args: string;
  /** Runs a line under permissions. What it throws counts as a failure; it ends when the session says so. */
  runShell(line: string): Promise<ShellOutcome>;
  sessionId?: string;
  /** The text instead of that of its file. */
  body?: string;
}

export interface ExpandedCommand {
  ok: true;
  /** Says which command was called, and with what. */
  header: string;
  body: string;
  /** Header and body, as they go to the model. */
  text: string;
  /** The body without what was printed: only here may `@file` be looked for. */
  mentionable: string;
}

export type Expansion = ExpandedCommand | { ok: false; reason: string };

const MAX_SHELL_LINES = 50;
const MAX_OUTPUT_CHARS = 30_000;
const TOKEN =
  /(?<![\w\\`])!`(?<line>[^`\n]+)`|(?<!\\)\$ARGUMENTS\b|(?<!\\)\$(?<index>[1-9])(?!\d)|(?<!\\)\$\{(?<place>CLAUDE_PLUGIN_ROOT|CLAUDE_SKILL_DIR|CLAUDE_SESSION_ID)\}/g;

/** Never throws: a file that is gone, or a line that is denied or fails, is a reason. */
export async function expandCommand(request: ExpandRequest): Promise<Expansion> {
  const { command, args: written, sessionId } = request;
  const args = written.trim();
  const words = splitArguments(args);
  const folder = 'folder' in command ? command.folder : undefined;
  const places = {
    CLAUDE_PLUGIN_ROOT: command.origin.pluginRoot,
    CLAUDE_SKILL_DIR: folder,
    CLAUDE_SESSION_ID: sessionId,
  };
  const fail = (why: string): Expansion => ({ ok: false, reason: `/${command.name} was not run: ${why}` });
  const source = takeBody(request);
  if ('fault' in source) return fail(source.fault);

  const { body } = source;
  const tokens = [...body.matchAll(TOKEN)];
  // A file that takes no arguments shows scripts with numbers of their own.
  const keepsQuoted = command.argumentHint === '' && !/\$ARGUMENTS\b/.test(body);
  const isInScript = keepsQuoted ? createScriptFinder(body) : () => false;
  if (tokens.filter(({ groups }) => groups?.['line'] !== undefined).length > MAX_SHELL_LINES) {
    return fail(`it has more than ${MAX_SHELL_LINES} lines to run.`);
  }
  let text = '';
  let mentionable = '';
  let end = 0;
  let usesArguments = false;
  const say = (part: string): void => {
    text += part;
    mentionable += part;
  };
  for (const { 0: whole, index: at, groups } of tokens) {
    say(body.slice(end, at));
    end = at + whole.length;
    const { line, index, place } = groups ?? {};
    if (line !== undefined) {
      const filled = fillShellLine(line, { args, words, places, keepsQuoted });
      if ('fault' in filled) return fail(filled.fault);
      usesArguments ||= filled.usesArguments;
      const outcome = await runLine(filled.line, request);
      if (!outcome.ok) return fail(`!\`${filled.line}\`: ${outcome.reason}`);
      text += cutOutput(outcome.output);
    } else if (place !== undefined) {
      say(places[place as keyof typeof places] ?? whole);
    } else if (index === undefined) {
      usesArguments = true;
      say(args);
    } else {
      const word = words[Number(index) - 1];
      // A skill shows scripts more often than it takes arguments: there a number that none was given for stays.
      const stays = word === undefined && (folder !== undefined || isInScript(at));
      usesArguments ||= !stays;
      say(stays ? whole : (word ?? ''));
    }
  }
  say(body.slice(end));
  if (args !== '' && !usesArguments) say(`${text.endsWith('\n') ? '' : '\n'}\nArguments: ${args}\n`);

  const header = describeCall(command.name, args);
  const prefix = folder === undefined ? '' : `The files of this skill are in ${folder}\n\n`;
  return { ok: true, header, body: prefix + text, text: `${header}\n\n${prefix}${text}`, mentionable };
}

const FENCED = /^[ \t]*(`{3,}|~{3,})[^\n]*\n[^]*?(?:^[ \t]*\1|$(?![^]))/gm;
/** Nobody writes longer lines into a script; each of its numbers costs a look at the line. */
const MAX_SCRIPT_LINE = 2000;

/** Says of a place in the body whether it is in single quotes, in a line of a fenced block. Asked from the first place on. */
function createScriptFinder(body: string): (at: number) => boolean {
  const blocks = [...body.matchAll(FENCED)].map(({ 0: whole, index }) => ({ start: index, end: index + whole.length }));
  let next = 0;
  return (at) => {
    while ((blocks[next]?.end ?? Number.POSITIVE_INFINITY) <= at) next += 1;
    if ((blocks[next]?.start ?? Number.POSITIVE_INFINITY) > at) return false;
    const near = body.slice(Math.max(0, at - MAX_SCRIPT_LINE), at);
    const before = near.slice(near.lastIndexOf('\n') + 1);
    const [behind = ''] = body.slice(at, at + MAX_SCRIPT_LINE).split('\n', 1);
    return before.length < MAX_SCRIPT_LINE && isInSingleQuotes(before + behind, before.length);
  };
}

/** The three tags by which clients and logs know a call. */
export function describeCall(name: string, args: string): string {
  const shown = args.replace(/<(?=\/?command-(?:message|name|args)>)/g, '&lt;');
  return [
    `<command-message>${name}</command-message>`,
    `<command-name>/${name}</command-name>`,
    `<command-args>${shown}</command-args>`,
  ].join('\n');
}

function takeBody({ body, command }: ExpandRequest): { body: string } | { fault: string } {
  if (body !== undefined) return { body: body.trim() };
  const { file } = command.origin;
  if (file === undefined) return { fault: 'it has no text.' };
  try {
    return { body: readBody(file).trim() };
  } catch (error) {
    return { fault: messageOf(error) };
  }
}

async function runLine(line: string, { runShell }: ExpandRequest): Promise<ShellOutcome> {
  try {
    return await runShell(line);
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function cutOutput(output: string): string {
  const text = output.trimEnd();
  if (text.length <= MAX_OUTPUT_CHARS) return text;
  return `${text.slice(0, MAX_OUTPUT_CHARS)}\n[${text.length - MAX_OUTPUT_CHARS} more characters were left out]`;
}
