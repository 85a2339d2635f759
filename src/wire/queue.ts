/** Frames waiting for one reader. Written by hand: an async generator would spend three promises on every delta. */
import type { Frame } from '../protocol/index.js';
import { estimateSize, isDelta, mergeDeltas } from './delta.js';

/** Past this many bytes queued, adjacent deltas become one. */
export const MERGE_ABOVE_BYTES = 1_000_000;

const DONE: IteratorReturnResult<undefined> = { value: undefined, done: true };

interface Reader<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: Error): void;
}

interface LimitWait {
  limit: number;
  resolve(): void;
}

interface Slot<T> {
  item: T;
  size: number;
}

/**
 * Nothing durable is dropped or changed. Iterate it once; `return()` (or `break`) discards what is left and
 * everything pushed later. After `end(error)` the reader gets what is queued, then the error.
 */
export class FrameQueue<T extends object = Frame> implements AsyncIterableIterator<T, undefined> {
  #slots: Slot<T>[] = [];
  #head = 0;
  #size = 0;
  #ended = false;
  #error: Error | undefined;
  #readers: Reader<T>[] = [];
  #waits: LimitWait[] = [];

  /** Estimated bytes of what is queued. */
  get size(): number {
    return this.#size;
  }

  get length(): number {
    return this.#slots.length - this.#head;
  }

  push(item: T): void {
    if (this.#ended) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) {
      reader.resolve({ value: item, done: false });
      return;
    }
    if (this.#size > MERGE_ABOVE_BYTES && this.#mergeIntoLast(item)) return;
    const size = estimateSize(item);
    this.#slots.push({ item, size });
    this.#size += size;
  }

  /** Nothing more will be pushed. The first call counts. */
  end(error?: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    const readers = this.#readers;
    this.#readers = [];
    for (const reader of readers) {
      const failure = this.#takeError();
      if (failure === undefined) reader.resolve(DONE);
      else reader.reject(failure);
    }
  }

  /** The next frame if one is queued, without a promise. */
  shift(): T | undefined {
    const slot = this.#slots[this.#head];
    if (slot === undefined) return undefined;
    this.#head += 1;
    if (this.#head === this.#slots.length) {
      this.#slots = [];
      this.#head = 0;
    } else if (this.#head > 1024 && this.#head * 2 > this.#slots.length) {
      this.#slots = this.#slots.slice(this.#head);
      this.#head = 0;
    }
    this.#shrinkBy(slot.size);
    return slot.item;
  }

  /** Discards what is queued now. */
  clear(): void {
    this.#slots = [];
    this.#head = 0;
    this.#shrinkBy(this.#size);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const item = this.shift();
    if (item !== undefined) return Promise.resolve({ value: item, done: false });
    if (!this.#ended) return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
    const failure = this.#takeError();
    return failure === undefined ? Promise.resolve(DONE) : Promise.reject(failure);
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.end();
    this.#error = undefined;
    this.clear();
    return Promise.resolve(DONE);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Resolves once `size` is at or below the limit. `end` alone does not resolve it: what is queued still waits. */
  belowLimit(limit: number): Promise<void> {
    if (this.#size <= limit) return Promise.resolve();
    return new Promise((resolve) => this.#waits.push({ limit, resolve }));
  }

  #mergeIntoLast(item: T): boolean {
    const last = this.#slots.at(-1);
    if (last === undefined || !isDelta(last.item) || !isDelta(item)) return false;
    if (last.size > MERGE_ABOVE_BYTES) return false;
    const merged = mergeDeltas(last.item, item);
    if (merged === undefined) return false;
    const size = estimateSize(merged);
    this.#size += size - last.size;
    last.item = merged;
    last.size = size;
    return true;
  }

  #shrinkBy(bytes: number): void {
    this.#size -= bytes;
    if (this.#waits.length === 0) return;
    const met = this.#waits.filter((wait) => this.#size <= wait.limit);
    if (met.length === 0) return;
    this.#waits = this.#waits.filter((wait) => this.#size > wait.limit);
    for (const wait of met) wait.resolve();
  }

  /** An error is thrown to one reader; after that the queue is simply done. */
  #takeError(): Error | undefined {
    const error = this.#error;
    this.#error = undefined;
    return error;
  }
}
