import { type Bring, findBrings } from './programs/brings.js';
import { type Danger, findDangers } from './programs/danger.js';
import { type Touch, touchesOf } from './programs/effects.js';
import { judgeReadOnly, type ReadOnlyUse } from './programs/readonly.js';
import { findWrites, type Written } from './programs/writes.js';
import type { CommandReading, Segment } from './shell/reading.js';
import { COMMAND_TABLES, type CommandTables } from './tables.js';

const NO_BRINGS: readonly Bring[] = [];

/** What is known of one command, found out when it is first asked for. */
export class SegmentFact {
  readonly #segment: Segment;
  readonly #tables: CommandTables;
  #use: { value: ReadOnlyUse | undefined } | undefined;
  #dangers: readonly Danger[] | undefined;
  #touches: readonly Touch[] | undefined;
  #written: Written | undefined;
  #brings: readonly Bring[] | undefined;

  constructor(segment: Segment, tables: CommandTables) {
    this.#segment = segment;
    this.#tables = tables;
  }

  /** What it looks at when it is known to change nothing. */
  get use(): ReadOnlyUse | undefined {
    this.#use ??= { value: findUse(this.#segment, this.#tables) };
    return this.#use.value;
  }

  /** Arguments that a rule for the program does not cover by itself. */
  get dangers(): readonly Danger[] {
    this.#dangers ??= findDangers(this.#segment.words, this.#tables.dangers);
    return this.#dangers;
  }

  /** What it writes, as far as its program is known. */
  get written(): Written {
    this.#written ??= findWrites(
      this.#segment.words.map(({ value }) => value),
      this.#tables.writers,
    );
    return this.#written;
  }

  /** Where it puts links, or what may hold some. */
  get brings(): readonly Bring[] {
    this.#brings ??= this.use === undefined ? findBrings(this.#segment.words, this.#tables.writers) : NO_BRINGS;
    return this.#brings;
  }

  /** Every path that it touches, or may touch. */
  get touches(): readonly Touch[] {
    this.#touches ??= touchesOf(this.#segment, this);
    return this.#touches;
  }
}

/** A word that the shell splits may bring further paths along, whatever stands in its place. */
function findUse({ words }: Segment, tables: CommandTables): ReadOnlyUse | undefined {
  const use = judgeReadOnly(
    words.map(({ value }) => value),
    tables,
  );
  const split = use?.onlyNames === false ? words.filter(({ splits }) => splits).map(({ value }) => value) : [];
  return use === undefined || split.length === 0 ? use : { ...use, paths: [...use.paths, ...split] };
}

type Facts = (segment: Segment) => SegmentFact;

/** Of as many readings as are remembered. */
const RECENT = new Map<CommandReading, Facts>();
const MAX_RECENT = 16;

/** The facts of all commands of a line; those of the last ones are remembered. */
export function factsOf(reading: CommandReading, tables: CommandTables): Facts {
  const known = tables === COMMAND_TABLES ? RECENT.get(reading) : undefined;
  if (known !== undefined) return known;
  const facts = new Map<Segment, SegmentFact>();
  const find: Facts = (segment) => {
    let fact = facts.get(segment);
    if (fact === undefined) {
      fact = new SegmentFact(segment, tables);
      facts.set(segment, fact);
    }
    return fact;
  };
  if (tables !== COMMAND_TABLES) return find;
  RECENT.set(reading, find);
  if (RECENT.size > MAX_RECENT) RECENT.delete(RECENT.keys().next().value as CommandReading);
  return find;
}
