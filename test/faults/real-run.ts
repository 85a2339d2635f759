/** A run on real files that does a bit of everything, and what is left of it wherever its process might have died. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Ask } from '../../src/engine/questions.js';
import type { ScriptAnswer, ScriptStep } from '../../src/engine/model/script-step.js';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import type { SessionStore } from '../../src/protocol/index.js';
import { type Run, start, stillClock, user } from '../engine/kit.js';
import { removeFolder } from '../remove-folder.js';

export const SESSION = '99999999-2222-4333-8444-55555555faf1';

/** What the user says, one after the other; the second while the first is still worked on. */
const PROMPTS = [
  { uuid: '10000000-0000-4000-8000-000000000001', text: 'Tidy up, then say so.' },
  { uuid: '10000000-0000-4000-8000-000000000002', text: 'And what did you do?' },
  { uuid: '10000000-0000-4000-8000-000000000003', text: '/compact keep the names' },
  { uuid: '10000000-0000-4000-8000-000000000004', text: 'Once more “ß→𝄞”.' },
] as const;

const call = (id: string, name: string, input: Record<string, unknown>) => ({ id, name, input });

const ANSWERS: readonly ScriptAnswer[] = [
  {
    thinking: 'Three looks at once.',
    text: 'Looking “around”. 𝄞',
    toolUse: [
      call('r1', 'Read', { file_path: 'a.txt' }),
      call('r2', 'Glob', { pattern: 'a*' }),
      call('r3', 'Bash', { command: 'cat b.txt' }),
    ],
  },
  {
    toolUse: [
      call('b1', 'Bash', { command: 'echo one >> made.log' }),
      call('b2', 'Bash', { command: 'touch refused' }),
      call('r4', 'Bash', { command: 'cat b.txt' }),
    ],
  },
  {
    text: 'Now the files.',
    toolUse: [
      call('w1', 'Write', { file_path: 'new.txt', content: 'näw\n' }),
      call('e1', 'Edit', { file_path: 'a.txt', old_string: 'alpha', new_string: 'beta' }),
      call('l1', 'TodoWrite', { todos: [{ content: 'rest', status: 'pending', activeForm: 'resting' }] }),
    ],
  },
  { text: 'Tidied.' },
  { text: 'I tidied.' },
  { text: '<summary>They tidied a.txt.</summary>' },
  { toolUse: call('b3', 'Bash', { command: 'echo two >> made.log' }) },
  { text: 'Done.' },
];

/** Tool calls that change something, and so must not run twice. */
export const SIDE_EFFECTS = ['b1', 'w1', 'e1', 'b3'];

/** The answers from the n-th on. No two answers of the model have the same id, whoever asks again. */
const scriptFrom = (place: number): ScriptStep[] => ANSWERS.slice(place).map((one) => ({ id: randomUUID(), ...one }));

const answer: Ask = async ({ tool_use_id }) =>
  tool_use_id === 'b2' ? { behavior: 'deny', message: 'Leave that.' } : { behavior: 'allow' };

export interface RealRun {
  cwd: string;
  configDir: string;
  path: string;
  /** The log of the whole run. */
  bytes: Buffer;
  /** Its lines. */
  lines: string[];
  /** The body of every request, as text. */
  bodies: string[];
  /** The folder as it was when the n-th line had been written. */
  files: ReadonlyMap<string, string>[];
}

/** Plays all of it, undisturbed, in a folder of its own. */
export async function playWhole(root: string): Promise<RealRun> {
  const [cwd, configDir] = [join(root, 'ws'), join(root, 'config')];
  putFiles(cwd, new Map(Object.entries({ 'a.txt': 'alpha\n', 'b.txt': 'the other\n' })));
  const files: ReadonlyMap<string, string>[] = [];
  const store = watched(createFileStore({ configDir }), (count) => {
    const now = readFiles(cwd);
    for (let line = 0; line < count; line += 1) files.push(now);
  });
  const [first, second, ...rest] = PROMPTS;
  const run: Run = await start(scriptFrom(0), {
    store,
    cwd,
    clock: stillClock(),
    config: { sessionId: SESSION, configDir },
    ask: (question, options) => {
      if (question.tool_use_id === 'b1') run.session.submit(user(second.text, { uuid: second.uuid }));
      return answer(question, options);
    },
  });
  await run.ask(first.text, { uuid: first.uuid });
  await run.nextResult();
  for (const { text, uuid } of rest) await run.ask(text, { uuid });
  await run.session.close();
  run.model.assertDone();
  const path = store.pathOf?.({ sessionId: SESSION, cwd }) ?? '';
  const bytes = readFileSync(path);
  const lines = bytes.toString('utf8').trimEnd().split('\n');
  const bodies = run.model.requests.map(({ body }) => JSON.stringify(body));
  return { cwd, configDir, path, bytes, lines, bodies, files };
}

function watched(store: SessionStore, onAppend: (count: number) => void): SessionStore {
  return {
    ...store,
    append(key, lines, options) {
      const written = store.append(key, lines, options);
      onAppend(lines.length);
      return written;
    },
  };
}

const readFiles = (folder: string): Map<string, string> =>
  new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

function putFiles(folder: string, files: ReadonlyMap<string, string>): void {
  removeFolder(folder);
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
}

export interface Left {
  /** How many answers of the model are in the log, the summary among them. */
  answers: number;
  /** What the user would say again, because the log does not know of it. */
  prompts: (typeof PROMPTS)[number][];
  /** Calls that were begun, and whose end is not known. */
  unknown: string[];
}

/** What of the run is still to come when the log holds these lines. */
export function whatIsLeft(lines: readonly string[]): Left {
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const said = new Set(entries.map(({ uuid }) => uuid));
  const isCompacted = entries.some(({ isCompactSummary }) => isCompactSummary === true);
  const steps = entries.filter(({ kind }) => kind === 'step').length;
  const unknown = new Set<string>();
  for (const [place, entry] of entries.entries()) {
    if (entry.kind === 'call' && entry.state === 'started') unknown.add(String(entry.toolUseId));
    for (const [, id = ''] of (lines[place] ?? '').matchAll(/"tool_use_id":"(\w+)"/g)) unknown.delete(id);
  }
  return {
    answers: steps + (isCompacted ? 1 : 0),
    prompts: PROMPTS.filter(({ uuid, text }) => (text.startsWith('/compact') ? !isCompacted : !said.has(uuid))),
    unknown: [...unknown],
  };
}

/** Puts the world back to the moment in which the log had this many bytes. */
export function cutAt(whole: RealRun, size: number): void {
  const count = whole.bytes.subarray(0, size).toString('latin1').split('\n').length - 1;
  putFiles(whole.cwd, whole.files[Math.max(count - 1, 0)] ?? new Map());
  mkdirSync(dirname(whole.path), { recursive: true });
  writeFileSync(whole.path, whole.bytes.subarray(0, size));
}

/** Opens the session as a new process would. */
export const reopen = ({ cwd, configDir }: RealRun, script: readonly ScriptStep[]): Promise<Run> =>
  start(script, {
    store: createFileStore({ configDir }),
    cwd,
    config: { resume: SESSION, configDir },
    ask: answer,
  });

/** Goes on where the log ends, until all is said. Gives the bodies of the requests. */
export async function playRest(whole: RealRun, left: Left): Promise<string[]> {
  const run = await reopen(whole, scriptFrom(left.answers));
  const result = run.nextResult();
  if (run.session.resumeTurn()) await result;
  for (const { text, uuid } of left.prompts) await run.ask(text, { uuid });
  await run.session.close();
  return run.model.requests.map(({ body }) => JSON.stringify(body));
}
