import type { Sharp, SharpOptions } from 'sharp';
import type { ToolOutput } from '../../protocol/index.js';
import { UnshowableFile } from './file-kind.js';
import { showSize } from './ordinary-file.js';

/** Model APIs scale down what is larger, so sending more costs and gains nothing. */
const MAX_SIDE = 1568;
/** Model APIs take 5 MB, counted in base64. */
const MAX_IMAGE_BYTES = 3.75 * 1024 * 1024;
/** More than any camera gives; an image bomb gives more. */
const MAX_PIXELS = 120_000_000;
const MAX_SECONDS = 20;
/** In the whole process: an image of so many pixels takes half a gigabyte while it is decoded. */
const MAX_DECODED_AT_ONCE = 2;

type LoadSharp = () => Promise<((input: Uint8Array, options: SharpOptions) => Sharp) | undefined>;

/** An optional dependency: without it images are sent as they are. */
const loadSharp: LoadSharp = async () => (await import('sharp').catch(() => undefined))?.default;

export interface ImageOptions {
  signal: AbortSignal;
  loadSharp?: LoadSharp;
}

export interface ShownImage {
  base64: string;
  type: string;
  dimensions?: { originalWidth: number; originalHeight: number; displayWidth: number; displayHeight: number };
}

export async function readImage(
  image: { path: string; bytes: Uint8Array; type: string },
  options: ImageOptions,
): Promise<ToolOutput> {
  const { base64, type, dimensions } = await showImage({ ...image, name: image.path }, options);
  const scaled = dimensions !== undefined && dimensions.displayWidth !== dimensions.originalWidth;
  return {
    content: [
      { type: 'image', source: { type: 'base64', media_type: type, data: base64 } },
      ...(scaled ? [{ type: 'text' as const, text: noteScale(dimensions) }] : []),
    ],
    structured: {
      type: 'image',
      file: { base64, type, originalSize: image.bytes.length, ...(dimensions && { dimensions }) },
    },
  };
}

const noteScale = (size: NonNullable<ShownImage['dimensions']>): string =>
  `[Shown at ${size.displayWidth}x${size.displayHeight}; the original has ${size.originalWidth}x${size.originalHeight} pixels.]`;

/**
 * The image as model APIs take it, made smaller where it must be. Throws for a broken one: an API refuses it, and with
 * it every later request of the conversation.
 */
export async function showImage(
  image: { name: string; bytes: Uint8Array; type: string },
  options: ImageOptions,
): Promise<ShownImage> {
  const { name, bytes, type } = image;
  const sharp = await (options.loadSharp ?? loadSharp)();
  if (sharp === undefined) {
    if (bytes.length <= MAX_IMAGE_BYTES) return { base64: toBase64(bytes), type };
    throw new UnshowableFile(
      `The image ${name} (${showSize(bytes.length)}) is too large to be shown as it is. With the package sharp ` +
        'installed it would be made smaller; or make a smaller copy and read that.',
    );
  }
  const open = () =>
    sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'error', autoOrient: true }).timeout({ seconds: MAX_SECONDS });
  try {
    return await decodeInTurn(() => shrink({ open, bytes, type }), options.signal);
  } catch (error) {
    if (options.signal.aborted) throw error;
    const reason = /^(.*?):?\s*$/m.exec(error instanceof Error ? error.message : String(error))?.[1];
    throw new UnshowableFile(`The image ${name} cannot be shown: ${reason}. The file may be damaged.`, {
      cause: error,
    });
  }
}

const toBase64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

interface Opened {
  open(): Sharp;
  bytes: Uint8Array;
  type: string;
}

async function shrink({ open, bytes, type }: Opened): Promise<ShownImage> {
  const original = (await open().metadata()).autoOrient;
  if (Math.max(original.width, original.height) <= MAX_SIDE && bytes.length <= MAX_IMAGE_BYTES) {
    // Decodes every row, as an API will. A size of its own would let rows be skipped.
    await open().raw().toBuffer();
    return { base64: toBase64(bytes), type, dimensions: toDimensions(original, original) };
  }
  const small = () => open().resize(MAX_SIDE, MAX_SIDE, { fit: 'inside', withoutEnlargement: true });
  const attempts: [string, () => Sharp][] = [
    ['image/jpeg', () => small().flatten({ background: 'white' }).jpeg({ quality: 85 })],
    ['image/jpeg', () => small().flatten({ background: 'white' }).jpeg({ quality: 50 })],
  ];
  if (type !== 'image/jpeg') attempts.unshift(['image/png', () => small().png()]);
  for (const [newType, encode] of attempts) {
    const { data, info } = await encode().toBuffer({ resolveWithObject: true });
    if (data.length <= MAX_IMAGE_BYTES) {
      return { base64: data.toString('base64'), type: newType, dimensions: toDimensions(original, info) };
    }
  }
  throw new Error('it stays too large when it is made smaller');
}

interface Size {
  width: number;
  height: number;
}

const toDimensions = (original: Size, display: Size): NonNullable<ShownImage['dimensions']> => ({
  originalWidth: original.width,
  originalHeight: original.height,
  displayWidth: display.width,
  displayHeight: display.height,
});

let decoding = 0;
/** Each is called with a turn to use, in the order in which they came. */
const waiting = new Set<() => void>();

async function decodeInTurn<T>(decode: () => Promise<T>, signal: AbortSignal): Promise<T> {
  await takeTurn(signal);
  return unlessAborted(decode().finally(endTurn), signal);
}

function takeTurn(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(interrupted());
    if (decoding < MAX_DECODED_AT_ONCE) {
      decoding += 1;
      return resolve();
    }
    const start = () => {
      signal.removeEventListener('abort', abort);
      resolve();
    };
    const abort = () => {
      waiting.delete(start);
      reject(interrupted());
    };
    signal.addEventListener('abort', abort, { once: true });
    waiting.add(start);
  });
}

function endTurn(): void {
  const [next] = waiting;
  if (next === undefined) {
    decoding -= 1;
    return;
  }
  waiting.delete(next);
  next();
}

const interrupted = (): Error => new Error('Reading the image was interrupted.');

/** Decoding cannot be stopped; it is left to end by itself, which `MAX_SECONDS` sees to. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(interrupted());
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
