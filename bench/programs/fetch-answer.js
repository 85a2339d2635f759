import { ask } from './fetch.js';

const { text } = await ask('hi');
process.stdout.write(`${text}\n`);
