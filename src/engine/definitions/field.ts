/** A value of a frontmatter, with its place. */
export interface Field {
  value: unknown;
  /** Counts from 1, in the file. */
  line: number;
  /** Why nobody can be sure what it says. Then the value says nothing. */
  fault?: string;
  /** The same field, written in other places before. Only of those that grant or restrict. */
  others?: readonly Field[];
}

export type Fields = ReadonlyMap<string, Field>;
