/** A value of a frontmatter, with its place. */
export interface Field {
  value: unknown;
  /** Counts from 1, in the file. */
  line: number;
}

export type Fields = ReadonlyMap<string, Field>;
