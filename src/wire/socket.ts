/** One WebSocket, as a link of a reliable channel: text only, never silent for long, and surely gone after a close. */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock } from '../protocol/index.js';
import { HeddleError } from '../protocol/plain.js';
import { CLOSE_CODES, LINGER_MS } from './hello.js';
import type { Link } from './reliable.js';

/** A socket on which nothing arrives for so long is dropped. */
export const SILENCE_MS = 30_000;
/** How often it is looked at, and pinged, in that time. */
const LOOKS = 3;

export interface SocketLinkOptions {
  clock: Clock;
  silenceMs: number;
  onText: (text: string) => void;
  /** The other side sent what is no text message, or too much of it. `onClosed` follows. */
  onBroken: (error: HeddleError) => void;
  /** What was sent has left, so that more may follow. */
  onWritten: () => void;
  /** Called once. */
  onClosed: (end: { code: number; reason: string; cause: Error | undefined }) => void;
}

export interface SocketLink extends Link {
  /** Starts to watch for silence, on a socket that is open. */
  watch(raw: Socket): void;
  /** Says why, and is gone soon, whatever the other side does. */
  close(code: number, reason: string): void;
  /** Gone at once. */
  terminate(): void;
}

export function createSocketLink(socket: WebSocket, options: SocketLinkOptions): SocketLink {
  const { clock, silenceMs } = options;
  let cause: Error | undefined;
  let tcp: Socket | undefined;
  let held: Socket | undefined;
  let isClosing = false;
  let isOver = false;
  let stopWatch = (): void => {};
  let stopLinger = (): void => {};

  function close(code: number, reason: string): void {
    if (isClosing || isOver) return;
    isClosing = true;
    stopWatch();
    socket.close(code, reason.slice(0, fittingLength(reason)));
    stopLinger = clock.after(LINGER_MS, () => socket.terminate(), { background: true });
  }

  function refuse(code: number, error: HeddleError): void {
    close(code, error.message);
    options.onBroken(error);
  }

  /** Everything sent in one tick leaves in one write. */
  function holdTick(): void {
    if (held !== undefined || tcp === undefined) return;
    held = tcp;
    held.cork();
    queueMicrotask(() => {
      held?.uncork();
      held = undefined;
    });
  }

  function watch(raw: Socket): void {
    tcp = raw;
    let heard = raw.bytesRead;
    let quiet = 0;
    // Looks are counted rather than time, because what came during a pause of the event loop is read after its timers.
    // Bytes rather than messages, because a large message on a slow line is no silence.
    const look = (): void => {
      quiet = raw.bytesRead === heard ? quiet + 1 : 0;
      heard = raw.bytesRead;
      if (quiet >= LOOKS) {
        cause = new HeddleError('channel_closed', `The other side was silent for ${silenceMs / 1000} s.`);
        return socket.terminate();
      }
      socket.ping();
      stopWatch = clock.after(silenceMs / LOOKS, look, { background: true });
    };
    stopWatch = clock.after(silenceMs / LOOKS, look, { background: true });
  }

  socket.on('message', (data, isBinary) => {
    if (isClosing || isOver) return;
    // Whole messages are buffers, because no other binary type was asked for.
    if (!isBinary) return options.onText((data as Buffer).toString());
    refuse(CLOSE_CODES.binary, new HeddleError('invalid_frame', 'A binary message came where frames are text.'));
  });
  socket.on('error', (error: Error & { code?: string }) => {
    cause ??= error;
    if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') {
      refuse(CLOSE_CODES.tooLarge, new HeddleError('frame_too_large', 'A frame is larger than the cap.', { cause }));
    } else if (error.code?.startsWith('WS_ERR_')) {
      refuse(1002, new HeddleError('invalid_frame', `What came is no WebSocket message: ${error.message}`, { cause }));
    }
  });
  socket.on('close', (code, reason) => {
    if (isOver) return;
    isOver = true;
    stopWatch();
    stopLinger();
    options.onClosed({ code, reason: reason.toString(), cause });
  });

  return {
    get buffered() {
      return socket.bufferedAmount;
    },
    send(text) {
      // After a close this does nothing: whoever sends still has the frame, and a later socket carries it.
      if (socket.readyState !== socket.OPEN) return;
      holdTick();
      socket.send(text, options.onWritten);
    },
    watch,
    close,
    terminate: () => socket.terminate(),
  };
}

/** How many characters of a reason fit into a close frame, which holds at most 123 bytes of it. */
const fittingLength = (reason: string): number => new TextEncoder().encodeInto(reason, new Uint8Array(123)).read;
