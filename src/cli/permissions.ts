/** `heddle permissions list|add|remove`: the rules of every settings file, and changes to those that are a person's own. */
import { homedir } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import type { EditOutcome, LoadedSettings, SettingsFiles } from '../engine/index.js';
import type { PermissionBehavior } from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';
import { describeFailure } from './failure.js';
import type { TrustParts } from './trust.js';
import { toVisible, toVisibleJson, toVisibleLine } from './visible.js';

export type PermissionsParts = TrustParts;

const HELP = `Usage: heddle permissions list [--json]
       heddle permissions add    [--local|--project|--user] [allow|ask|deny] "Rule"
       heddle permissions remove [--local|--project|--user] [allow|ask|deny] "Rule"

list     every rule by layer, with file and line, and whether it counts
add      writes a rule and shows the change (default: allow, in .claude/settings.local.json of this project)
remove   takes a rule out of the file that has it; an object by its JSON, as list shows it

Rules: "Bash(npm test)", "Bash(git log:*)", "Edit(./src/**)", "Read(//etc/**)", "WebFetch(domain:example.com)",
"mcp__server__tool", "Agent(type)". A deny of any layer wins over ask, ask over allow.
`;

const LAYERS = ['local', 'project', 'user'] as const;
type Layer = (typeof LAYERS)[number];
const BEHAVIORS: readonly string[] = ['allow', 'ask', 'deny'];

/** The exit code: 1 when it could not be done, or a settings file is broken. */
export async function runPermissions(argv: readonly string[], parts: PermissionsParts): Promise<number> {
  try {
    const [command, ...words] = argv;
    if (command === undefined || ['--help', '-h', 'help'].includes(command) || words.includes('--help')) {
      parts.stdout.write(HELP);
      return command === undefined ? 1 : 0;
    }
    if (command === 'list') return await list(words, parts);
    if (command === 'add') return await add(words, parts);
    if (command === 'remove') return await remove(words, parts);
    throw usage(`error: there is no "permissions ${toVisibleLine(command)}"`);
  } catch (thrown) {
    parts.stderr.write(`${describeFailure(thrown)}\n`);
    return 1;
  }
}

const usage = (text: string): HeddleError =>
  new HeddleError('invalid_config', `${text}\nSee heddle permissions --help.`);

// ---- list ----------------------------------------------------------------------------------------------------------

interface ListedRule {
  layer: string;
  behavior: PermissionBehavior;
  rule: unknown;
  file: string;
  line: number;
  counts: boolean;
}

async function list(words: readonly string[], parts: PermissionsParts): Promise<number> {
  const unknown = words.find((word) => word !== '--json');
  if (unknown !== undefined) throw usage(`error: unknown option '${toVisibleLine(unknown)}'`);
  const { stdout, stderr } = parts;
  const loaded = await load(parts);
  const { describeInert, describeProblem, listRules } = await import('../engine/index.js');
  const rules = listRules(loaded).map(({ layer, behavior, rule, file, line }): ListedRule => {
    const own = loaded.ruleLayers.find(({ name }) => name === layer)?.[behavior] ?? [];
    const counts = own.some((each) => JSON.stringify(each) === JSON.stringify(rule));
    return { layer, behavior, rule, file, line, counts };
  });
  const { problems, trusted, inert, files } = loaded;
  if (words.includes('--json')) {
    stdout.write(`${toVisibleJson({ projectRoot: files.projectRoot, trusted, rules, problems })}\n`);
  } else {
    const isBroken = problems.some(({ severity }) => severity === 'error');
    const none = isBroken ? 'No rule could be read; see the errors.\n' : 'No settings file has a rule.\n';
    stdout.write(rules.length === 0 ? none : describeRules(rules));
    const notice = describeInert(inert, files.projectRoot);
    if (notice !== undefined) stdout.write(`\n${toVisibleLine(notice)}\n`);
  }
  for (const problem of problems) stderr.write(`${problem.severity}: ${toVisible(describeProblem(problem))}\n`);
  return problems.some(({ fatal }) => fatal) ? 1 : 0;
}

function describeRules(rules: readonly ListedRule[]): string {
  const rows = rules.map(({ layer, behavior, rule, file, line, counts }) => [
    layer,
    behavior,
    toVisibleLine(typeof rule === 'string' ? rule : JSON.stringify(rule)),
    `${toVisibleLine(file)}:${line}${counts ? '' : '  (does not count)'}`,
  ]);
  const widths = [0, 1, 2].map((at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) => `${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}\n`).join('');
}

async function load({ cwd, configDir, home = homedir(), managedDir }: PermissionsParts): Promise<LoadedSettings> {
  const { createTrust, findProjectRoot, loadSettings, settingsFiles } = await import('../engine/index.js');
  const projectRoot = findProjectRoot({ cwd, home });
  const files = settingsFiles({ configDir, projectRoot, home, ...(managedDir && { managedDir }) });
  const trusted = await createTrust({ configDir, home }).isTrusted(projectRoot);
  return loadSettings({ files, sources: ['user', 'project', 'local'], trusted });
}

// ---- add and remove ------------------------------------------------------------------------------------------------

interface Asked {
  layer: Layer | undefined;
  behavior: PermissionBehavior | undefined;
  /** As it was given. */
  rule: string;
}

