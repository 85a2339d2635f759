import { basename, dirname, resolve } from 'node:path/posix';
import { HOLE, hasHole } from '../shell/hole.js';
import { type CommandReading, nameOf, type Segment } from '../shell/reading.js';

export interface Places {
  home: string;
  roots: readonly string[];
}

/** Why a line needs a person in every mode: it could destroy the machine, the home folder, or the project. */
export function findCatastrophe(reading: CommandReading, places: Places): string | undefined {
  for (const segment of reading.segments) {
    const reason = judge(segment, places);
    if (reason !== undefined) return reason;
  }
  const written = reading.redirections.flatMap(({ writes, target }) => (writes && target ? [target.value] : []));
  if (written.some((path) => DISK.test(path))) return 'It writes to a disk as a whole';
  if (written.some((path) => KERNEL.test(path))) return STOPS;
  return isForkBomb(reading.line) ? 'It starts itself without end' : undefined;
}

/** `f() { f | f & }`: looked for from the brackets on, because a name could begin anywhere. */
function isForkBomb(line: string): boolean {
  for (let at = line.indexOf('()'); at !== -1; at = line.indexOf('()', at + 2)) {
    const name = /[\w:.-]{1,100}(?=\s{0,9}$)/.exec(line.slice(Math.max(0, at - 110), at))?.[0];
    const end = line.indexOf('}', at);
    const body = line.slice(at + 2, end === -1 ? undefined : end);
    if (name !== undefined && /^\s*\{/.test(body) && /&/.test(body) && pipesInto(body, name)) return true;
  }
  return false;
}

const pipesInto = (body: string, name: string): boolean => {
  const parts = body.split('|');
  return parts.some((part, at) => at > 0 && part.trim().startsWith(name) && parts[at - 1]?.trim().endsWith(name));
};

const DISK = /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper\/|md|loop)/;
/** The kernel does at once what is written there. */
const KERNEL = /^\/proc\/sysrq-trigger$|^\/dev\/k?mem$/;
const STOPS = 'It stops the machine';
const ENDINGS = new Set(['shutdown', 'reboot', 'halt', 'poweroff']);
const FORMATS = /^(?:mkfs(?:\..*)?|mke2fs|mkswap|wipefs|blkdiscard|fdisk|sfdisk|cfdisk|gdisk|parted|sgdisk)$/;
/** Of programs that do other things as well. */
const FORMATTING: Readonly<Record<string, RegExp>> = {
  cryptsetup: /^(?:luksFormat|luksErase|erase|reencrypt)$/,
  zpool: /^(?:destroy|labelclear)$/,
  zfs: /^destroy$/,
  nvme: /^(?:format|sanitize)$/,
  mdadm: /^--(?:create|zero-superblock)$/,
  diskutil: /^(?:erase|zero|partition|secureErase)/,
  hdparm: /^--(?:security-erase|trim)/,
  badblocks: /^-[A-Za-z]*w/,
};
/** What they write to is their last operand, or any. */
const TO_LAST = /^(?:cp|mv|install)$/;
const TO_ANY = /^(?:tee|shred|truncate)$/;

/** `systemctl reboot`, `init 6`. */
const stopsMachine = (name: string, values: readonly string[]): boolean =>
  ENDINGS.has(name) ||
  (/^(?:systemctl|loginctl)$/.test(name) && values.some((value) => ENDINGS.has(value) || value === 'kexec')) ||
  (/^(?:tel)?init$/.test(name) && /^[06]$/.test(values[0] ?? ''));

function writesDisk(name: string, values: readonly string[]): boolean {
  if (values.some((value) => value.startsWith('of=') && DISK.test(value.slice(3)))) return true;
  return TO_ANY.test(name)
    ? values.some((value) => DISK.test(value))
    : TO_LAST.test(name) && DISK.test(values.at(-1) ?? '');
}

function judge(segment: Segment, places: Places): string | undefined {
  const name = basename(nameOf(segment));
  if (segment.role === 'remote' || segment.role === 'wrapper') return undefined;
  const values = segment.words.slice(1).map(({ value }) => value);
  if (stopsMachine(name, values)) return STOPS;
  const formatting = Object.hasOwn(FORMATTING, name) ? FORMATTING[name] : undefined;
  if (FORMATS.test(name) || values.some((value) => formatting?.test(value) === true))
    return 'It changes a disk as a whole';
  if (writesDisk(name, values)) return 'It writes to a disk as a whole';
  if (name === 'tee' && values.some((value) => KERNEL.test(value))) return STOPS;
  if (!isSweeping(name, values)) return undefined;
  const operands = values.filter((value) => !value.startsWith('-'));
  // The last one of mv is where things go.
  const sources = name === 'mv' ? operands.slice(0, -1) : operands;
  const isSwept = sources.some((value) => isVital(value, segment, places)) || OTHER_HOME.test(segment.source);
  return !isSwept ? undefined : 'It would change or remove a whole home, system or project folder';
}

/** `~root`, and all that is in it. */
const OTHER_HOME = /(?:^|\s)~[a-z_][\w-]*\/?\*?(?=\s|$)/;

/** It does something to all that lies below. */
function isSweeping(name: string, values: readonly string[]): boolean {
  const isRecursive = values.some((value) => /^-[A-Za-z]*[rR]|^--recursive$/.test(value));
  // It is run for all that was found.
  if (REMOVES.test(name) && values.some((value) => value.endsWith(HOLE.below))) return true;
  if (name === 'rm' || name === 'chmod' || name === 'chown' || name === 'chgrp' || name === 'shred') return isRecursive;
  if (name === 'mv' || name === 'rmdir') return true;
  return name === 'find' && values.includes('-delete');
}

/** `x/*`, `x/.*`, and whatever was found below `x`. */
const ALL_OF = /^((?:[^\uE000-\uE005]*\/)?)\.?\uE002$|^([^\uE000-\uE005]*)\uE005$/;

function isVital(value: string, segment: Segment, { home, roots }: Places): boolean {
  // `$X/*` is `/*` when X is empty.
  if (/^[\uE000\uE001]+\/(?:\uE002|$)/.test(value)) return true;
  const all = ALL_OF.exec(value);
  if (hasHole(value) && all === null) return false;
  const named = all === null ? value : (all[1] ?? all[2] ?? '') || '.';
  const written = named.replace(/^~(?=\/|$)/, home);
  // What is found is told apart by more than its name, and what is moved or changed is still there.
  const isSpared = all !== null && (all[2] !== undefined || !REMOVES.test(basename(nameOf(segment))));
  return (segment.folders ?? ['/nowhere/known']).some((folder) => {
    const path = resolve(folder, written);
    if (path === '/' || path === home || isAbove(path, home)) return true;
    if (dirname(path) === '/' && (all === null || SYSTEM.has(path))) return true;
    return !isSpared && roots.some((root) => path === root || isAbove(path, root));
  });
}

const REMOVES = /^(?:rm|shred|unlink)$/;

const SYSTEM = new Set([
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/home',
  '/lib',
  '/lib64',
  '/opt',
  '/proc',
  '/root',
  '/sbin',
  '/sys',
  '/usr',
  '/var',
  '/Users',
  '/System',
  '/Applications',
  '/Library',
]);

const isAbove = (folder: string, path: string): boolean => path.startsWith(folder === '/' ? '/' : `${folder}/`);
