// The same run with the engine in a process of its own. Nothing but the carrier changes.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeddleError, query } from 'heddle';

const folder = mkdtempSync(join(tmpdir(), 'heddle-example-'));

const run = query({
  prompt: 'Write a file hello.txt saying "Hello from a child process."',
  options: {
    model: 'embedded',
    cwd: folder,
    persistSession: false,
    heddle: { carrier: 'subprocess' },
    // Callbacks stay here; the engine asks over its standard output.
    canUseTool: async (name) => {
      console.log(`asked: ${name}`);
      return { behavior: 'allow' };
    },
    stderr: (data) => process.stderr.write(data),
  },
});

const { pid } = await run.initializationResult();
console.log(`the engine is ${pid === process.pid ? 'this process' : 'another process'}`);
for await (const message of run) {
  if (message.type === 'result' && message.subtype === 'success') console.log(message.result);
}
console.log(readFileSync(join(folder, 'hello.txt'), 'utf8').trim());
rmSync(folder, { recursive: true });

// An engine that cannot be started, or fails, is a typed error with the exit code and the tail of what it said.
try {
  for await (const message of query({ prompt: 'hi', options: { pathToClaudeCodeExecutable: 'no-such-engine' } })) {
    console.log(message.type);
  }
} catch (thrown) {
  if (!(thrown instanceof HeddleError)) throw thrown;
  console.log(`${thrown.code}: ${thrown.message}`);
}
