/** Commands in a box of their own: what they may write, read and reach, enforced by the system. */
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeddleError } from '../../protocol/plain.js';
import type { Clock, Logger, ProcessSpec, SandboxSettings } from '../../protocol/index.js';
import { resolveReal } from '../workspace/files.js';
import { toBridgeArgv, withoutProxy, withProxy } from './bridge.js';
import {
  findProgram,
  isReachable,
  PROBE_ARGV,
  probe,
  toBubblewrapArgv,
  unavailable,
  unavailableHere,
} from './bubblewrap.js';
import { createDomains } from './domains.js';
import type { Place } from './excluded-git.js';
import { describeSandbox, type Failure, type SandboxFacts, toHint } from './hint.js';
import { type MountPlan, planMounts } from './mounts.js';
import { createPlaceFinder, type PlaceFinder, type Sight } from './places.js';
import { type Proxy, startProxy } from './proxy.js';
import { withoutSockets } from './sockets.js';
import { type HeldStubs, holdStubs } from './stubs.js';

export interface SandboxOptions {
  /** The working directories, links resolved, the one of the project first. */
  roots: readonly string[];
  home: string;
  configDir: string;
  /** Where bubblewrap and socat are found (PATH). */
  env: Readonly<Record<string, string>>;
  clock: Clock;
  logger?: Logger;
  /** Where the settings and plugins of the session come from: commands must not change them. */
  ownPlaces?: (roots: readonly string[]) => readonly string[];
  /** Whether the user has opened this host on a private network. */
  opensPrivate?: (host: string, port: number) => boolean;
  /** All addresses of a host. */
  lookup?: (host: string) => Promise<readonly string[]>;
}

export interface SandboxedSpec extends Pick<ProcessSpec, 'argv' | 'cwd' | 'env'> {
  /** The working directories of now, when they have changed. */
  roots?: readonly string[];
}

export interface SandboxFailure extends Omit<Failure, 'writable'> {
  /** The working directories of then, when they have changed. */
  roots?: readonly string[];
}

export interface Wrapped extends Pick<ProcessSpec, 'argv' | 'env'> {
  /** To be called when the process has ended. Never rejects. */
  release(): Promise<void>;
}

export interface Sandbox {
  /** Why commands run outside of it and what to do, where settings allow that (`failIfUnavailable: false`). */
  readonly unavailable?: string;
  /** Commands that no rule is about run unasked in it. */
  readonly autoAllows: boolean;
  /** A person may let a command out of it. */
  readonly mayLeave: boolean;
  /** The folder that is TMPDIR of commands, by the same name inside and outside. Gone after `close`. */
  readonly temporary?: string;
  /** The same process, in the sandbox. Throws `sandbox_unavailable` when something could not be kept from it. */
  wrap(spec: SandboxedSpec): Promise<Wrapped>;
  /** False for a command that runs outside: rules and people decide about it as if there were no sandbox. */
  covers(command: string, place: Omit<Place, 'allowed'>): boolean;
  /** Whether git would work there with no repository that commands may have made, with programs of its own to run. */
  isOwnPlace(place: Omit<Place, 'allowed'>): Promise<boolean>;
  /** What to tell the model about a command that ran in it and failed. */
  hintFor(failure: SandboxFailure): string | undefined;
  /** What commands may do, in a paragraph that stays the same. */
  describe(): string;
  /** Ends its connections and removes its folder. Processes in it should have ended. */
  close(): Promise<void>;
}

/**
 * For settings that enable it. Throws `sandbox_unavailable` when it does not work here, unless settings say that commands
 * may then run outside; throws `invalid_settings` for settings that do not say what they seem to.
 */
export async function createSandbox(settings: SandboxSettings, options: SandboxOptions): Promise<Sandbox> {
  try {
    return await startSandbox(settings, options);
  } catch (error) {
    const isMissing = error instanceof HeddleError && error.code === 'sandbox_unavailable' && error.data.here === true;
    if (!isMissing || settings.failIfUnavailable !== false) throw error;
    const reason = error.hint === undefined ? error.message : `${error.message} ${error.hint}`;
    options.logger?.('warn', `Commands run without a sandbox. ${reason}`);
    return createAbsent(reason, settings);
  }
}

const mayLeave = ({ allowUnsandboxedCommands }: SandboxSettings): boolean => allowUnsandboxedCommands !== false;

const createAbsent = (reason: string, settings: SandboxSettings): Sandbox => ({
  unavailable: reason,
  autoAllows: false,
  mayLeave: mayLeave(settings),
  wrap: ({ argv, env }) => Promise.resolve({ argv, env, release: () => Promise.resolve() }),
  covers: () => false,
  isOwnPlace: () => Promise.resolve(true),
  hintFor: () => undefined,
  describe: () => `There is no sandbox: ${reason} Commands run outside.`,
  close: () => Promise.resolve(),
});

