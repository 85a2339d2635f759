// What it takes to index skills and commands: a floor reads the head of every file and does nothing with it.
import { closeSync, mkdirSync, openSync, readdirSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { interleave, median } from './rounds.js';

const SKILLS = 500;
const COMMANDS = 200;
const INDEX_MS = 100;
/** On a machine where the floor is slow, so is the index. */
const INDEX_RATIO = 8;
const ROUNDS = 9;
const HEAD_BYTES = 4 * 1024;

export async function measureDefinitions({ root, cwd }) {
  const { loadDefinitions, describeSkills, hasDefinitions } = await bundle({ root, cwd });
  const place = join(cwd, 'definitions');
  const folders = [
    { kind: 'skills', path: join(place, 'skills'), origin: { scope: 'project' } },
    { kind: 'commands', path: join(place, 'commands'), origin: { scope: 'project' } },
  ];
  const checkMs = await timed(() => hasDefinitions(folders));
  writeFiles(place);
  const firstMs = await timed(() => loadDefinitions(folders));
  const results = await interleave(
    { floor: () => timed(() => readHeads(place)), index: () => timed(() => loadDefinitions(folders)) },
    { count: ROUNDS },
  );
  const [value, floor] = [median(results.index), median(results.floor)];
  const { skills, commands, problems } = await loadDefinitions(folders);
  if (skills.size !== SKILLS || commands.size !== COMMANDS || problems.length > 0) {
    throw new Error(`${skills.size} skills, ${commands.size} commands, ${problems.length} problems`);
  }
  const limit = Math.max(INDEX_MS, INDEX_RATIO * floor);
  const met = value <= limit;
  return [
    {
      what: `index of ${SKILLS} skills and ${COMMANDS} commands`,
      unit: 'ms',
      value,
      floor,
      aim: `<= ${limit.toFixed(0)} ms`,
      met,
    },
    { what: '  the first in a process', unit: 'ms', value: firstMs },
    { what: '  where there are none', unit: 'ms', value: checkMs },
    { what: '  their list for the model', unit: 'KB', value: describeSkills(skills.values()).length / 1024 },
  ];
}

async function timed(act) {
  const started = performance.now();
  await act();
  return performance.now() - started;
}

/** Inside the package these are no doors, so they are put together here. */
async function bundle({ root, cwd }) {
  const outfile = join(cwd, 'definitions.mjs');
  const contents = [
    "export { loadDefinitions } from './load.js';",
    "export { describeSkills } from './listing.js';",
    "export { hasDefinitions } from './present.js';",
  ].join('\n');
  const stdin = { contents, resolveDir: join(root, 'src/engine/definitions'), loader: 'ts' };
  await build({ stdin, outfile, bundle: true, format: 'esm', platform: 'node', target: 'node22', logLevel: 'error' });
  return import(pathToFileURL(outfile).href);
}

function readHeads(place) {
  const buffer = Buffer.allocUnsafe(HEAD_BYTES);
  const read = (path) => {
    const descriptor = openSync(path, 'r');
    readSync(descriptor, buffer, 0, HEAD_BYTES, 0);
    closeSync(descriptor);
  };
  for (const name of readdirSync(join(place, 'skills'))) read(join(place, 'skills', name, 'SKILL.md'));
  for (const folder of readdirSync(join(place, 'commands'))) {
    for (const name of readdirSync(join(place, 'commands', folder))) read(join(place, 'commands', folder, name));
  }
}

/** Files as people write them: lists, blocks, tables, quotes; a body of a few kilobytes; a quarter of the commands bare. */
function writeFiles(place) {
  const body = 'Do this first, then that, and look at the result before you go on.\n'.repeat(80);
  const heads = [
    (at) =>
      `description: Does the work of number ${at}. Use it when that is asked for.\nversion: 1.0.${at}\nlicense: MIT`,
    (at) =>
      `description: >\n  Knows all about subject ${at}\n  and writes it down.\nallowed-tools:\n  - Read\n  - Bash(git:*)`,
    (at) => `description: "Number ${at}: in quotes"\nallowed-tools: Read, Grep, Bash(npm run:*)\nuser-invocable: true`,
    (at) => `description: With more about ${at}\nmetadata:\n  author: someone\n  tags: [one, two]`,
  ];
  for (let at = 0; at < SKILLS; at += 1) {
    const folder = join(place, 'skills', `skill-${at}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'SKILL.md'), `---\nname: skill-${at}\n${heads[at % heads.length](at)}\n---\n${body}`);
  }
  for (let at = 0; at < COMMANDS; at += 1) {
    const folder = join(place, 'commands', `group-${at % 10}`);
    mkdirSync(folder, { recursive: true });
    const head = `---\ndescription: Runs task ${at}\nargument-hint: [file] [count]\nallowed-tools: Bash(git add:*), Read\n---\n`;
    writeFileSync(join(folder, `task-${at}.md`), `${at % 4 === 0 ? '' : head}Do $ARGUMENTS.\n${body}`);
  }
}
