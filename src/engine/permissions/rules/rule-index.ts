import { basename } from 'node:path/posix';
import type { RuleLayerName } from '../layers.js';
import type { ShellWord } from '../shell/word.js';
import { allowsWords, type CommandPattern, forbidsWords, textOf, textsOf } from './command-pattern.js';
import { type GlobToken, matchesGlob, parseGlob } from './glob.js';
import { PathIndex } from './path-index.js';
import type { PathPattern } from './path-pattern.js';

/** A rule that a call can be held against. */
export interface CompiledRule {
  /** As it was written. */
  text: string;
  layer: RuleLayerName;
  /** Lower ones are reported first. */
  rank: number;
  tool: string;
  /** What its author says to those it stops. */
  reason?: string;
}

export const READ_TOOLS: ReadonlySet<string> = new Set(['Read', 'Grep', 'Glob', 'NotebookRead', 'LS']);
export const EDIT_TOOLS: ReadonlySet<string> = new Set(['Edit', 'Write', 'MultiEdit', 'NotebookEdit']);

/** A rule that matched a command: certainly or perhaps. */
export interface CommandMatch {
  rule: CompiledRule;
  isCertain: boolean;
}

/** A rule that allows a command, and how many of its words it names itself. */
export interface CommandGrant {
  rule: CompiledRule;
  pattern: CommandPattern;
  named: number;
}

interface CommandEntry {
  rule: CompiledRule;
  pattern: CommandPattern;
}

interface NameEntry {
  rule: CompiledRule;
  tokens: readonly GlobToken[];
}

/** The rules of one behaviour. Forbidding reads a rule as widely as it can be meant, allowing as narrowly. */
export class RuleIndex {
  readonly #purpose: 'forbid' | 'allow';
  readonly #tools = new Map<string, CompiledRule>();
  readonly #toolPatterns: NameEntry[] = [];
  readonly #commands = new Map<string, CommandEntry[]>();
  /** Patterns that do not say with which word a command begins. */
  readonly #openCommands: CommandEntry[] = [];
  readonly #names = new Map<string, NameEntry[]>();
  readonly #hosts = new Map<string, CompiledRule>();
  readonly #byTool = new Map<string, PathIndex<CompiledRule>>();
  readonly broken: CompiledRule[] = [];
  readonly reads = new PathIndex<CompiledRule>();
  readonly edits = new PathIndex<CompiledRule>();
  /** Rules about all reading and all editing, by whatever tool or command that is known to do so. */
  wholeRead: CompiledRule | undefined;
  wholeEdit: CompiledRule | undefined;

  constructor(purpose: 'forbid' | 'allow') {
    this.#purpose = purpose;
  }

  /** Some rule is about commands. */
  get judgesCommands(): boolean {
    return this.#commands.size > 0 || this.#openCommands.length > 0;
  }

  /** Some rule is about paths that commands may touch. */
  get judgesPaths(): boolean {
    return this.reads.size > 0 || this.edits.size > 0 || this.wholeRead !== undefined || this.wholeEdit !== undefined;
  }

