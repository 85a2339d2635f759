// Runs a program and tells what it took.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

const USAGE = join(import.meta.dirname, 'programs/usage.cjs');

/**
 * Runs Node with these arguments. Times are in ms from the start of the process, memory in MB. CPU is what the process
 * counted for itself when it ended, all its threads included.
 */
export function runNode(args, { env, cwd }) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(process.execPath, ['--require', USAGE, ...args], {
      env,
      cwd,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    const [, stdout, stderr, report] = child.stdio.map(collect);
    let firstLineMs;
    child.stdout.on('data', (chunk) => {
      if (firstLineMs === undefined && chunk.includes(10)) firstLineMs = performance.now() - started;
    });
    child.on('error', reject);
    child.on('close', (code) => {
      const wallMs = performance.now() - started;
      if (code !== 0) return reject(new Error(`node ${args.join(' ')} ended with ${code}: ${stderr()}${stdout()}`));
      resolve({ stdout: stdout(), firstLineMs, wallMs, ...JSON.parse(report()) });
    });
  });
}

/** Runs one of the programs beside this file and reads the JSON that it prints. */
export async function runProgram(name, args, options) {
  const program = join(import.meta.dirname, 'programs', name);
  const { stdout } = await runNode([...(options.flags ?? []), program, ...args], options);
  return JSON.parse(stdout);
}

function collect(stream) {
  const chunks = [];
  stream?.on('data', (chunk) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString('utf8');
}
