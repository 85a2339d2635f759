/** Which command a prompt calls, and with what. Undefined when it is another prompt. */
export function parseCall(text: string): { name: string; args: string } | undefined {
  const [, name, args = ''] = /^\/([^\s/]\S*)\s*([\s\S]*)$/.exec(text.trim()) ?? [];
  return name === undefined ? undefined : { name, args: args.trim() };
}

/** Nobody calls a command with a path: `/usr/bin/env is missing` is a sentence. */
export const looksLikeCall = (name: string): boolean => /^[\w:.-]+$/.test(name);
