import { basename } from 'node:path/posix';
import { readLine } from './command.js';
import { namedRule, SEARCHERS, toCase } from './decide.js';
import type { JudgedLine } from './decide-command.js';
import { findHit } from './judge-command.js';
import { accessesOf, findPathHit } from './judge-paths.js';
import type { PermissionCall, PermissionPolicy } from './policy.js';
import { isControllingVariable } from './programs/variables.js';
import type { RuleIndex } from './rules/rule-index.js';
import { hasHole } from './shell/hole.js';
import { nameOf, type Segment } from './shell/reading.js';

/** Whether rules are about a call, or may be. `widely`: also about what cannot be known before it runs. */
export function isAbout(
  rules: RuleIndex,
  given: PermissionCall,
  policy: PermissionPolicy,
  { widely }: { widely: boolean },
): boolean {
  const { call, line, web } = toCase(given, policy);
  if (rules.tool(call.tool) !== undefined || namedRule(rules, call) !== undefined) return true;
  if (web.some(({ host }) => rules.host(host) !== undefined)) return true;
  if (line !== undefined) {
    if (findHit(rules, line) !== undefined) return true;
    return widely && (rules.judgesCommands || rules.judgesPaths) && hidesSomething(line);
  }
  if (findPathHit(rules, call, policy) !== undefined) return true;
  const searches = widely && SEARCHERS.has(call.tool);
  return searches && accessesOf(call, policy).some(({ path }) => rules.reads.below(path).length > 0);
}

/** True when not all that a line runs stands in it as commands that were read. */
function hidesSomething(line: JudgedLine): boolean {
  const { doubts, cut, settings, segments } = line.reading;
  return (
    doubts.length > 0 ||
    cut ||
    settings.some(({ name }) => isControllingVariable(name)) ||
    segments.some((segment) => segment.assignments.some(isControllingVariable) || runsUnread(segment, line))
  );
}

const SHELLS = /^(?:r?bash|sh|dash|ash|m?ksh|zsh|fish|t?csh)$/;
/** They take a program from a file, from a flag, or from standard input. */
const LANGUAGES =
  /^(?:python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|perl[\d.]*|ruby|php|lua[\d.]*|luajit|Rscript|osascript|tclsh|expect)$/;
/** What comes on standard input is what they do. */
const OBEYS_INPUT = /^(?:psql|sqlite3|mysql|ed|ex|gdb|lftp|su|ssh|newgrp|script)$/;
const SCHEDULES = /^(?:at|batch|crontab)$/;
const GIVES_CODE = /^-[A-Za-z]*[ceErp]$|^-[ceEr]|^--(?:eval|print|run)\b|^eval$/;
const STANDARD_INPUT = /^-$|^\/dev\/(?:stdin|fd\/)|^\/proc\/self\/fd\//;

/** A file or a text that this command runs, and that nobody has read as commands. */
function runsUnread(segment: Segment, { factOf, cwd, home, tables }: JudgedLine): boolean {
  const { role, isPiped, inputText, words } = segment;
  if (role === 'wrapper' || role === 'remote') return false;
  const name = basename(nameOf(segment));
  const args = words.slice(1).map(({ value }) => value);
  const isFed = isPiped || inputText !== undefined;
  if (name === 'source' || name === '.' || SCHEDULES.test(name)) return true;
  // Of a here-document for a shell every command is among the segments.
  if (SHELLS.test(name)) return inputText === undefined || args.some((arg) => !arg.startsWith('-'));
  if (LANGUAGES.test(name)) {
    const [first = '-'] = args;
    const isData = first === '-m' || !first.startsWith('-');
    return (isFed && !isData) || args.some((arg) => GIVES_CODE.test(arg) || STANDARD_INPUT.test(arg));
  }
  if (isFed && OBEYS_INPUT.test(name)) return true;
  return factOf(segment).dangers.some(({ script, at }) => {
    // Their programs may put together what they run.
    if (/^(?:sed|[gmn]?awk)$/.test(name)) return !(args[at - 1] ?? '').startsWith('-');
    return script !== undefined && (hasHole(script) || readLine(script, { cwd, home, tables }).doubts.length > 0);
  });
}
