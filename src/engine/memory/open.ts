/** The instructions of a session, with what they need of it. */
import type { DefinitionProblem } from '../definitions/definition.js';
import { judgeRead } from '../permissions/may-read.js';
import type { SessionScope } from '../scope.js';
import { type Entry, isBoundary, isLifeEntry } from '../sessions/entry.js';
import { findMainTree } from '../settings/files.js';
import { findMemory, type MemoryPlace } from './find.js';
import type { LoadedMemory } from './load.js';
import type { NestedMemory } from './nested.js';
import type { MemoryFile, MemoryReaderOptions } from './reader.js';
import type { SessionMemory } from './session-memory.js';

const NOTHING: SessionMemory = {
  files: [],
  look: () => Promise.resolve([]),
  nested: [],
  forget: () => {},
  tellAll: () => Promise.resolve(undefined),
  tellNested: () => Promise.resolve([]),
};

/** `scope` is asked for when something is to be told. Nothing is looked for where no source of settings counts. */
export function openMemory(sources: readonly string[], scope: () => SessionScope): SessionMemory {
  if (sources.length === 0) return NOTHING;
  let files: MemoryFile[] = [];
  let nested: Promise<NestedMemory> | undefined;
  let told: readonly MemoryFile[] = [];

  /** What was told of folders is gone with the conversation that it stood in: the log says what is left. */
  const forget = (): void => {
    nested = undefined;
    told = [];
  };

  const tellAll: SessionMemory['tellAll'] = async (reason, signal) => {
    const session = scope();
    const found = await findMemory(placesOf(session));
    files = found.length === 0 ? [] : await tellLoaded(session, found);
    forget();
    if (files.length === 0) return undefined;
    note(session, files);
    const { describeMemory, toInstructionsLoaded } = await import('./describe.js');
    for (const file of files) {
      await session.hooks.fire('InstructionsLoaded', toInstructionsLoaded(file, { reason }), { signal });
    }
    return describeMemory(files);
  };

  const look = async (): Promise<MemoryFile[]> => {
    const session = scope();
    const found = await findMemory(placesOf(session));
    return found.length === 0 ? [] : (await loadAll(session, found)).files;
  };

  const tellNested: SessionMemory['tellNested'] = async (paths, signal) => {
    const session = scope();
    nested ??= openNested(session);
    const known = await nested;
    told = known.told;
    const { describeNested, toInstructionsLoaded } = await import('./describe.js');
    const texts: string[] = [];
    for (const trigger of paths) {
      const fresh = await known.notice(trigger);
      tell(session, known.takeProblems());
      if (fresh.length === 0) continue;
      note(session, fresh);
      texts.push(describeNested(fresh) ?? '');
      for (const file of fresh) {
        const fields = toInstructionsLoaded(file, { reason: 'nested_traversal', trigger });
        await session.hooks.fire('InstructionsLoaded', fields, { signal });
      }
    }
    return texts;
  };

  const openNested = async (session: SessionScope): Promise<NestedMemory> => {
    const { createNestedMemory } = await import('./nested.js');
    const before = toldPaths(session.recorder.log.entries);
    const { guard, config } = session;
    const { roots, ...reading } = readingOf(session);
    const open = createNestedMemory({
      ...reading,
      roots: guard.trusted ? roots : [],
      sources: config.settingSources ?? [],
      known: [...before, ...files.map(({ real }) => real)],
    });
    return open;
  };

  return {
    get files() {
      return files;
    },
    look: () => look().catch((thrown: unknown) => fail(scope(), thrown, [])),
    get nested() {
      return told;
    },
    forget,
    tellAll: (reason, signal) => tellAll(reason, signal).catch((thrown: unknown) => fail(scope(), thrown, undefined)),
    tellNested: (paths, signal) => tellNested(paths, signal).catch((thrown: unknown) => fail(scope(), thrown, [])),
  };
}

/** The files that the model was told of in the conversation as it is, links resolved. */
export function toldPaths(entries: readonly Entry[]): string[] {
  const since = entries.slice(entries.findLastIndex(isBoundary) + 1);
  return since.flatMap((entry) => (isLifeEntry(entry) && entry.kind === 'memory' ? entry.paths : []));
}

function fail<T>({ logger }: SessionScope, thrown: unknown, instead: T): T {
  logger('error', 'instructions could not be read', {
    error: thrown instanceof Error ? thrown.message : String(thrown),
  });
  return instead;
}

function placesOf({ workspace, state, guard, config }: SessionScope) {
  const { projectRoot, managed } = guard.settings.files;
  return {
    workspace,
    cwd: state.cwd,
    projectRoot,
    mainTree: findMainTree(projectRoot),
    configDir: config.configDir,
    managed,
    sources: config.settingSources ?? [],
  };
}

function readingOf(session: SessionScope): MemoryReaderOptions {
  const { workspace, guard } = session;
  const { files, value } = guard.settings;
  const mainTree = findMainTree(files.projectRoot);
  return {
    workspace,
    roots: [files.projectRoot, ...(mainTree === undefined ? [] : [mainTree])],
    home: guard.home,
    ...(value.claudeMdExcludes && { excludes: value.claudeMdExcludes }),
    mayRead: async (path) => (await judgeRead(session, path)).verdict !== 'deny',
    // Rules and folders decide: a mode is about what the model does, and here nothing has been said yet.
    mayImport: async (path) => (await judgeRead(session, path, { mode: 'default' })).verdict === 'allow',
  };
}

async function loadAll(session: SessionScope, found: readonly MemoryPlace[]): Promise<LoadedMemory> {
  const { loadMemory } = await import('./load.js');
  return loadMemory(found, { ...readingOf(session), trusted: session.guard.trusted });
}

/** What is wrong, or waits for trust, is told. */
async function tellLoaded(session: SessionScope, found: readonly MemoryPlace[]): Promise<MemoryFile[]> {
  const { files, problems, waiting } = await loadAll(session, found);
  tell(session, problems);
  if (waiting.length > 0) {
    const list = waiting.join(', ');
    say(session, 'notice', `These instructions are not read before the folder is trusted: ${list}. See heddle trust.`);
  }
  return files;
}

/** What the model was told is not told again after a resume. */
function note({ recorder }: SessionScope, files: readonly MemoryFile[]): void {
  void recorder.life({ kind: 'memory', paths: files.map(({ real }) => real) });
}

function tell(session: SessionScope, problems: readonly DefinitionProblem[]): void {
  for (const { severity, file, line, text } of problems) {
    say(session, severity, `${file}${line > 0 ? `:${line}` : ''}: ${text}`);
  }
}

function say({ recorder, clock, id }: SessionScope, level: 'notice' | 'warning' | 'error', content: string): void {
  const uuid = clock.uuid();
  recorder.emit({ type: 'system', subtype: 'informational', level, content, tag: 'memory', uuid, session_id: id });
}
