// A program that uses the built package and has nothing to do but what CONSUMER names. It must end by itself.
import { query } from '../../dist/sdk/index.js';

const options = JSON.parse(process.env.OPTIONS ?? '{}');
const run = query({ prompt: 'Hi', options });

switch (process.env.CONSUMER) {
  case 'breaks out':
    for await (const _ of run) break;
    break;
  case 'throws':
    process.once('uncaughtException', () => process.stdout.write('thrown'));
    for await (const _ of run) throw new Error('mine');
    break;
  case 'closes at once':
    run.close();
    break;
  default:
    // Never reads.
    break;
}
