/** Commands that settings keep out of the sandbox, judged on what a shell line really runs. */
import { basename } from 'node:path/posix';
import { HeddleError } from '../../protocol/plain.js';
import { isProtected } from '../permissions/path.js';
import { findDangers, hasDangers } from '../permissions/programs/danger.js';
import { DANGERS } from '../permissions/programs/danger-table.js';
import { isControllingVariable, isHarmlessVariable } from '../permissions/programs/variables.js';
import { findWrites } from '../permissions/programs/writes.js';
import { WRITERS } from '../permissions/programs/writer-table.js';
import {
  allowsWords,
  type CommandPattern,
  compileCommandPattern,
  textOf,
} from '../permissions/rules/command-pattern.js';
import { hasHole, literalStart } from '../permissions/shell/hole.js';
import { readCommand } from '../permissions/shell/reader.js';
import { type CommandReading, nameOf, type Segment } from '../permissions/shell/reading.js';
import { isLiteralWord } from '../permissions/shell/word.js';
import { type Place, staysWithOwnRepository } from './excluded-git.js';

/**
 * Patterns as in rules for Bash; one without a star means the command with whatever follows. A line runs outside only when
 * every simple command in it is excluded and does no more than its name tells, in no other repository, and the shell itself
 * opens no file and changes nothing for them: what is not certain stays in. Throws `invalid_settings` for an entry that could not do what it seems to say.
 */
export function createExclusion(
  entries: readonly string[],
  { home }: { home?: string } = {},
): (command: string, place: Place) => boolean {
  const patterns = entries.map(toPattern);
  const isExcluded = ({ words, assignments }: Segment): boolean =>
    assignments.every(isHarmlessVariable) &&
    patterns.some((pattern) => matches(pattern, words) && doesNoMore(words, pattern.words));
  const isOwn = ({ words: [name, ...args] }: Segment, place: Place): boolean =>
    staysWithOwnRepository(
      basename(name?.value ?? ''),
      args.map(({ value }) => value),
      place,
    );

  /** The commands that would leave; undefined when the line stays in, wherever it is to run. */
  const judge = (command: string): Segment[] | undefined => {
    const { segments, redirections, settings, doubts }: CommandReading = readCommand(command, { home });
    // Files that the shell opens would be opened outside, wherever links lead by then.
    if (doubts.length > 0 || redirections.length > 0 || segments.length === 0) return undefined;
    const isQuiet = settings.every(({ name, exported }) =>
      exported ? isHarmlessVariable(name) : !isControllingVariable(name),
    );
    if (!isQuiet) return undefined;
    // A wrapper does nothing but run another segment; what runs on another machine does not run here.
    const leave = segments.every((segment) =>
      segment.role === 'wrapper' ? isPlainWrapper(segment) : segment.role === 'remote' || isExcluded(segment),
    );
    return leave ? segments.filter(({ role }) => role !== 'remote') : undefined;
  };

  // A line is asked about when it is judged, and again when it runs.
  let last: { command: string; leaving: Segment[] | undefined } | undefined;
  return (command, place) => {
    if (last?.command !== command) last = { command, leaving: judge(command) };
    return last.leaving?.every((segment) => isOwn(segment, place)) === true;
  };
}

/** Whoever keeps these out has given them the machine. */
const CONTAINERS = /^(?:docker|podman|nerdctl)$/;

/** By its other arguments a program may run anything, look for it elsewhere, or change what it runs from then on. */
function doesNoMore(words: Segment['words'], named: CommandPattern['words']): boolean {
  const [name = '', ...args] = words.map(({ value }) => value);
  if (CONTAINERS.test(name)) return true;
  if (findDangers(words, DANGERS).some(({ at }) => !named.includes(words[at]?.value ?? ''))) return false;
  // A word that is not known may turn out to be such an argument.
  const mayBeFlag = words.some(({ value, splits }) => splits || (hasHole(value) && literalStart(value) === ''));
  if (mayBeFlag && hasDangers(name, DANGERS)) return false;
  return !findWrites([name, ...args], WRITERS).writes.some(({ path }) => isProtected(path));
}

const SHELLS = /^(?:r?bash|sh|dash|ash|m?ksh)$/;

/** It runs a command as the line itself would: in the same folder, and without files that a shell reads at its start. */
function isPlainWrapper(segment: Segment): boolean {
  const name = basename(nameOf(segment));
  const has = (flag: RegExp): boolean => segment.words.slice(1).some(({ value }) => flag.test(value));
  if (name === 'env') return !has(/^-[a-z0]*C|^--c/);
  return !SHELLS.test(name) || !has(/^-[a-zA-Z]*[il]|^--(?:l|rc|in)/);
}

function matches(pattern: CommandPattern, words: Segment['words']): boolean {
  if (pattern.kind === 'glob' && !words.every(isLiteralWord)) return false;
  return allowsWords(pattern, words, textOf(words)) !== undefined;
}

function toPattern(entry: string): CommandPattern {
  const refuse = (text: string, hint: string): HeddleError =>
    new HeddleError('invalid_settings', `sandbox.excludedCommands: \`${entry}\` ${text}`, { hint });
  const inner = /^\w+\((.*)\)$/.exec(entry.trim())?.[1];
  if (inner !== undefined) throw refuse('is a rule.', `Write what stands in its brackets: \`${inner}\`.`);
  const hasStar = /(?<!\\)\*/.test(entry);
  const pattern = compileCommandPattern(hasStar || entry.trim() === '' ? entry : `${entry.trim()}:*`);
  if (typeof pattern === 'string') throw refuse(`cannot be used: ${pattern}.`, 'Write one entry for each command.');
  if (pattern.kind === 'any' || pattern.words.length === 0) {
    throw refuse('may mean every command.', 'Name the program it begins with, or switch the sandbox off.');
  }
  return pattern;
}
