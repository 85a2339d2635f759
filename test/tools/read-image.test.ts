import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTool } from '../../src/engine/tools/read.js';
import { imageTypeOf } from '../../src/engine/tools/file-kind.js';
import { readImage } from '../../src/engine/tools/read-image.js';
import { type Bench, createBench } from './bench.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.close());

const read = (input: object) => bench.call(readTool, input);

const refusal = async (path: string): Promise<string> => {
  const { text, isError } = await read({ file_path: path });
  expect(isError).toBe(true);
  return text;
};

const draw = (width: number, height: number) => sharp({ create: { width, height, channels: 4, background: '#f608' } });

/** Pixels that no format can make smaller. */
const drawNoise = (width: number, height: number) =>
  sharp(randomBytes(width * height * 3), { raw: { width, height, channels: 3 } });

interface ShownFile {
  base64: string;
  type: string;
  originalSize: number;
  dimensions: object;
}

/** The image as the consumer got it, which must be the one that the model got. */
async function shownBy(path: string): Promise<{ file: ShownFile; rest: unknown[]; size: [number, number] }> {
  const { content, structured } = await read({ file_path: path });
  const { file } = structured as { file: ShownFile };
  const [image, ...rest] = content as unknown[];
  expect(image).toEqual({ type: 'image', source: { type: 'base64', media_type: file.type, data: file.base64 } });
  const bytes = Buffer.from(file.base64, 'base64');
  expect(imageTypeOf(bytes)).toBe(file.type);
  const { width, height } = await sharp(bytes).metadata();
  return { file, rest, size: [width, height] };
}

describe('Read of images', () => {
  it.each(['png', 'jpeg', 'gif', 'webp'] as const)('a small %s is sent as it is, whatever its name', async (format) => {
    const bytes = await draw(30, 20).toFormat(format).toBuffer();
    const path = bench.write('picture', bytes);
    const { file, rest } = await shownBy(path);
    expect(file).toEqual({
      base64: bytes.toString('base64'),
      type: `image/${format}`,
      originalSize: bytes.length,
      dimensions: { originalWidth: 30, originalHeight: 20, displayWidth: 30, displayHeight: 20 },
    });
    expect(rest).toEqual([]);
    expect(bench.ledger.compare(path, bytes)).toBe('current');
  });

  it.each([
    ['png', 'image/png'],
    ['jpeg', 'image/jpeg'],
    ['gif', 'image/png'],
    ['webp', 'image/png'],
  ] as const)('a large %s is made smaller, and the model is told', async (format, type) => {
    const path = bench.write('picture', await draw(3_136, 1_000).toFormat(format).toBuffer());
    const { file, rest, size } = await shownBy(path);
    expect(file.type).toBe(type);
    expect(file.dimensions).toEqual({
      originalWidth: 3_136,
      originalHeight: 1_000,
      displayWidth: 1_568,
      displayHeight: 500,
    });
    expect(size).toEqual([1_568, 500]);
    expect(rest).toEqual([{ type: 'text', text: '[Shown at 1568x500; the original has 3136x1000 pixels.]' }]);
  });

  it('one turned by its camera is shown upright', async () => {
    const path = bench.write('photo.jpg', await draw(3_136, 1_000).jpeg().withMetadata({ orientation: 6 }).toBuffer());
    expect((await shownBy(path)).size).toEqual([500, 1_568]);
  });

  it('one with few pixels and many bytes is encoded anew', async () => {
    const bytes = await drawNoise(1_500, 1_000).png().toBuffer();
    expect(bytes.length).toBeGreaterThan(4_000_000);
    const { file, rest, size } = await shownBy(bench.write('noise.png', bytes));
    expect(file.base64.length).toBeLessThan(5 * 1024 * 1024);
    expect(file).toMatchObject({ type: 'image/jpeg', originalSize: bytes.length });
    expect(size).toEqual([1_500, 1_000]);
    expect(rest).toEqual([]);
  });

  it.each(['png', 'jpeg', 'gif', 'webp'] as const)('a %s that is cut off is refused', async (format) => {
    const bytes = await drawNoise(100, 100).toFormat(format).toBuffer();
    for (const part of [12, bytes.length * 0.5, bytes.length * 0.6, bytes.length * 0.95].map((end) =>
      bytes.subarray(0, end),
    )) {
      const path = bench.write(`cut.${format}`, part);
      expect(await refusal(path)).toMatch(/cut\.\w+ cannot be shown: .*[^:]\. The file may be damaged\.$/);
    }
  });

  it('a PNG with a wrong byte is refused', async () => {
    const bytes = await drawNoise(100, 100).png().toBuffer();
    const at = Math.floor(bytes.length * 0.8);
    bytes[at] = (bytes[at] ?? 0) ^ 0x55;
    const path = bench.write('wrong.png', bytes);
    expect(await refusal(path)).toContain('wrong.png cannot be shown: ');
    // The model knows that it cannot be read, so that it may be replaced.
    expect(bench.ledger.compare(path, bytes)).toBe('current');
  });

  it('a small file of very many pixels is refused', async () => {
    const bomb = await draw(1, 1).png().toBuffer();
    bomb.writeUInt32BE(100_000, 16);
    bomb.writeUInt32BE(100_000, 20);
    bomb.writeUInt32BE(crc32(bomb.subarray(12, 29)), 29);
    expect(await refusal(bench.write('bomb.png', bomb))).toContain('exceeds pixel limit');
  });

  it('what is no image is read as what it is', async () => {
    expect((await read({ file_path: bench.write('pointer.png', 'version 1\n') })).text).toBe('1\tversion 1');
    expect(await refusal(bench.write('bad.png', Buffer.alloc(20)))).toContain('appears to be a binary .png file');
    expect((await read({ file_path: bench.write('none.png', '') })).text).toContain('the contents are empty');
  });

  it('stops when it is interrupted', async () => {
    const stop = new AbortController();
    const bytes = await draw(2_000, 2_000).png().toBuffer();
    const reading = readImage({ path: '/a.png', bytes, type: 'image/png' }, { signal: stop.signal });
    stop.abort();
    await expect(reading).rejects.toThrow('interrupted');
  });
});

