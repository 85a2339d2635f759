/** The terminal as a line editor sees it. While it is muted the editor keeps editing, but draws nothing between what others write. */
import { Writable } from 'node:stream';

export interface Screen extends Writable {
  isMuted: boolean;
  readonly columns: number | undefined;
  /** Ends nothing but itself. */
  close(): void;
}

type Terminal = Writable & { columns?: number };

export function createScreen(terminal: Terminal): Screen {
  return new MutableScreen(terminal);
}

class MutableScreen extends Writable implements Screen {
  isMuted = false;
  readonly #terminal: Terminal;
  readonly #onResize = (): void => void this.emit('resize');

  constructor(terminal: Terminal) {
    super();
    this.#terminal = terminal;
    terminal.on('resize', this.#onResize);
  }

  get columns(): number | undefined {
    return this.#terminal.columns;
  }

  close(): void {
    this.#terminal.off('resize', this.#onResize);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (!this.isMuted) this.#terminal.write(chunk);
    done();
  }
}
