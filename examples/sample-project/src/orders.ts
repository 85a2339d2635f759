import type { Yarn } from './stock.ts';

/** Metres on one spool. */
export const SPOOL = 250;

export interface Order {
  colour: string;
  fibre: string;
  spools: number;
}

/** Fills every yarn that runs low up to twice its minimum, in whole spools. */
export function toOrders(stock: Yarn[]): Order[] {
  return stock
    .filter((yarn) => yarn.metres < yarn.minimum)
    .map(({ colour, fibre, metres, minimum }) => ({
      colour,
      fibre,
      spools: Math.ceil((2 * minimum - metres) / SPOOL),
    }));
}

// Open: suppliers give a discount from ten spools on; take it into account.
