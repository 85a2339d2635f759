import { ask } from './fetch.js';
import { cpuOf } from './settled-cpu.js';

await ask('hi');
const { result, cpuMs } = await cpuOf(() => ask(process.argv[2]));
console.log(JSON.stringify({ deltas: result.deltas, cpuMs }));
