import type { PermissionBehavior } from '../../../protocol/index.js';
import { RULE_LAYERS, type RuleLayer, type RuleLayerName, type WrittenRule } from '../layers.js';
import { isInside } from '../path.js';
import { toPosixPath } from '../platform.js';
import { toPlainHost } from '../web.js';
import { compileCommandPattern } from './command-pattern.js';
import { compilePathPattern } from './path-pattern.js';
import { type CompiledRule, EDIT_TOOLS, READ_TOOLS, RuleIndex } from './rule-index.js';
import { doubtName, parseWritten, type Rule } from './written.js';

export interface RuleProblem {
  layer: RuleLayerName;
  /** As it was written. */
  rule: string;
  problem: string;
}

/** All rules in force, ready to be asked. Immutable: a change of rules makes a new one. */
export interface RuleBook {
  readonly deny: RuleIndex;
  readonly ask: RuleIndex;
  readonly allow: RuleIndex;
  readonly problems: readonly RuleProblem[];
  /** Where path rules begin. Links in these are resolved by whoever compiles: see `CompileOptions.links`. */
  readonly folders: readonly string[];
}

export interface CompileOptions {
  home: string;
  /** Where the folders of a book really are, as far as links lead elsewhere. Rules hold for both places. */
  links?: ReadonlyMap<string, string>;
  /** Names of tools that are not built in. */
  tools?: readonly string[];
  /** Letter case does not matter on its disks: win32, darwin. */
  platform?: string;
}

const BEHAVIORS = ['deny', 'ask', 'allow'] as const;
const STRICTNESS: Readonly<Record<PermissionBehavior, number>> = { deny: 2, ask: 1, allow: 0 };

/** Reads the rules of all layers once. What is wrong with one is a problem of the book, and never loosens anything. */
export function compileRules(layers: readonly RuleLayer[], options: CompileOptions): RuleBook {
  const book = { deny: new RuleIndex('forbid'), ask: new RuleIndex('forbid'), allow: new RuleIndex('allow') };
  const problems: RuleProblem[] = [];
  let count = 0;
  for (const layer of layers.toSorted((a, b) => RULE_LAYERS.indexOf(a.name) - RULE_LAYERS.indexOf(b.name))) {
    for (const listed of BEHAVIORS) {
      for (const written of layer[listed] ?? []) {
        for (const rule of readWritten(written)) {
          const found = (problem: string): void => void problems.push({ layer: layer.name, rule: rule.text, problem });
          const behavior = stricter(listed, rule, found);
          count += 1;
          const { text, tool, reason } = rule;
          const compiled = { text, layer: layer.name, rank: count, tool, ...(reason !== undefined && { reason }) };
          addRule({ rule, compiled, index: book[behavior], behavior, layer, options, found });
        }
      }
    }
  }
  const anchors = [book.deny, book.ask, book.allow].flatMap((index) => index.folders);
  const bases = anchors.length === 0 ? [] : layers.map(({ base }) => toPosixPath(base));
  const folders = [...new Set([...anchors, ...bases])];
  return { ...book, problems, folders };
}

/** Settings files hold anything: what is neither text nor an object is a rule that cannot be read. */
function readWritten(written: WrittenRule): Rule[] {
  if (typeof written === 'string' || (typeof written === 'object' && written !== null)) return parseWritten(written);
  return [{ text: String(written), tool: '*', specifier: '', problem: 'it is neither a text nor an object' }];
}

/** An object that says itself what it does may be stricter than the list it stands in, never looser. */
function stricter(
  listed: PermissionBehavior,
  { behavior = listed }: Rule,
  found: (problem: string) => void,
): PermissionBehavior {
  if (STRICTNESS[behavior] >= STRICTNESS[listed]) return behavior;
  found(`it stands under ${listed} and says ${behavior}; it counts as ${listed}`);
  return listed;
}

interface Addition {
  rule: Rule;
  compiled: CompiledRule;
  index: RuleIndex;
  behavior: PermissionBehavior;
  layer: RuleLayer;
  options: CompileOptions;
  found(problem: string): void;
}

/** Tools whose calls a rule can tell apart by a name in their input. */
const NAMED_TOOLS: ReadonlySet<string> = new Set([
  'Task',
  'Skill',
  'SlashCommand',
  'Config',
  'ReadMcpResourceTool',
  'McpSampling',
]);

/** Tools that are others by now, which do what they did: what forbids must hold for these. */
const SUCCESSORS: Readonly<Record<string, string>> = { NotebookRead: 'Read', LS: 'Glob', SlashCommand: 'Skill' };

