// npm start [-- "<prompt>"]: shows the program at work, offline, on a copy of the sample project.
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Ctrl-C reaches the program as well, which ends in its own way.
process.on('SIGINT', () => {});

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const scratch = mkdtempSync(join(tmpdir(), 'heddle-start-'));
const project = join(scratch, 'sample-project');
cpSync(join(root, 'examples/sample-project'), project, { recursive: true });

// The embedded model takes one step at a time; each prompt goes on with the session of the one before.
const TOUR = [
  'Which files are in this project?',
  'Search for "Open:"',
  'Summarize README.md',
  'Write a file SUMMARY.md saying "Loom stock keeps track of yarn. Three questions are open: commas, discounts, limits."',
];
const asked = process.argv.slice(2).join(' ').trim();
const prompts = asked === '' ? TOUR : [asked];

console.log(`A copy of the sample project to work on: ${project}`);
console.log('The model is the embedded one: offline, small, without a key.\n');
for (const [index, prompt] of prompts.entries()) {
  console.log(`> ${prompt}\n`);
  const code = await ask(prompt, index === 0 ? [] : ['--continue']);
  if (code !== 0) process.exit(code);
  console.log();
}
console.log(`Look around in ${project}, or ask it something: npm start -- "list the files in src"`);

function ask(prompt, flags) {
  const child = spawn(
    process.execPath,
    [
      join(root, 'bin/heddle.js'),
      '--print',
      '--output-format=terminal',
      '--model=embedded',
      '--permission-mode=acceptEdits',
      ...flags,
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
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