function readAsked(command: string, words: readonly string[]): Asked {
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const options = words.slice(0, end).filter((word) => word.startsWith('-'));
  const layers = options.map((option) => LAYERS.find((layer) => option === `--${layer}`));
  const unknown = options.find((_, at) => layers[at] === undefined);
  if (unknown !== undefined) throw usage(`error: unknown option '${toVisibleLine(unknown)}'`);
  if (layers.length > 1) throw usage('error: name one of --local, --project, --user');
  const plain = [...words.slice(0, end).filter((word) => !word.startsWith('-')), ...words.slice(end + 1)];
  const [first = ''] = plain;
  const behavior = BEHAVIORS.includes(first) ? (first as PermissionBehavior) : undefined;
  const rules = behavior === undefined ? plain : plain.slice(1);
  const [rule] = rules;
  if (rule === undefined) throw usage(`error: permissions ${command} needs a rule`);
  if (rules.length > 1) throw usage(`error: permissions ${command} takes one rule; quote it: "Bash(npm test)"`);
  return { layer: layers[0], behavior, rule };
}

async function add(words: readonly string[], parts: PermissionsParts): Promise<number> {
  const { layer = 'local', behavior = 'allow', rule } = readAsked('add', words);
  const { findRuleFault } = await import('../engine/index.js');
  const fault = findRuleFault(rule, behavior);
  if (fault?.severity === 'error' || fault?.isIdle) throw usage(`error: ${toVisible(fault.text)}`);
  const loaded = await load(parts);
  const outcome = await append(loaded.files, { layer, behavior, rule });
  const { stdout, stderr } = parts;
  stdout.write(
    outcome.changed
      ? describeChange(outcome)
      : `${toVisibleLine(outcome.file)} has this rule already; nothing changed.\n`,
  );
  if (fault !== undefined) stderr.write(`warning: ${toVisible(fault.text)}\n`);
  if (behavior === 'allow') tellWhyNot(loaded, layer, parts);
  return 0;
}

/** A rule that is written and does not count must not look as if it did. */
function tellWhyNot({ trusted, managedOnly }: LoadedSettings, layer: Layer, { stderr }: PermissionsParts): void {
  if (managedOnly.rules) stderr.write('warning: it does not count: policy allows only its own rules.\n');
  else if (layer !== 'user' && !trusted) {
    stderr.write('warning: it does not count yet: this folder is not trusted. To trust it: heddle trust\n');
  }
}

async function remove(words: readonly string[], parts: PermissionsParts): Promise<number> {
  const { layer, behavior, rule } = readAsked('remove', words);
  const loaded = await load(parts);
  const { editOptionsFor, listRules, removeRule } = await import('../engine/index.js');
  const wanted = toWritten(rule);
  const found = listRules(loaded).filter(
    (each) =>
      isDeepStrictEqual(each.rule, wanted) &&
      (layer === undefined || each.layer === layer) &&
      (behavior === undefined || each.behavior === behavior),
  );
  const [first] = found;
  if (first === undefined) return refuseMissing(loaded, rule, parts);
  const isOne = found.every((each) => each.file === first.file && each.behavior === first.behavior);
  if (!isOne) {
    const places = found.map((each) => `  --${each.layer} ${each.behavior}   ${each.file}:${each.line}`).join('\n');
    throw usage(`error: the rule stands in several places; name one of them:\n${toVisible(places)}`);
  }
  if (first.layer === 'managed' || first.layer === 'flag') {
    throw usage(`error: ${toVisibleLine(first.file)} is policy and is not changed from here`);
  }
  const outcome = await removeRule(first.file, first, editOptionsFor(loaded.files, first.file));
  parts.stdout.write(describeChange(outcome));
  return 0;
}

/** A rule that is an object is named by its JSON, as `list` shows it. */
function toWritten(rule: string): unknown {
  if (!rule.trimStart().startsWith('{')) return rule;
  try {
    return JSON.parse(rule);
  } catch (cause) {
    throw usage(`error: ${toVisibleLine(rule)} is no JSON: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

function refuseMissing({ problems }: LoadedSettings, rule: string, { stderr }: PermissionsParts): number {
  const broken = problems.find(({ fatal }) => fatal);
  const hint =
    broken === undefined ? 'heddle permissions list shows all.' : `${broken.file} is broken and was not read.`;
  stderr.write(`error: no file has the rule "${toVisibleLine(rule)}". ${toVisibleLine(hint)}\n`);
  return 1;
}

interface NewRule {
  layer: Layer;
  behavior: PermissionBehavior;
  rule: string;
}

async function append(files: SettingsFiles, { layer, behavior, rule }: NewRule): Promise<EditOutcome> {
  const { applyRuleUpdates, editOptionsFor } = await import('../engine/index.js');
  const file = files[layer];
  if (file === undefined) throw usage('error: this folder has no project settings of its own; use --user');
  const destination = `${layer}Settings` as const;
  const update = { type: 'addRules' as const, behavior, destination, rules: [{ toolName: rule }] };
  return applyRuleUpdates(file, [update], editOptionsFor(files, file));
}

/** The lines that differ, as they were and as they are. */
export function describeChange({ file, before, after }: Pick<EditOutcome, 'file' | 'before' | 'after'>): string {
  const old = before === '' ? [] : before.trimEnd().split(/\r?\n/);
  const now = after.trimEnd().split(/\r?\n/);
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - start && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  const lines = [
    ...old.slice(start, old.length - tail).map((line) => `- ${line}`),
    ...now.slice(start, now.length - tail).map((line) => `+ ${line}`),
  ];
  return `${toVisibleLine(file)}:${start + 1}\n${lines.map((line) => `${toVisible(line)}\n`).join('')}`;
}
