import { fileURLToPath } from 'node:url';
import { toOrders } from './orders.ts';
import { readStock } from './stock.ts';

const stock = readStock(fileURLToPath(new URL('../data/stock.csv', import.meta.url)));
for (const { colour, fibre, spools } of toOrders(stock)) {
  console.log(`${spools} x ${colour} (${fibre})`);
}
