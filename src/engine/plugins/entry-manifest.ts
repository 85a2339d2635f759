/** The manifest of a plugin that a marketplace offers: its own, its entry there, or both. */
import { join } from 'node:path';
import type { DefinitionFolder, DefinitionProblem } from '../definitions/definition.js';
import { follow } from './inside.js';
import { problemAt } from './json-part.js';
import {
  MANIFEST_FILE,
  type Manifest,
  namesParts,
  parseManifest,
  type ReadManifest,
  readManifest,
} from './manifest.js';
import type { MarketplaceEntry } from './marketplace.js';

/** Paths in the entry are those of the plugin's folder. */
export async function readEntryManifest(entry: MarketplaceEntry): Promise<ReadManifest> {
  const { root, part, strict, name } = entry;
  const ofEntry = parseManifest(part, name);
  const file = join(root, MANIFEST_FILE);
  const hasFile = follow(root, file).kind !== 'missing';
  if (hasFile && strict !== false) return combine(entry, ofEntry);
  const { manifest, problems } = ofEntry;
  const more = hasFile ? await findUnused(entry, file) : findAbsent(entry);
  if (manifest === undefined) return { problems: [...problems, ...more] };
  const isWhole = entry.isShared && namesParts(manifest);
  return { manifest: { ...manifest, isWhole }, problems: [...problems, ...more] };
}

/** What the plugin says of itself counts; what the entry names comes to it. */
async function combine({ root, part, name }: MarketplaceEntry, ofEntry: ReadManifest): Promise<ReadManifest> {
  const own = await readManifest(root, name);
  const problems = [...ofEntry.problems, ...own.problems];
  const [manifest, more] = [own.manifest, ofEntry.manifest];
  if (manifest === undefined || more === undefined) return { ...(manifest && { manifest }), problems };
  if (manifest.name !== name) {
    const text = `the plugin calls itself "${manifest.name}", and is known by that name; write the same in both`;
    problems.push(problemAt(part, '.name', { severity: 'warning', text }));
  }
  return {
    manifest: {
      name: manifest.name,
      facts: { ...more.facts, ...manifest.facts },
      paths: joinPaths(manifest.paths, more.paths),
      hooks: [...manifest.hooks, ...more.hooks],
      mcpServers: [...manifest.mcpServers, ...more.mcpServers],
    },
    problems,
  };
}

const joinPaths = (one: Manifest['paths'], other: Manifest['paths']): Manifest['paths'] => {
  const both = (kind: DefinitionFolder['kind']) => [...one[kind], ...other[kind]];
  return {
    agents: both('agents'),
    commands: both('commands'),
    skills: both('skills'),
    'output-styles': both('output-styles'),
  };
};

function findAbsent({ root, part, strict }: MarketplaceEntry): DefinitionProblem[] {
  if (strict !== true) return [];
  const text = `there is no ${join(root, MANIFEST_FILE)}, so the entry stands for it; "strict": false says so`;
  return [problemAt(part, '.strict', { severity: 'warning', text })];
}

/** Two that name parts cannot both be right. */
async function findUnused({ root, part, name }: MarketplaceEntry, file: string): Promise<DefinitionProblem[]> {
  const { manifest } = await readManifest(root, name);
  if (manifest === undefined || !namesParts(manifest)) return [];
  const text = `what ${file} names is not used, because of "strict": false; name it here, or take that out`;
  return [problemAt(part, '.strict', { severity: 'warning', text })];
}