  get folders(): string[] {
    return [this.reads, this.edits, ...this.#byTool.values()].flatMap((index) => index.anchors);
  }

  addBroken(rule: CompiledRule): void {
    this.broken.push(rule);
  }

  addTool(rule: CompiledRule): void {
    const { tool } = rule;
    if (tool.includes('*') && (this.#purpose === 'forbid' || !/^(?:\*|mcp__.*__\*)$/.test(tool))) {
      this.#toolPatterns.push({ rule, tokens: parseGlob(tool, { onlyStars: true }) });
    } else if (!this.#tools.has(tool)) this.#tools.set(tool, rule);
  }

  /** `Read` and `Edit` without brackets forbid more than the tools of these names. */
  addWhole(rule: CompiledRule): void {
    if (rule.tool === 'Read') this.wholeRead ??= rule;
    if (rule.tool === 'Edit') this.wholeEdit ??= rule;
  }

  addCommand(rule: CompiledRule, pattern: CommandPattern): void {
    if (pattern.kind === 'any') return this.addTool(rule);
    const first = pattern.words[0];
    if (first === undefined) this.#openCommands.push({ rule, pattern });
    else append(this.#commands, this.#purpose === 'forbid' ? basename(first) : first, { rule, pattern });
  }

  addPath(rule: CompiledRule, pattern: PathPattern): void {
    const { tool } = rule;
    const isOwn = (READ_TOOLS.has(tool) && tool !== 'Read') || (tool === 'NotebookEdit' && this.#purpose === 'allow');
    if (!isOwn) return (READ_TOOLS.has(tool) ? this.reads : this.edits).add(pattern, rule);
    const index = this.#byTool.get(tool) ?? new PathIndex<CompiledRule>();
    this.#byTool.set(tool, index);
    index.add(pattern, rule);
  }

  addHost(rule: CompiledRule, host: string): void {
    if (!this.#hosts.has(host)) this.#hosts.set(host, rule);
  }

  /** Agents are found whatever the case of their letters: what forbids one does not look at it either. */
  addName(rule: CompiledRule, pattern: string): void {
    append(this.#names, rule.tool, { rule, tokens: parseGlob(this.#fold(pattern), { onlyStars: true }) });
  }

  /** A rule about every call of the tool. */
  tool(name: string): CompiledRule | undefined {
    const exact = this.#tools.get(name) ?? (this.#purpose === 'allow' ? this.#tools.get('*') : undefined);
    if (exact !== undefined) return exact;
    if (name.startsWith('mcp__')) {
      const server = this.#server(name);
      if (server !== undefined) return server;
    }
    // Whose tool it is must be certain to allow it.
    if (this.#purpose === 'allow' && (name.split('__').length !== 3 || name.includes('___'))) return undefined;
    return this.#toolPatterns.find(({ tokens }) => matchesGlob(tokens, name))?.rule;
  }

  /** `mcp__server` and `mcp__server__*`. Where the server's name ends is not certain when there are more underscores. */
  #server(name: string): CompiledRule | undefined {
    const ends: number[] = [];
    for (let at = name.indexOf('__', 5); at !== -1; at = name.indexOf('__', at + 1)) ends.push(at);
    const considered = this.#purpose === 'allow' && ends.length !== 1 ? [] : ends;
    for (const end of considered) {
      const server = name.slice(0, end);
      const rule = this.#tools.get(server) ?? this.#tools.get(`${server}__*`);
      if (rule !== undefined) return rule;
    }
    return undefined;
  }

  /** A rule that forbids a command; one that certainly does comes first. */
  forbids(words: readonly ShellWord[]): CommandMatch | undefined {
    const candidates = this.#candidates(basename(words[0]?.value ?? ''));
    if (candidates.length === 0) return undefined;
    let texts: ReturnType<typeof textsOf> | undefined;
    let possible: CommandMatch | undefined;
    for (const { rule, pattern } of candidates) {
      // Only patterns with stars are held against texts.
      if (pattern.kind === 'glob') texts ??= textsOf(words);
      const match = forbidsWords(pattern, words, texts ?? NO_TEXTS);
      if (match === 'yes') return { rule, isCertain: true };
      if (match === 'maybe') possible ??= { rule, isCertain: false };
    }
    return possible;
  }

  grants(words: readonly ShellWord[]): CommandGrant[] {
    const grants: CommandGrant[] = [];
    const candidates = this.#candidates(words[0]?.value ?? '');
    if (candidates.length === 0) return grants;
    let text: string | undefined;
    for (const { rule, pattern } of candidates) {
      if (pattern.kind === 'glob') text ??= textOf(words);
      const named = allowsWords(pattern, words, text ?? '');
      if (named !== undefined) grants.push({ rule, pattern, named });
    }
    return grants;
  }

  /** The rule whose text is this very line. */
  exactLine(line: string): CompiledRule | undefined {
    const text = line.trim();
    const first = text.split(/\s+/, 1)[0] ?? '';
    const isThis = ({ pattern }: CommandEntry): boolean => pattern.kind === 'exact' && pattern.text === text;
    return (this.#commands.get(this.#purpose === 'forbid' ? basename(first) : first) ?? []).find(isThis)?.rule;
  }

  #candidates(name: string): readonly CommandEntry[] {
    const named = this.#commands.get(name) ?? [];
    return this.#openCommands.length === 0 ? named : [...named, ...this.#openCommands];
  }

  /** Rules that are about the paths of one tool alone. */
  ownPaths(tool: string): PathIndex<CompiledRule> | undefined {
    return this.#byTool.get(tool);
  }

  host(host: string): CompiledRule | undefined {
    const exact = this.#hosts.get(host) ?? this.#hosts.get('*');
    if (exact !== undefined) return exact;
    for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
      const rule = this.#hosts.get(`*${host.slice(dot)}`);
      if (rule !== undefined) return rule;
    }
    return undefined;
  }

  /** A rule about calls of the tool that name this: an agent, a skill. */
  name(tool: string, name: string): CompiledRule | undefined {
    const folded = this.#fold(name);
    return this.#names.get(tool)?.find(({ tokens }) => matchesGlob(tokens, folded))?.rule;
  }

  #fold(name: string): string {
    return this.#purpose === 'forbid' ? name.toLowerCase() : name;
  }
}

const NO_TEXTS: ReturnType<typeof textsOf> = [];

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
