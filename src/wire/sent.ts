/** Frames that were sent and are not yet acknowledged, by their number. */
export class SentFrames {
  #texts: string[] = [];
  #head = 0;
  #base = 0;
  #size = 0;

  /** The number of the oldest frame kept; everything before it was acknowledged. */
  get base(): number {
    return this.#base;
  }

  /** The number that the next frame will have. */
  get next(): number {
    return this.#base + this.#texts.length - this.#head;
  }

  /** Characters kept. */
  get size(): number {
    return this.#size;
  }

  push(text: string): void {
    this.#texts.push(text);
    this.#size += text.length;
  }

  /** Whether a reader who has this many frames can be served from here. */
  covers(cursor: number): boolean {
    return cursor >= this.#base && cursor <= this.next;
  }

  /** Forgets what lies before the cursor. One that is not covered changes nothing. */
  dropBefore(cursor: number): void {
    if (!this.covers(cursor)) return;
    for (; this.#base < cursor; this.#base += 1) {
      this.#size -= this.#texts[this.#head]?.length ?? 0;
      this.#texts[this.#head] = '';
      this.#head += 1;
    }
    if (this.#head > 1024 && this.#head * 2 > this.#texts.length) {
      this.#texts = this.#texts.slice(this.#head);
      this.#head = 0;
    }
  }

  /** What a reader with this cursor still has to get. */
  from(cursor: number): string[] {
    return this.#texts.slice(this.#head + cursor - this.#base);
  }

  /** Forgets everything, as if it had been acknowledged. */
  clear(): void {
    this.#base = this.next;
    this.#texts = [];
    this.#head = 0;
    this.#size = 0;
  }
}
