/** Collects the output of a process in bounded memory: its head, its tail, and how much lay between. */
export interface OutputBuffer {
  append(chunk: Uint8Array): void;
  /** How many bytes between head and tail were not kept. */
  dropped(): number;
  /** Everything that was kept. Says in the middle how many bytes were dropped, if any. */
  text(): string;
}

const FIRST_SIZE = 16 * 1024;

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** `bytes` without the rest of a character at its start. */
const trimStart = (bytes: Buffer): Buffer => {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  return bytes.subarray(start);
};

/** `bytes` without a cut character at its end. */
const trimEnd = (bytes: Buffer): Buffer => {
  let lead = bytes.length - 1;
  while (lead > bytes.length - 4 && isContinuation(bytes[lead])) lead -= 1;
  return (bytes[lead] ?? 0) >= 0xc0 ? bytes.subarray(0, lead) : bytes;
};

export function createOutputBuffer(limits: { headBytes: number; tailBytes: number }): OutputBuffer {
  const { headBytes, tailBytes } = limits;
  let head = Buffer.alloc(0);
  let headLength = 0;
  // Bytes are copied, not kept as chunks: a million tiny chunks cost far more than what is in them.
  let ring: Buffer | undefined;
  let tailTotal = 0;

  const appendHead = (chunk: Uint8Array): void => {
    if (headLength + chunk.length > head.length) {
      const size = Math.min(headBytes, Math.max(FIRST_SIZE, head.length * 2, headLength + chunk.length));
      const grown = Buffer.allocUnsafe(size);
      head.copy(grown, 0, 0, headLength);
      head = grown;
    }
    head.set(chunk, headLength);
    headLength += chunk.length;
  };

  const appendTail = (chunk: Uint8Array): void => {
    ring ??= Buffer.allocUnsafe(tailBytes);
    const kept = chunk.length > tailBytes ? chunk.subarray(chunk.length - tailBytes) : chunk;
    const at = (tailTotal + chunk.length - kept.length) % tailBytes;
    const first = kept.subarray(0, tailBytes - at);
    ring.set(first, at);
    ring.set(kept.subarray(first.length), 0);
    tailTotal += chunk.length;
  };

  const readTail = (): Buffer => {
    if (ring === undefined) return Buffer.alloc(0);
    if (tailTotal <= tailBytes) return ring.subarray(0, tailTotal);
    const at = tailTotal % tailBytes;
    return Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
  };

  const dropped = (): number => Math.max(0, tailTotal - tailBytes);

  return {
    dropped,
    append(chunk) {
      const room = headBytes - headLength;
      if (room > 0) appendHead(chunk.subarray(0, room));
      if (chunk.length > room) appendTail(chunk.subarray(Math.max(0, room)));
    },
    text() {
      const start = head.subarray(0, headLength);
      const tail = readTail();
      if (dropped() === 0) return Buffer.concat([start, tail]).toString('utf8');
      const gap = `\n\n[${dropped().toLocaleString('en-US')} bytes were dropped here]\n\n`;
      return trimEnd(start).toString('utf8') + gap + trimStart(tail).toString('utf8');
    },
  };
}
