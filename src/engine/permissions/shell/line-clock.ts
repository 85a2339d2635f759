import type { Moment } from './reading.js';

/** Counts what is noted of a line, so that it is known what may run after what. */
export class LineClock {
  #now = 0;
  readonly #moments: Moment[] = [];

  next(): Moment {
    this.#now += 1;
    const moment = { first: this.#now, last: this.#now };
    this.#moments.push(moment);
    return moment;
  }

  /** The same stands in the line once more. */
  again(moment: Moment): void {
    this.#now += 1;
    moment.last = Math.max(moment.last, this.#now);
  }

  /** Whatever is noted meanwhile may run again until it is over, or until the line ends. */
  repeated(until: 'itself' | 'end', read: () => void): void {
    const start = this.#now;
    read();
    const end = until === 'end' ? Infinity : this.#now;
    if (this.#now === start) return;
    for (const moment of this.#moments) if (moment.last > start && moment.last < end) moment.last = end;
  }
}
