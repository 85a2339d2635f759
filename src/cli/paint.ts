/** Colours and marks of the terminal view. */
import type { AgentColor } from '../protocol/plain.js';

export type Colour = (text: string) => string;

export interface Paint {
  dim: Colour;
  bold: Colour;
  red: Colour;
  green: Colour;
  yellow: Colour;
}

export interface Look {
  colour: boolean;
  /** Words instead of signs, for screen readers. */
  words?: boolean;
}

const plain: Colour = (text) => text;
const code =
  (open: number | string, close: number): Colour =>
  (text) =>
    `\x1b[${open}m${text}\x1b[${close}m`;

const COLOURED: Paint = {
  dim: code(2, 22),
  bold: code(1, 22),
  red: code(31, 39),
  green: code(32, 39),
  yellow: code(33, 39),
};
const PLAIN: Paint = { dim: plain, bold: plain, red: plain, green: plain, yellow: plain };

const OF_AGENTS: Readonly<Record<AgentColor, Colour>> = {
  red: COLOURED.red,
  blue: code(34, 39),
  green: COLOURED.green,
  yellow: COLOURED.yellow,
  purple: code(35, 39),
  orange: code('38;5;208', 39),
  pink: code('38;5;205', 39),
  cyan: code(36, 39),
};

/** Undefined for one that is not known. */
export const paintOfAgent = (look: Look, color: string | undefined): Colour | undefined =>
  look.colour && color !== undefined && Object.hasOwn(OF_AGENTS, color) ? OF_AGENTS[color as AgentColor] : undefined;

export const paintFor = (look: Look): Paint => (look.colour ? COLOURED : PLAIN);

const SIGNS = { call: '●', done: '✓', failed: '✗', stopped: '■', again: '↻', note: '·' } as const;
const WORDS = { call: 'Tool:', done: 'Done:', failed: 'Failed:', stopped: 'Stopped:', again: 'Retry:', note: 'Note:' };

export type Marks = Record<keyof typeof SIGNS, string>;
export const marksFor = (look: Look): Marks => (look.words ? WORDS : SIGNS);

/** NO_COLOR and TERM=dumb switch colours off, FORCE_COLOR on; otherwise a terminal decides. */
export function wantsColour(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0';
  return isTerminal && env.TERM !== 'dumb';
}
