import { basename, dirname, resolve } from 'node:path/posix';
import { HOLE, hasHole, literalStart } from '../shell/hole.js';
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
  if (reading.redirections.some(({ writes, target }) => writes && target !== undefined && DISK.test(target.value))) {
    return 'It writes to a disk as a whole';
  }
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
const ENDINGS = new Set(['shutdown', 'reboot', 'halt', 'poweroff']);
const FORMATS = /^(?:mkfs(?:\..*)?|mke2fs|mkswap|wipefs|blkdiscard|fdisk|sfdisk|cfdisk|gdisk|parted|sgdisk)$/;
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
  if (stopsMachine(name, values)) return 'It stops the machine';
  if (FORMATS.test(name)) return 'It changes a disk as a whole';
  if (writesDisk(name, values)) return 'It writes to a disk as a whole';
  if (!isSweeping(name, values)) return undefined;
  const operands = values.filter((value) => !value.startsWith('-'));
  // The last one of mv is where things go.
  const sources = name === 'mv' ? operands.slice(0, -1) : operands;
  const swept = sources.find((value) => isVital(value, segment, places));
  return swept === undefined ? undefined : 'It would change or remove a whole home, system or project folder';
}

/** It does something to all that lies below. */
function isSweeping(name: string, values: readonly string[]): boolean {
  const isRecursive = values.some((value) => /^-[A-Za-z]*[rR]|^--recursive$/.test(value));
  if (name === 'rm' || name === 'chmod' || name === 'chown' || name === 'chgrp' || name === 'shred') return isRecursive;
  if (name === 'mv' || name === 'rmdir') return true;
  return name === 'find' && values.includes('-delete');
}

function isVital(value: string, segment: Segment, { home, roots }: Places): boolean {
  // `$X/*` is `/*` when X is empty.
  if (/^[\uE000\uE001]+\/(?:\uE002|$)/.test(value)) return true;
  const hole = value.search(/[\uE000-\uE005]/);
  const isAllOf =
    hole !== -1 && value[hole] === HOLE.star && /\/$|^$/.test(value.slice(0, hole)) && hole === value.length - 1;
  if (hasHole(value) && !isAllOf) return false;
  const written = isAllOf ? literalStart(value) || '.' : value;
  return (segment.folders ?? ['/nowhere/known']).some((folder) => {
    const path = resolve(folder, written);
    if (path === '/' || dirname(path) === '/') return !isAllOf || path === '/' || SYSTEM.has(path);
    if (path === home || isAbove(path, home)) return true;
    return !isAllOf && roots.some((root) => path === root || isAbove(path, root));
  });
}

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
