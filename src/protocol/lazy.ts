import type { z } from 'zod';

let built = 0;

/**
 * A schema that is built the first time it is called. Building all of them at import costs more than a whole
 * headless answer, so nothing may call one at module level.
 */
export function lazy<T extends z.ZodType>(build: () => T): () => T {
  let schema: T | undefined;
  return () => {
    if (schema === undefined) {
      built += 1;
      schema = build();
    }
    return schema;
  };
}

/** How many schemas this process has built so far. */
export const builtSchemas = (): number => built;

/** The type a lazy schema describes. */
export type Infer<L extends () => z.ZodType> = z.infer<ReturnType<L>>;
