/** Bodies of HTTP answers that end before they fill the memory. */
import { HeddleError } from '../../../protocol/plain.js';
import { MAX_MESSAGE_BYTES } from './lines.js';

type Body = ReadableStream<Uint8Array>;

/** A stream of events may go on for ever, each event for 16 MB; anything else is one message. */
export function boundBody(body: Body, options: { isStream: boolean; onFlood: (error: HeddleError) => void }): Body {
  const { isStream, onFlood } = options;
  const reader = body.getReader();
  const size = createMeter(isStream);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      if (size(value) <= MAX_MESSAGE_BYTES) return controller.enqueue(value);
      const error = new HeddleError('frame_too_large', 'it sent a message of more than 16 MB', {
        hint: 'Ask the maker of the server to send less at once.',
      });
      reader.cancel(error).catch(() => undefined);
      onFlood(error);
      controller.error(error);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

/** Counts bytes; of a stream those since the last empty line. */
function createMeter(isStream: boolean): (chunk: Uint8Array) => number {
  let bytes = 0;
  let last = 0;
  return (chunk) => {
    bytes += chunk.byteLength;
    if (!isStream || chunk.byteLength === 0) return bytes;
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const end = Math.max(buffer.lastIndexOf('\n\n'), buffer.lastIndexOf('\r\n\r\n'), buffer.lastIndexOf('\r\r'));
    const isSplit = last === NEWLINE && (buffer[0] === NEWLINE || (buffer[0] === RETURN && buffer[1] === NEWLINE));
    if (end !== -1) bytes = chunk.byteLength - end;
    else if (isSplit) bytes = chunk.byteLength;
    last = buffer.at(-1) ?? 0;
    return bytes;
  };
}

const NEWLINE = 10;
const RETURN = 13;
