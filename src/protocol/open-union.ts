import { z } from 'zod';
import type { Infer } from './lazy.js';

type Members = Readonly<Record<string, () => z.ZodType>>;
/** The union of what the members of a table describe. */
export type MemberOf<M extends Members> = { [K in keyof M]: Infer<M[K]> }[keyof M];

/** A schema whose type is written beside it, so that declarations and compiler messages show its name. */
export type Lazy<T> = () => z.ZodType<T>;

interface OpenUnion {
  key: string;
  members: Members;
}

const openUnions = new WeakMap<z.ZodType, OpenUnion>();

/**
 * A union told apart by one field. Members that are not in the table pass unchecked, because a newer peer may send
 * them; the type names the known ones, so that it stays easy to narrow. A member is built when the first one arrives.
 */
export function openUnion<M extends Members>(key: string, members: M): z.ZodType<MemberOf<M>> {
  const schema = z.looseObject({ [key]: z.string() }).superRefine((value, context) => {
    const name = (value as Record<string, unknown>)[key] as string;
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (member === undefined) return;
    const outcome = member().safeParse(value);
    if (outcome.success) return;
    for (const issue of outcome.error.issues) context.addIssue(issue as z.core.$ZodRawIssue);
  });
  openUnions.set(schema, { key, members });
  return schema as unknown as z.ZodType<MemberOf<M>>;
}

/** The table behind an open union, for those who print schemas. */
export const openUnionOf = (schema: z.ZodType): OpenUnion | undefined => openUnions.get(schema);

/** A name out of a list that may grow: others pass, and the type says so. */
export function openName<const N extends string>(...known: N[]): z.ZodType<N | (string & {})> {
  return z.string().meta({ examples: known });
}

/** As `openName` for a list that is closed among us: another engine may know more names, and its frames must pass. */
export function foreignName<const N extends string>(...known: N[]): z.ZodType<N> {
  return z.string().meta({ examples: known }) as unknown as z.ZodType<N>;
}

/** Any JSON object. */
export const jsonObject = (): z.ZodType<Record<string, unknown>> => z.record(z.string(), z.unknown());

const outlines = new WeakMap<z.ZodType, () => z.ZodType>();

/** Takes the value on trust beyond its `type`. Only for what is too frequent to look at: the deltas of a stream. */
export function outlineOf<L extends () => z.ZodType>(whole: L): z.ZodType<Infer<L>> {
  const schema = z.looseObject({ type: z.string() });
  outlines.set(schema, whole);
  return schema as unknown as z.ZodType<Infer<L>>;
}

/** The schema that an outline stands for, for those who print schemas. */
export const wholeOf = (schema: z.ZodType): (() => z.ZodType) | undefined => outlines.get(schema);
