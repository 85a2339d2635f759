#!/usr/bin/env node
import module from 'node:module';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 16)) {
  process.stderr.write(`Heddle needs Node 22.16 or newer; this is ${process.version}.\n`);
  process.exit(1);
}
module.enableCompileCache?.();
await import('../dist/cli-bundle/main.js');