describe('Reads of many images', () => {
  /** Stands for sharp: counts what is decoded at once, and decodes when it is told to. */
  function createDecoder() {
    const finish: (() => void)[] = [];
    const counts = { now: 0, most: 0, all: 0 };
    const decode = async () => {
      counts.now += 1;
      counts.all += 1;
      counts.most = Math.max(counts.most, counts.now);
      await new Promise<void>((resolve) => finish.push(resolve));
      counts.now -= 1;
      return Buffer.alloc(4);
    };
    const image = {
      timeout: () => image,
      raw: () => image,
      toBuffer: decode,
      metadata: async () => ({ autoOrient: { width: 1, height: 1 } }),
    };
    const loadSharp = async () => () => image as unknown as Sharp;
    return { counts, finish, loadSharp };
  }
  const bytes = Buffer.from('image');
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

  it('decode two at a time, whoever asks', async () => {
    const { counts, finish, loadSharp } = createDecoder();
    const { signal } = new AbortController();
    const reading = Array.from({ length: 16 }, (_, i) =>
      readImage({ path: `/${i}.png`, bytes, type: 'image/png' }, { signal, loadSharp }),
    );
    while (counts.all < 16 || counts.now > 0) {
      await settled();
      for (const end of finish.splice(0)) end();
    }
    await Promise.all(reading);
    expect(counts).toEqual({ now: 0, most: 2, all: 16 });
  });

  it('stop waiting when they are interrupted, and let others have their turn', async () => {
    const { counts, finish, loadSharp } = createDecoder();
    const stops = Array.from({ length: 5 }, () => new AbortController());
    const reading = stops.map(({ signal }) =>
      readImage({ path: '/a.png', bytes, type: 'image/png' }, { signal, loadSharp }),
    );
    await settled();
    stops[0]?.abort();
    stops[2]?.abort();
    stops[3]?.abort();
    for (const index of [0, 2, 3]) await expect(reading[index]).rejects.toThrow('interrupted');
    await settled();
    // The first cannot be stopped, and keeps its turn until it ends.
    expect(counts).toEqual({ now: 2, most: 2, all: 2 });
    while (counts.now > 0) {
      for (const end of finish.splice(0)) end();
      await settled();
    }
    await Promise.all([reading[1], reading[4]]);
    expect(counts).toEqual({ now: 0, most: 2, all: 3 });
  });
});

describe('Read of images without sharp', () => {
  const options = { signal: new AbortController().signal, loadSharp: async () => undefined };

  it('sends what an API takes as it is', async () => {
    const bytes = await draw(2_000, 10).png().toBuffer();
    const { structured } = await readImage({ path: '/a.png', bytes, type: 'image/png' }, options);
    expect(structured).toEqual({
      type: 'image',
      file: { base64: bytes.toString('base64'), type: 'image/png', originalSize: bytes.length },
    });
  });

  it('refuses what is too large, and says what would help', async () => {
    const image = { path: '/a.png', bytes: Buffer.alloc(4 * 1024 * 1024), type: 'image/png' };
    await expect(readImage(image, options)).rejects.toThrow(
      'The image /a.png (4MB) is too large to be shown as it is. With the package sharp installed',
    );
  });
});
