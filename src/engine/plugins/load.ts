/** Plugins, from what someone named or enabled to what they bring. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DefinitionProblem } from '../definitions/definition.js';
import { createChoice, type PluginChoice } from './choice.js';
import { findEnabled } from './enabled.js';
import { describeUnreadable } from './inside.js';
import { MANIFEST_FILE } from './manifest.js';
import { isMarketplace, type Marketplace, readMarketplace } from './marketplace.js';
import { foldName } from './names.js';
import type { Plugin, PluginDir, PluginScope, PluginServer } from './plugin.js';
import { type PluginPlace, type PluginRead, type ReadPlugin, readPlugin } from './read-plugin.js';
import { findRoot, type FoundRoot, type RootOptions } from './roots.js';
import { preferOwn } from './prefer-own.js';
import type { PluginSettings } from './setting-place.js';

export interface LoadPluginsOptions extends RootOptions {
  /** What settings enable and forbid. Absent: nothing. */
  settings?: PluginSettings;
}

export interface LoadedPlugins {
  plugins: Plugin[];
  /** Those among the folders that were named. */
  marketplaces: Marketplace[];
  problems: DefinitionProblem[];
}

/**
 * What policy enables, then in the order in which they are named, then what other settings enable; of two with one name the
 * first counts. Never rejects for what is in a folder: that is a problem, and the rest loads. Trust is the caller's:
 * neither plugins nor settings of a project that nobody trusts are given to it.
 */
export async function loadPlugins(dirs: readonly PluginDir[], options: LoadPluginsOptions): Promise<LoadedPlugins> {
  const { settings, passedOver } = options.settings ? preferOwn(options.settings) : { passedOver: [] };
  const choice = createChoice(settings);
  const named = await Promise.all(dirs.map((dir) => openRoot(findRoot(dir, options), choice)));
  const marketplaces = named.flatMap(({ marketplace }) => marketplace ?? []);
  const enabled = settings
    ? await findEnabled(settings, { choice, cwd: options.cwd, named: marketplaces, passedOver })
    : { places: [], problems: [] };
  const problems = [...enabled.problems];
  const loaded: LoadedPlugins = { plugins: [], marketplaces: distinctBy(marketplaces, ({ file }) => file), problems };
  const steps = inOrder([...named.flatMap((each) => each.steps), ...enabled.places]);
  const servers = new Set<string>();
  for (const { plugin, problems: own } of await Promise.all(distinctSteps(steps).map(readStep))) {
    problems.push(...own);
    if (plugin === undefined) continue;
    const other = loaded.plugins.find(({ name }) => foldName(name) === foldName(plugin.name));
    if (other === undefined) {
      loaded.plugins.push(takeServers(plugin, { servers, problems }));
      continue;
    }
    const text = `there is a plugin "${other.name}" already, in ${other.root}; this one is not used`;
    problems.push({ severity: 'error', file: plugin.root, line: 0, text });
  }
  return { ...loaded, problems: distinctBy(problems, (problem) => JSON.stringify(problem)) };
}

/** `servers` are the names that are given away. */
function takeServers(
  { servers: own, ...plugin }: ReadPlugin,
  { servers, problems }: { servers: Set<string>; problems: DefinitionProblem[] },
): Plugin {
  const mcpServers: Record<string, PluginServer> = {};
  for (const { name, written, config, file, line } of own) {
    if (servers.has(name)) {
      const text = `"${written}": there is a server "${name}" already; this one is not used, give it another name`;
      problems.push({ severity: 'error', file, line, text });
    } else mcpServers[name] = config;
    servers.add(name);
  }
  return { ...plugin, mcpServers };
}

/** Something to read, or something to tell. */
type Step = PluginPlace | { source: PluginScope; problems: DefinitionProblem[] };

interface OpenedRoot {
  steps: Step[];
  marketplace?: Marketplace;
}

/** A folder may be a plugin, a marketplace, or both. */
async function openRoot(
  { path, root, scope: source, fault = '' }: FoundRoot,
  choice: PluginChoice,
): Promise<OpenedRoot> {
  if (root === undefined) {
    return { steps: [{ source, problems: [{ severity: 'error', file: path, line: 0, text: fault }] }] };
  }
  const itself: PluginPlace = { root, folderName: basename(path), source };
  const within = choice.refuseWithin(root);
  if (!isMarketplace(root)) {
    if (within === undefined) return { steps: [itself] };
    return { steps: [{ source, problems: [{ severity: 'warning', file: root, line: 0, text: within }] }] };
  }
  const { marketplace, problems } = await readMarketplace(root);
  const own = within === undefined && existsSync(join(root, MANIFEST_FILE)) ? [itself] : [];
  if (marketplace === undefined) {
    if (within !== undefined) problems.push({ severity: 'warning', file: root, line: 0, text: within });
    return { steps: [{ source, problems }, ...own] };
  }
  const refusal = choice.refuse(marketplace);
  if (refusal !== undefined) {
    problems.push({ severity: 'warning', file: marketplace.file, line: 0, text: refusal });
    return { steps: [{ source, problems }] };
  }
  const offered = marketplace.entries.flatMap((entry): PluginPlace[] => {
    const said = choice.decide(marketplace, entry);
    // Whoever names a marketplace has decided; only policy and the same call have more to say.
    if (said?.value !== false || (said.layer !== 'managed' && said.layer !== 'flag')) {
      const offer = { entry, marketplace: marketplace.name };
      return [{ root: entry.root, folderName: entry.name, source, offer }];
    }
    const text = `"${entry.name}" is switched off by "${said.key}" of ${said.layer} settings`;
    problems.push({ severity: 'warning', file: marketplace.file, line: entry.part.lineOf('.name'), text });
    return [];
  });
  const isOffered = marketplace.entries.some((entry) => entry.root === root);
  return { steps: [{ source, problems }, ...(isOffered ? [] : own), ...offered], marketplace };
}

async function readStep(step: Step): Promise<PluginRead> {
  if ('problems' in step) return step;
  try {
    return await readPlugin(step);
  } catch (thrown) {
    return { problems: [{ severity: 'error', file: step.root, line: 0, text: describeUnreadable(thrown) }] };
  }
}

/** Whose plugin counts, of two with one name. A project takes the place of none that the person has. */
const ORDER: readonly PluginScope[] = ['managed', 'flag', 'user', 'local', 'project'];

/** What someone names is part of the call. */
const inOrder = (steps: readonly Step[]): Step[] =>
  steps.toSorted((one, other) => ORDER.indexOf(one.source) - ORDER.indexOf(other.source));

/** A folder that is named twice says nothing new. Its entry in a marketplace says more than the folder alone. */
function distinctSteps(steps: readonly Step[]): Step[] {
  const kept: Step[] = [];
  for (const step of steps) {
    const twin = kept.findIndex((each) => isSamePlugin(each, step));
    if (twin < 0) kept.push(step);
    else if (isBare(kept[twin]) && !isBare(step) && kept[twin]?.source === step.source) kept[twin] = step;
  }
  return kept;
}

const isBare = (step: Step | undefined): boolean => step !== undefined && 'root' in step && step.offer === undefined;

function isSamePlugin(one: Step, other: Step): boolean {
  if (!('root' in one) || !('root' in other) || one.root !== other.root) return false;
  if (one.offer === undefined || other.offer === undefined) return true;
  return foldName(one.offer.entry.name) === foldName(other.offer.entry.name);
}

function distinctBy<T>(list: readonly T[], keyOf: (each: T) => string): T[] {
  const seen = new Set<string>();
  return list.filter((each) => seen.size < seen.add(keyOf(each)).size);
}
