/** Which places of the system a command sees, and how: pure. */

/** All paths are absolute with their links resolved. */
export interface Places {
  /** May be written: the working directories and what settings add. */
  writable: readonly string[];
  /** What stays writable although it lies in a protected folder. */
  openers: readonly string[];
  /** Never writable. */
  denied: readonly string[];
  /** Not writable, except for openers below. */
  protected: readonly string[];
  /** Cannot be read; the deeper of this and what is shown counts, and of equals this. */
  hidden: readonly string[];
  /** Folders of the system that are hidden unless something says otherwise: the deeper counts, and of equals the other. */
  veiled: readonly string[];
  /** Can be read although it lies in something hidden or veiled. */
  shown: readonly string[];
  /** The folder that every sandbox has its own of. */
  temporary: string;
  /** What stands for it, by its name outside; always writable, whatever settings say of the folders around. */
  scratch: string;
}

export type View = 'writable' | 'read-only' | 'hidden' | 'private';
export type Kind = 'folder' | 'file' | 'link' | 'absent';

export interface Mount {
  /** `stub`: a name that must not come to be; something has to be there so that it can be covered. */
  view: View | 'stub';
  path: string;
  kind: Kind;
}

export interface MountPlan {
  /** How `/` itself is seen. */
  base: View;
  /** In the order in which they are to be made. */
  mounts: Mount[];
  /** Links that a command could replace although what they name is protected. */
  replaceable: string[];
  view(path: string): View;
}

const depthOf = (path: string): number => (path === '/' ? 0 : path.split('/').length - 1);

const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0)) || '/';

/** How deep the deepest of the folders is that hold the path; -1 when none does. */
function depthAround(folders: ReadonlySet<string>, path: string): number {
  for (let at = path; ; at = parentOf(at)) {
    if (folders.has(at)) return depthOf(at);
    if (at === '/') return -1;
  }
}

/** Tells how a path is seen. */
export function createView(places: Places): (path: string) => View {
  const writable = new Set(places.writable);
  const shown = new Set([...places.writable, ...places.shown]);
  const hidden = new Set(places.hidden);
  const veiled = new Set(places.veiled);
  const own = new Set([places.temporary]);
  const denied = new Set(places.denied);
  const guarded = new Set(places.protected);
  const openers = new Set(places.openers);

  const isWritable = (path: string): boolean => {
    if (depthAround(writable, path) < 0 || depthAround(denied, path) >= 0) return false;
    const guard = depthAround(guarded, path);
    return guard < 0 || depthAround(openers, path) > guard;
  };
  return (path) => {
    if (path === places.scratch || path.startsWith(`${places.scratch}/`)) return 'writable';
    const depth = { shown: depthAround(shown, path), hidden: depthAround(hidden, path) };
    const veil = { system: depthAround(veiled, path), own: depthAround(own, path) };
    const deepest = Math.max(veil.system, veil.own);
    if (depth.hidden >= 0 && depth.hidden >= Math.max(depth.shown, deepest)) return 'hidden';
    if (deepest > depth.shown) return veil.system > veil.own ? 'hidden' : 'private';
    return isWritable(path) ? 'writable' : 'read-only';
  };
}

/** A mount wherever the view changes, and on every folder by whose renaming a mount could be slipped off its name. */
export function planMounts(places: Places, kindOf: (path: string) => Kind): MountPlan {
  const view = createView(places);
  const base = view('/');
  const made = new Map<string, Mount>();
  const replaceable: string[] = [];

  const above = (path: string): { path: string; view: View } => {
    for (let folder = parentOf(path); folder !== '/'; folder = parentOf(folder)) {
      const mount = made.get(folder);
      if (mount !== undefined) return { path: folder, view: mount.view === 'stub' ? 'read-only' : mount.view };
    }
    return { path: '/', view: base };
  };
  const pinFolders = (path: string): void => {
    const outer = above(path);
    if (outer.view !== 'writable') return;
    for (const folder of foldersBetween(outer.path, path)) {
      made.set(folder, { view: 'writable', path: folder, kind: 'folder' });
    }
  };

  for (const path of listPlaces(places)) {
    if (path === '/' || `${path}/`.startsWith('/proc/')) continue;
    const kind = kindOf(path);
    const outer = above(path).view;
    const wanted = view(path);
    if (kind === 'absent') {
      if (wanted !== 'read-only' || outer !== 'writable') continue;
      pinFolders(path);
      made.set(path, { view: 'stub', path, kind });
    } else if (kind === 'link') {
      if (wanted === 'read-only' && outer === 'writable') replaceable.push(path);
    } else if (wanted !== outer && !(wanted === 'hidden' && outer === 'private')) {
      pinFolders(path);
      made.set(path, { view: wanted, path, kind });
    }
  }
  const mounts = [...made.values()].toSorted((a, b) => depthOf(a.path) - depthOf(b.path));
  return { base, mounts, replaceable, view };
}

/** Outer places first. */
function listPlaces(places: Places): string[] {
  const { writable, openers, denied, hidden, veiled, shown, temporary, scratch } = places;
  const all = [writable, openers, denied, places.protected, hidden, veiled, shown, temporary, scratch].flat();
  return [...new Set(all)].toSorted((a, b) => depthOf(a) - depthOf(b));
}

function foldersBetween(outer: string, path: string): string[] {
  const folders: string[] = [];
  for (let folder = parentOf(path); folder !== outer && folder !== '/'; folder = parentOf(folder)) folders.push(folder);
  return folders;
}
