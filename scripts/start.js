// npm start [-- "<prompt>"]: shows the program at work, offline, on a copy of the sample project.
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const scratch = mkdtempSync(join(tmpdir(), 'heddle-start-'));
const project = join(scratch, 'sample-project');
cpSync(join(root, 'examples/sample-project'), project, { recursive: true });

const prompt =
  process.argv.slice(2).join(' ').trim() ||
  'Find the source files of this project, read them, and write a short summary of each into SUMMARY.md.';
console.log(`Working on a copy of the sample project: ${project}`);
console.log(`The model is the embedded one: offline, small, no key. Your model: ANTHROPIC_API_KEY=... npx heddle\n`);
console.log(`> ${prompt}\n`);

const child = spawn(
  process.execPath,
  [
    join(root, 'bin/heddle.js'),
    '--print',
    '--output-format=terminal',
    '--model=embedded',
    '--permission-mode=acceptEdits',
    '--',
    prompt,
  ],
  {
    cwd: project,
    stdio: ['ignore', 'inherit', 'inherit'],
    // Nothing of this try-out ends up among the sessions of the person.
    env: { ...process.env, HEDDLE_CONFIG_DIR: join(scratch, 'config') },
  },
);
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1);
});
// The child gets Ctrl-C as well and ends in its own way.
process.on('SIGINT', () => {});
