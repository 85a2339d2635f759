import { createMemoryStore } from '../../src/engine/index.js';
import type { SessionStore, Tool } from '../../src/protocol/index.js';

interface Line {
  type: string;
  kind?: string;
  state?: string;
}

/** A memory store that says what is written, in one list with whatever else a test puts there. */
export function createTracedStore(events: string[], options: { isSlow?: boolean } = {}): SessionStore {
  const store = createMemoryStore();
  const append = store.append.bind(store);
  return {
    ...store,
    append(key, lines, { sync = false } = {}) {
      const names = lines.map((line) => nameOf(JSON.parse(line) as Line) + (sync ? ' (sync)' : ''));
      events.push(...names);
      if (!options.isSlow) return append(key, lines);
      return new Promise((resolve) => {
        setImmediate(() => {
          events.push(...names.map((name) => `${name} written`));
          void append(key, lines);
          resolve();
        });
      });
    },
  };
}

const nameOf = ({ type, kind, state }: Line): string => [kind ?? type, state].filter(Boolean).join(' ');

/** A tool that says in the list that it runs, and with what. */
export const probeTool = (events: string[], options: { name?: string; readOnly?: boolean } = {}): Tool => {
  const { name = 'Probe', readOnly = false } = options;
  return {
    name,
    description: name,
    inputSchema: { type: 'object' },
    parse: (input) => input as Record<string, unknown>,
    isReadOnly: () => readOnly,
    async run(input) {
      events.push(`${name} runs ${JSON.stringify(input)}`);
      return { content: 'ran' };
    },
  };
};
