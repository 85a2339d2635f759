// Loaded before a program under test: records which modules it loads, and how many of them before its first output.
const { writeFileSync } = require('node:fs');
const { registerHooks } = require('node:module');

const modules = [];
let beforeFirstOutput;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (url.startsWith('file:')) modules.push({ url, bytes: loaded.source?.length ?? 0 });
    return loaded;
  },
});

const { stdout } = process;
const write = stdout.write.bind(stdout);
stdout.write = (...args) => {
  beforeFirstOutput ??= modules.length;
  return write(...args);
};

process.on('exit', () => {
  writeFileSync(process.env.COUNTS_FILE, JSON.stringify({ modules, beforeFirstOutput }));
});
