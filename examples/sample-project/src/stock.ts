import { readFileSync } from 'node:fs';

export interface Yarn {
  colour: string;
  fibre: string;
  /** Metres on the shelf. */
  metres: number;
  /** Order more when less than this is left. */
  minimum: number;
}

export function readStock(path: string): Yarn[] {
  const [, ...lines] = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map(toYarn);
}

// Open: a colour name with a comma in it breaks this.
export function toYarn(line: string): Yarn {
  const [colour = '', fibre = '', metres = '0', minimum = '0'] = line.split(',');
  return { colour, fibre, metres: Number(metres), minimum: Number(minimum) };
}