async function startSandbox(settings: SandboxSettings, options: SandboxOptions): Promise<Sandbox> {
  const { roots, env, clock, logger } = options;
  const { network = {} } = settings;
  if (process.platform !== 'linux') throw unavailableHere('The sandbox works on Linux only.', 'Switch it off here.');
  const isExcluded = await openExclusion(settings, options);
  const domains = createDomains(network, { opensPrivate: options.opensPrivate });
  const relay = { http: network.httpProxyPort, socks: network.socksProxyPort };
  const hasNetwork = !domains.none || relay.http !== undefined || relay.socks !== undefined;
  const path = env.PATH ?? '';

  const folder = await realpath(await mkdtemp(join(tmpdir(), 'heddle-sandbox-')));
  const own = { temporary: join(folder, 'tmp'), sockets: join(folder, 'net'), empty: join(folder, 'empty') };
  let proxy: Proxy | undefined;
  try {
    for (const each of Object.values(own)) await mkdir(each);
    await chmod(own.temporary, 0o1777);
    // Git takes empty folders away with what is not tracked (`clean -d`, `stash -u`), and fails where it cannot.
    await writeFile(join(own.empty, '.gitignore'), '*\n');
    const socket = join(own.sockets, 'proxy');
    const finder = await createPlaceFinder({ ...options, settings, path, own });
    const search = { path, writable: [...roots, ...finder.allowed] };
    const program = await demandProgram('bwrap', 'bubblewrap', search);
    const socat = hasNetwork ? await demandProgram('socat', 'socat', search) : undefined;
    if (hasNetwork) proxy = await startProxy(socket, { domains, clock, logger, lookup: options.lookup, relay });
    const sandbox = toSandbox({
      settings,
      options,
      isExcluded,
      finder,
      folder,
      own,
      program,
      bridge: socat === undefined ? undefined : { socat, socket },
      closeProxy: () => proxy?.close(),
    });
    await tryOut(sandbox, options);
    return sandbox;
  } catch (error) {
    await proxy?.close();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The parser of shell lines is large, and needed only where something is excluded. */
async function openExclusion(
  { excludedCommands = [] }: SandboxSettings,
  { home }: SandboxOptions,
): Promise<(command: string, place: Place) => boolean> {
  if (excludedCommands.length === 0) return () => false;
  const { createExclusion } = await import('./excluded.js');
  return createExclusion(excludedCommands, { home });
}

async function demandProgram(
  name: string,
  packageName: string,
  search: { path: string; writable: readonly string[] },
): Promise<string> {
  const program = await findProgram(name, search);
  if (program !== undefined) return program;
  // Settings and folders bring this about, not the machine, so it is no reason to run outside.
  const reachable = await findProgram(name, { ...search, writable: [] });
  if (reachable !== undefined) checkProgram(reachable, search.writable);
  throw unavailableHere(
    `The sandbox needs ${name}, which was not found on PATH.`,
    `Install ${packageName} (the package is called so on Debian, Ubuntu, Fedora, Arch and Alpine), or switch the sandbox off.`,
  );
}

async function tryOut(sandbox: Sandbox, { roots, env }: SandboxOptions): Promise<void> {
  const cwd = roots[0] ?? '/';
  const wrapped = await sandbox.wrap({ argv: PROBE_ARGV, cwd, env });
  try {
    await probe(wrapped.argv, { cwd, env: wrapped.env });
  } finally {
    await wrapped.release();
  }
}

interface SandboxParts {
  settings: SandboxSettings;
  options: SandboxOptions;
  isExcluded(command: string, place: Place): boolean;
  finder: PlaceFinder;
  folder: string;
  own: { temporary: string; sockets: string; empty: string };
  program: string;
  bridge: { socat: string; socket: string } | undefined;
  closeProxy(): Promise<void> | undefined;
}

function toSandbox(parts: SandboxParts): Sandbox {
  const { settings, options, finder, folder, own, program, bridge } = parts;
  const isRoot = process.getuid?.() === 0;
  const allowed = [...finder.allowed, own.temporary];
  const held = new Set<HeldStubs>();
  let closed = false;
  const facts: SandboxFacts = {
    allowed: settings.filesystem?.allowWrite ?? [],
    hidden: settings.filesystem?.denyRead ?? [],
    ...(bridge !== undefined && { domains: describeDomains(settings) }),
    excluded: settings.excludedCommands ?? [],
    mayLeave: mayLeave(settings),
  };

  const toEnvironment = (env: Readonly<Record<string, string>>): Record<string, string> => {
    const bare = withoutProxy(withoutSockets(env, finder.isAllowedSocket));
    const connected = bridge === undefined ? bare : withProxy(bare, bridge.socat);
    return { ...connected, TMPDIR: own.temporary };
  };

  return {
    autoAllows: settings.autoAllowBashIfSandboxed === true,
    mayLeave: facts.mayLeave,
    temporary: own.temporary,
    async wrap({ argv, cwd, env, roots = options.roots }) {
      if (closed) throw unavailable('The sandbox is closed.', 'Start a new session.');
      for (const each of [program, bridge?.socat]) if (each !== undefined) checkProgram(each, roots);
      const place = resolveReal(cwd);
      const { sight, plan, stubs } = await settle(async () => {
        const seen = await finder.look(roots);
        const planned = planMounts(seen.places, seen.kindOf);
        checkPlan(planned, place);
        return { sight: seen, plan: planned, stubs: await holdStubs(listStubs(planned, seen), options.clock) };
      });
      held.add(stubs);
      const release = async (): Promise<void> => {
        held.delete(stubs);
        await stubs.release();
      };
      try {
        const files = [...stubs.paths].filter((path) => sight.guarded.get(path)?.stub !== undefined);
        const front = toBubblewrapArgv({
          program,
          plan: { ...plan, mounts: plan.mounts.filter(({ view, path }) => isThere(view, path, stubs)) },
          cwd: place,
          temporary: own.temporary,
          empty: own.empty,
          files: new Set(files),
          isRoot,
        });
        const way = bridge === undefined ? [] : toBridgeArgv(bridge.socat, bridge.socket);
        return { argv: [...front, ...way, ...argv], env: toEnvironment(env), release };
      } catch (error) {
        await release();
        throw error;
      }
    },
    covers: (command, { cwd, roots }) => !parts.isExcluded(command, { cwd, roots, allowed }),
    async isOwnPlace({ cwd, roots }) {
      const { isOwnPlace } = await import('./excluded-git.js');
      return isOwnPlace({ cwd, roots, allowed });
    },
    hintFor: ({ roots = options.roots, ...failure }) =>
      toHint(facts, { ...failure, writable: [...roots, ...finder.allowed] }),
    describe: () => describeSandbox(facts),
    async close() {
      closed = true;
      await parts.closeProxy();
      for (const stubs of held) await stubs.release();
      held.clear();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const MAX_LOOKS = 5;

/** Another sandbox in the same folder may take its stubs away while this one looks: what it saw then must be seen anew. */
async function settle<T extends { sight: Sight; plan: MountPlan; stubs: HeldStubs }>(
  look: () => Promise<T>,
): Promise<T> {
  for (let looks = 1; ; looks += 1) {
    const found = await look();
    const { sight, plan } = found;
    const suspects = plan.mounts.filter(({ view, path }) => view !== 'stub' && sight.guarded.has(path));
    const changes = await Promise.all(suspects.map(({ path }) => isLeaving(path)));
    if (looks === MAX_LOOKS || !changes.includes(true)) return found;
    await found.stubs.release();
  }
}

/** So often an empty folder is looked at before it is taken for somebody's own, and not for a stub that comes or goes. */
const MAX_GLANCES = 50;

async function isLeaving(path: string): Promise<boolean> {
  for (let glances = 0; glances < MAX_GLANCES; glances += 1) {
    const count = await readdir(path).then(
      ({ length }) => length,
      (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? -1 : Infinity),
    );
    if (count !== 0) return count < 0 || glances > 0;
  }
  return false;
}

const describeDomains = ({ network = {} }: SandboxSettings): string[] => [
  ...(network.allowedDomains ?? []),
  ...(network.deniedDomains ?? []).map((domain) => `not ${domain}`),
  ...(network.httpProxyPort === undefined ? [] : ['what your own proxy allows']),
];

function checkPlan({ replaceable, view }: MountPlan, cwd: string): void {
  const [link] = replaceable;
  if (link !== undefined) {
    throw unavailable(
      `${link} is a symbolic link in a folder that commands may write, so they could replace it.`,
      'Put the file or folder itself there, or switch the sandbox off.',
    );
  }
  const seen = view(cwd);
  if (seen !== 'hidden' && seen !== 'private') return;
  throw unavailable(
    `The working directory ${cwd} cannot be seen in the sandbox.`,
    'Add it to the working directories, or to sandbox.filesystem.allowRead.',
  );
}

/** A folder that was added later may hold the very program that makes the sandbox. */
function checkProgram(program: string, roots: readonly string[]): void {
  const root = roots.find((each) => isReachable(program, each));
  if (root === undefined) return;
  throw unavailable(
    `The sandbox needs ${program}, which commands could replace: they may write in ${root}.`,
    'Take that folder out of the working directories and sandbox.filesystem.allowWrite, or switch the sandbox off.',
  );
}

const listStubs = ({ mounts }: MountPlan, { guarded }: Sight) =>
  mounts.filter(({ view }) => view === 'stub').map(({ path }) => guarded.get(path) ?? { path });

/** Where no stub could be made nothing can be covered, and folders on the way to it need not be there either. */
const isThere = (view: string, path: string, stubs: HeldStubs): boolean =>
  view === 'stub' ? stubs.paths.has(path) : existsSync(path);
