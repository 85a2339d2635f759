/** Commands that settings keep out of the sandbox, judged by a line that can be read without knowing the shell. */

/** `docker`, `docker:*` and `docker *` mean that program; more words mean that it is called with them first. */
export function createExclusion(entries: readonly string[]): (command: string) => boolean {
  const excluded = entries
    .map((entry) => toWords(entry.replace(/(?::| )\*$/, '')))
    .filter(([first]) => first !== undefined);
  return (command) => {
    // One plain command: no quotes, operators, expansions, lines or assignments.
    if (!/^[\w@%+:,./ -][\w@%+:,./= -]*$/.test(command)) return false;
    const words = toWords(command);
    if (words[0]?.includes('=') !== false) return false;
    return excluded.some((start) => start.every((word, at) => words[at] === word));
  };
}

const toWords = (text: string): string[] => text.split(' ').filter((word) => word !== '');
