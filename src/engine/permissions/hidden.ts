import { basename } from 'node:path/posix';
import { type LineContext, toLineContext } from './line-context.js';
import type { Danger } from './programs/danger.js';
import { isControllingVariable } from './programs/variables.js';
import { hasHole } from './shell/hole.js';
import { nameOf, type Segment } from './shell/reading.js';

export interface HiddenSearch {
  /** Files and texts that programs run count as well; commands that stand in flags, and can be read there, do not. */
  atGate: boolean;
}

/** Why not all that a line runs stands in it as commands that were read. */
export function findHidden(line: LineContext, search: HiddenSearch, depth = 0): string | undefined {
  const { doubts, cut, settings, segments } = line.reading;
  const [doubt] = doubts;
  if (doubt !== undefined) return doubt;
  if (cut) return 'it is too long';
  const name = settings.map((setting) => setting.name).find(mayRun) ?? segments.flatMap(controllingOf)[0];
  if (name !== undefined) return `it sets ${name}, which may change what runs`;
  const hides = (segment: Segment): boolean => {
    const { dangers } = line.factOf(segment);
    if (!search.atGate) return dangers.length > 0;
    return runsUnread(segment) || dangers.some((danger) => !isRead(danger, line, depth));
  };
  const isHere = ({ role }: Segment): boolean => role !== 'wrapper' && role !== 'remote';
  const isHidden = segments.some((segment) => isHere(segment) && hides(segment));
  return isHidden ? 'it may run something that does not show' : undefined;
}

/** Names, accounts and dates: programs show them or sign on with them. */
const DATA =
  /^(?:GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|AWS_(?:PROFILE|REGION|DEFAULT_REGION)|PG(?:HOST|PORT|USER|PASSWORD|DATABASE))$/;

const mayRun = (name: string): boolean => isControllingVariable(name) && !DATA.test(name);

/** `IFS= read` cuts what is read, and nothing else. */
function controllingOf(segment: Segment): string[] {
  const isReading = /^(?:read|mapfile|readarray)$/.test(nameOf(segment));
  return segment.assignments.filter((name) => mayRun(name) && !(name === 'IFS' && isReading));
}

const MAX_DEPTH = 3;

/** What it runs is a line that was read, and in which nothing hides. A program in another language may put together what it runs. */
function isRead({ script, isCode }: Danger, { policy }: LineContext, depth: number): boolean {
  if (script === undefined || isCode === true || hasHole(script) || depth >= MAX_DEPTH) return false;
  return findHidden(toLineContext(script, [], policy), { atGate: true }, depth + 1) === undefined;
}

const SHELLS = /^(?:r?bash|sh|dash|ash|m?ksh|zsh|fish|t?csh)$/;
const SHELL_SCRIPT = /\.(?:sh|bash|zsh|ksh|fish|csh|command)$/i;
/** They take a program from a file, from a flag, or from standard input. */
const LANGUAGES =
  /^(?:python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|perl[\d.]*|ruby|php|lua[\d.]*|luajit|Rscript|osascript|tclsh|expect)$/;
/** What comes on standard input is what they do. */
const OBEYS_INPUT = /^(?:psql|sqlite3|mysql|ed|ex|gdb|lftp|su|ssh|newgrp|script)$/;
const SCHEDULES = /^(?:at|batch|crontab)$/;
const GIVES_CODE = /^-[A-Za-z]*[ceErp]$|^-[ceEr]|^--(?:eval|print|run)\b|^eval$/;
const STANDARD_INPUT = /^-$|^\/dev\/(?:stdin|fd\/)|^\/proc\/self\/fd\//;

/** A file or a text that this command runs, and that nobody has read as commands. */
function runsUnread(segment: Segment): boolean {
  const { isPiped, inputText, words } = segment;
  const name = basename(nameOf(segment));
  const args = words.slice(1).map(({ value }) => value);
  const isFed = isPiped || inputText !== undefined;
  if (name === 'source' || name === '.' || SCHEDULES.test(name) || SHELL_SCRIPT.test(name)) return true;
  // Of a here-document for a shell every command is among the segments.
  if (SHELLS.test(name)) return inputText === undefined || args.some((arg) => !arg.startsWith('-'));
  if (LANGUAGES.test(name)) {
    const [first = '-'] = args;
    const isData = first === '-m' || !first.startsWith('-');
    return (isFed && !isData) || args.some((arg) => GIVES_CODE.test(arg) || STANDARD_INPUT.test(arg));
  }
  return isFed && OBEYS_INPUT.test(name);
}
