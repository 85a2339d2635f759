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

/**
 * Nothing durable is dropped or changed. Iterate it once; `return()` (or `break`) discards what is left and
 * everything pushed later. After `end(error)` the reader gets what is queued, then the error.
 */
export class FrameQueue<T extends object = Frame> implements AsyncIterableIterator<T, undefined> {
  /** Two lists of one length: an object per frame would cost more than the frame. */
  #items: T[] = [];
  #sizes: number[] = [];
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
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    if (this.#ended) return;
    if (this.#readers.length > 0) {
      this.#readers.shift()?.resolve({ value: item, done: false });
      return;
    }
    if (this.#size > MERGE_ABOVE_BYTES && this.#mergeIntoLast(item)) return;
    const size = estimateSize(item);
    this.#items.push(item);
    this.#sizes.push(size);
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
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    const size = this.#sizes[this.#head] ?? 0;
    this.#head += 1;
    const isWorthIt = this.#head > 1024 && this.#head * 2 > this.#items.length;
    if (isWorthIt || this.#head === this.#items.length) this.#forget(this.#head);
    this.#shrinkBy(size);
    return item;
  }

  /** Discards what is queued now. */
  clear(): void {
    this.#forget(this.#items.length);
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
    const index = this.#items.length - 1;
    const last = this.#items[index];
    const lastSize = this.#sizes[index] ?? 0;
    if (last === undefined || lastSize > MERGE_ABOVE_BYTES || !isDelta(last) || !isDelta(item)) return false;
    const merged = mergeDeltas(last, item);
    if (merged === undefined) return false;
    const size = estimateSize(merged);
    this.#items[index] = merged;
    this.#sizes[index] = size;
    this.#size += size - lastSize;
    return true;
  }

  /** Lets go of the first `count` places. */
  #forget(count: number): void {
    this.#items = this.#items.slice(count);
    this.#sizes = this.#sizes.slice(count);
    this.#head = 0;
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