function addRule(addition: Addition): void {
  const { rule, index, behavior, found } = addition;
  const isForbidding = behavior !== 'allow';
  const successor = isForbidding && rule.specifier !== undefined ? SUCCESSORS[rule.tool] : undefined;
  const compiled = successor === undefined ? addition.compiled : { ...addition.compiled, tool: successor };
  // A broken rule forbids by asking about whatever it may have meant, and allows nothing.
  const breaks = (problem: string): void => {
    found(problem);
    if (isForbidding) index.addBroken(compiled);
  };
  if (rule.problem !== undefined) return breaks(rule.problem);
  const { tool, specifier } = rule;
  const doubt = tool.includes('*') ? doubtPattern(tool, behavior) : doubtName(tool, addition.options.tools);
  if (doubt !== undefined) {
    found(doubt);
    if (isForbidding) index.addTool(compiled);
    return;
  }
  if (specifier === undefined) {
    index.addTool(compiled);
    // Whoever forbids reading or editing as such means every way of it; whoever takes a tool away means that one.
    if (isForbidding && addition.layer.namesTools !== true) index.addWhole(compiled);
    return;
  }
  if (tool === '*') return breaks('only a rule for one tool can have brackets');
  if (tool === 'Bash') return addCommandRule(addition, breaks);
  if (READ_TOOLS.has(tool) || EDIT_TOOLS.has(tool)) return addPathRule({ ...addition, compiled }, breaks);
  if (tool === 'WebFetch') return addHostRule(addition, breaks);
  if (NAMED_TOOLS.has(tool)) {
    if (specifier.trim() === '') return breaks('its brackets are empty');
    const name = specifier.trim().replace(/:\*$/, '*');
    return index.addName(compiled, successor === 'Skill' ? name.replace(/^\//, '') : name);
  }
  breaks(`a rule for ${tool} has no brackets: what they would be about is not known`);
}

/** For allowing, tools of one server that is named in full are the only pattern of names. */
function doubtPattern(tool: string, behavior: PermissionBehavior): string | undefined {
  if (tool === '*' || behavior !== 'allow' || /^mcp__(?:(?!__)[^*])+__[^]+$/.test(tool)) return undefined;
  return 'a name with * can be denied or asked about; only "*" and names of one server, as "mcp__server__get_*", can be allowed';
}

function addCommandRule({ rule, compiled, index, behavior }: Addition, breaks: (problem: string) => void): void {
  const { specifier = '', isOpen = false } = rule;
  // No command is called so; to allow, it may be a line that someone has seen.
  if (behavior !== 'allow' && /^\s*\([^\s()]*\)\s*$/.test(specifier)) return breaks('its brackets are doubled');
  // The command of an object is how the line begins, with or without stars.
  const pattern = compileCommandPattern(isOpen && !/(?::|\s)\*$/.test(specifier) ? `${specifier}:*` : specifier);
  if (typeof pattern === 'string') return breaks(pattern);
  index.addCommand(compiled, pattern);
}

function addPathRule(
  { rule, compiled, index, behavior, layer, options }: Addition,
  breaks: (problem: string) => void,
): void {
  const folds = options.platform === 'win32' || options.platform === 'darwin';
  const place = {
    base: toPosixPath(layer.base),
    home: toPosixPath(options.home),
    folds: folds && behavior !== 'allow',
  };
  const patterns = compilePathPattern(rule.specifier ?? '', place);
  if (typeof patterns === 'string') return breaks(patterns);
  for (const pattern of patterns) {
    // To allow, a bare name means files of the project; to forbid, of any folder.
    const placed = behavior === 'allow' ? { ...pattern, isAnywhere: false } : pattern;
    index.addPath(compiled, placed);
    const real = options.links?.get(pattern.anchor);
    if (real === undefined || real === pattern.anchor) continue;
    // A link in the project must not carry what was allowed there to another place.
    const realBase = options.links?.get(place.base) ?? place.base;
    const isOwn = behavior !== 'allow' || /^(?:\/\/|~)/.test(rule.specifier ?? '') || isInside(realBase, real);
    if (isOwn)
      index.addPath(compiled, { ...placed, anchor: folds && behavior !== 'allow' ? real.toLowerCase() : real });
  }
}

function addHostRule({ rule, compiled, index }: Addition, breaks: (problem: string) => void): void {
  const [, given] = /^\s*domain:\s*(\S+)\s*$/.exec(rule.specifier ?? '') ?? [];
  if (given === undefined) return breaks('the brackets of WebFetch hold domain: and a host');
  const host = toHost(given);
  if (host === undefined) return breaks(`${JSON.stringify(given)} is no host`);
  index.addHost(compiled, host);
}

/** As a parsed address has it: lower case, punycode, no dot at the end; `*.` in front is kept. */
function toHost(text: string): string | undefined {
  const isWild = text.startsWith('*.');
  const name = isWild ? text.slice(2) : text;
  if (text === '*') return '*';
  if (/[/@?#\\:*\s]/.test(name.replace(/^\[.*\]$/, ''))) return undefined;
  try {
    const host = toPlainHost(new URL(`http://${name}/`).hostname);
    return isWild ? `*.${host}` : host;
  } catch {
    return undefined;
  }
}
