import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const before = process.cpuUsage();
await import(pathToFileURL(join(process.argv[2], 'dist/sdk/index.js')).href);
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ cpuMs: (user + system) / 1000 }));
