/** What a prompt of `/compact` asks for; undefined when it is another prompt. */
export function parseCompact(text: string): { instructions: string } | undefined {
  const match = /^\/compact(?:\s+([\s\S]*))?$/.exec(text.trim());
  return match === null ? undefined : { instructions: (match[1] ?? '').trim() };
}
