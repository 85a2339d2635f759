/** What git prints, read. */
import { type Place, toPlace } from './walk.js';

/** A file as the index has it. */
export interface Tracked {
  oid: string;
  mode: string;
}

export function splitNames(list: Buffer): Buffer[] {
  const names: Buffer[] = [];
  for (let at = 0; at < list.length; ) {
    const end = list.indexOf(0, at);
    names.push(list.subarray(at, end));
    at = end + 1;
  }
  return names;
}

/** `:100644 100755 <oid> <oid> M`, then the name. */
export function readChanged(top: string, list: Buffer): { files: Map<string, Tracked>; places: Place[] } {
  const files = new Map<string, Tracked>();
  const places: Place[] = [];
  const parts = splitNames(list);
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [mode = '', , oid = ''] = (parts[at]?.toString().slice(1) ?? '').split(' ');
    const place = toPlace({ path: top }, parts[at + 1] ?? Buffer.alloc(0));
    if (files.has(place.path)) continue;
    files.set(place.path, { mode, oid });
    places.push(place);
  }
  return { files, places };
}

/** `name NUL`, then lines of which one has the size that the file had on the disk. */
export function readSizes(list: Buffer | undefined): Map<string, number> {
  const sizes = new Map<string, number>();
  let name: string | undefined;
  for (const part of list?.toString().split('\0') ?? []) {
    const told = /^ {2}ctime:[\s\S]*?\n {2}size: (\d+)\tflags: \w+\n/.exec(part);
    if (name !== undefined && told !== null) sizes.set(name, Number(told[1]));
    name = told === null ? part : part.slice(told[0].length);
  }
  return sizes;
}

/** Names that have one of the attributes, from triples of name, attribute and value. */
export function namesWithValue(list: Buffer): string[] {
  const parts = list.toString().split('\0');
  const names: string[] = [];
  for (let at = 0; at + 2 < parts.length; at += 3) {
    if (!['unspecified', 'unset'].includes(parts[at + 2] ?? '')) names.push(parts[at] ?? '');
  }
  return names;
}

/** `H name`: a small letter for what is assumed to be unchanged, an S for what is not to be looked at. */
export function readFlags(list: Buffer): { assumed: Buffer[]; skipped: Buffer[] } {
  const lines = splitNames(list);
  const pick = (pattern: RegExp): Buffer[] =>
    lines.filter((line) => pattern.test(line.toString('latin1', 0, 1))).map((line) => line.subarray(2));
  return { assumed: pick(/[a-z]/), skipped: pick(/s/i) };
}

/** `<oid> blob <size>`, the content, a newline; or `<oid> missing`. */
export function readBlobs(output: Buffer | undefined): Map<string, Uint8Array> {
  const blobs = new Map<string, Uint8Array>();
  for (let at = 0; output !== undefined && at < output.length; ) {
    const end = output.indexOf(0x0a, at);
    const [oid = '', kind, size] = output.toString('latin1', at, end).split(' ');
    at = end + 1;
    if (kind !== 'blob') continue;
    blobs.set(oid, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return blobs;
}
