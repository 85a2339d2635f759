/** Commands that change what is kept: titles, tags, the archive, copies, deletion. */
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { SessionInfo } from '../engine/index.js';
import {
  type Command,
  findSession,
  nameOf,
  type Opened,
  openSessions,
  type SessionsParts,
  usage,
  writeJson,
} from './sessions-parts.js';
import { toVisibleLine } from './visible.js';

export const rename: Command = async ({ words, json }, parts) => {
  const [name = '', ...rest] = words;
  const title = rest.join(' ');
  const opened = await openSessions(parts);
  const sessionId = await findSession(opened, name, parts.cwd);
  await opened.functions.renameSession(opened.parts, { sessionId, title });
  if (json) writeJson(parts, { sessionId, customTitle: title.trim() });
  else parts.stdout.write(`${sessionId} is now "${toVisibleLine(title.trim())}".\n`);
  return 0;
};

export const tag: Command = async ({ words, json }, parts) => {
  const [name = '', text = ''] = words;
  const opened = await openSessions(parts);
  const sessionId = await findSession(opened, name, parts.cwd);
  await opened.functions.tagSession(opened.parts, { sessionId, tag: text });
  if (json) writeJson(parts, { sessionId, tag: text.trim() || null });
  else
    parts.stdout.write(
      text.trim() ? `${sessionId} has the tag "${toVisibleLine(text.trim())}".\n` : `${sessionId} has no tag.\n`,
    );
  return 0;
};

const setArchived =
  (archived: boolean): Command =>
  async ({ words, json }, parts) => {
    const opened = await openSessions(parts);
    const ids = await findAll(opened, words, parts);
    for (const sessionId of ids) await opened.functions.archiveSession(opened.parts, { sessionId, archived });
    if (json)
      writeJson(
        parts,
        ids.map((sessionId) => ({ sessionId, archived })),
      );
    else for (const id of ids) parts.stdout.write(`${id} is ${archived ? 'in' : 'out of'} the archive.\n`);
    return 0;
  };

export const archive = setArchived(true);
export const unarchive = setArchived(false);

/** All of them are found before anything is done to one. */
async function findAll(opened: Opened, names: readonly string[], { cwd }: SessionsParts): Promise<string[]> {
  const ids = new Set<string>();
  for (const name of names) ids.add(await findSession(opened, name, cwd));
  return [...ids];
}

export const remove: Command = async ({ words, yes, json }, parts) => {
  const opened = await openSessions(parts);
  const { functions } = opened;
  const ids = await findAll(opened, words, parts);
  if (!yes && !(await isSure(ids, opened, parts))) return 1;
  for (const sessionId of ids) await functions.deleteSession(opened.parts, sessionId);
  if (json)
    writeJson(
      parts,
      ids.map((sessionId) => ({ sessionId, deleted: true })),
    );
  else for (const id of ids) parts.stdout.write(`${id} is deleted.\n`);
  return 0;
};

async function isSure(
  ids: readonly string[],
  { functions, parts: kept }: Opened,
  parts: SessionsParts,
): Promise<boolean> {
  const { stdin, stdout, stderr } = parts;
  if (!stdin.isTTY || !stdout.isTTY) {
    throw usage('error: nobody can be asked here; "sessions delete" needs --yes');
  }
  for (const sessionId of ids) {
    const info: Pick<SessionInfo, 'sessionId' | 'summary'> = (await functions
      .getSessionInfo(kept, sessionId)
      .catch(() => undefined)) ?? { sessionId, summary: '' };
    stdout.write(`  ${nameOf(info)}\n`);
  }
  const what = ids.length === 1 ? 'this session' : `these ${ids.length} sessions`;
  const lines = createInterface({ input: stdin, output: stdout as unknown as NodeJS.WritableStream });
  const ended = new Promise<string>((done) => lines.once('close', () => done('')));
  try {
    const answer = await Promise.race([lines.question(`Delete ${what} for good? y / n: `), ended]);
    if (/^y(es)?$/i.test(answer.trim())) return true;
    stderr.write('Nothing was deleted.\n');
    return false;
  } finally {
    lines.close();
  }
}

export const fork: Command = async ({ words, at, title, json }, parts) => {
  const opened = await openSessions(parts);
  const from = await findSession(opened, words[0] ?? '', parts.cwd);
  const { sessionId } = await opened.functions.forkSession(opened.parts, from, { upToMessageId: at, title });
  if (json) writeJson(parts, { sessionId, forkedFrom: from });
  else parts.stdout.write(`${sessionId}\nTo go on with it: heddle --resume ${sessionId}\n`);
  return 0;
};

export const importFile: Command = async ({ words, json }, parts) => {
  const opened = await openSessions(parts);
  const { sessionId, cwd } = await opened.functions.importSessionFile(opened.parts, resolve(parts.cwd, words[0] ?? ''));
  if (json) writeJson(parts, { sessionId, cwd });
  else parts.stdout.write(`${sessionId}  of ${toVisibleLine(cwd)}\nTo go on with it: heddle --resume ${sessionId}\n`);
  return 0;
};
