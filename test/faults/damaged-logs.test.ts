import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/engine/index.js';
import { createFileStore } from '../../src/engine/stores/file-store.js';
import { answerApproval } from '../../src/engine/session-functions/answer-pending.js';
import { listSessions } from '../../src/engine/session-functions/list.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { scratch, start } from '../engine/kit.js';
import { createAgents, errorOf, messagesOf } from './agents.js';

const line = (entry: object): string => `${JSON.stringify(entry)}\n`;
const prompt = (cwd: string, content = 'before') =>
  line({ type: 'user', uuid: 'a', parentUuid: null, cwd, isSidechain: false, message: { role: 'user', content } });

interface Damage {
  name: string;
  make(path: string, cwd: string): void;
  message: RegExp;
  hint: RegExp;
}

const NOTHING = { message: /holds no conversation/, hint: /empty or damaged\. Start a new session/ };
const NO_LOG = { message: /is not the log of a session/, hint: /left as it is\. Move it away, or start a new session/ };

const DAMAGES: readonly Damage[] = [
  { name: 'empty', make: (path) => writeFileSync(path, ''), ...NOTHING },
  { name: 'zeros, as after a power cut', make: (path) => writeFileSync(path, Buffer.alloc(5_000)), ...NOTHING },
  { name: 'cut in its first line', make: (path, cwd) => writeFileSync(path, prompt(cwd).slice(0, 40)), ...NOTHING },
  { name: 'of something else that is JSON', make: (path) => writeFileSync(path, '{"a":1}\n{"b":2}\n'), ...NOTHING },
  {
    name: 'binary',
    make: (path) => writeFileSync(path, Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7919) % 256))),
    ...NO_LOG,
  },
  { name: 'a text', make: (path) => writeFileSync(path, 'Dear reader,\n\nhello.\n'), ...NO_LOG },
  {
    name: 'a folder',
    make: (path) => mkdirSync(path),
    message: /cannot be read: EISDIR/,
    hint: /Nothing was changed\. Make it a file that you may read, or start a new session/,
  },
  {
    name: 'of a later format',
    make: (path, cwd) =>
      writeFileSync(path, line({ type: 'heddle', kind: 'session', format: 99, heddleVersion: '9.9.9' }) + prompt(cwd)),
    message: /written by a newer version of Heddle \(log format 99\)/,
    hint: /Use that version, or start a new session/,
  },
];

/** A session whose log was put there by hand. */
function place(make: Damage['make']) {
  const cwd = scratch();
  const store = createFileStore({ configDir: join(cwd, 'config') });
  const sessionId = crypto.randomUUID();
  const path = store.pathOf?.({ sessionId, cwd }) ?? '';
  mkdirSync(dirname(path), { recursive: true });
  make(path, cwd);
  const bytes = () => (statSync(path).isFile() ? readFileSync(path).toString('latin1') : 'a folder');
  const open = (config: Partial<SessionConfig>) => start(['fine'], { store, cwd, config });
  return { store, sessionId, bytes, open, cwd };
}

describe('H1, F3: a log that is', () => {
  it.each(DAMAGES)(
    '$name: a typed error that says what is safe, and the file stays',
    async ({ make, message, hint }) => {
      const { store, sessionId, bytes, open } = place(make);
      const before = bytes();
      const unreadable = {
        code: 'session_unreadable',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      };
      await expect(open({ resume: sessionId })).rejects.toMatchObject(unreadable);
      await expect(open({ resume: sessionId, forkSession: true })).rejects.toMatchObject(unreadable);
      await expect(
        answerApproval({ store, clock: systemClock }, { sessionId, answer: { behavior: 'allow' } }),
      ).rejects.toMatchObject(unreadable);
      // Its id is taken: nobody is to write behind what is there.
      await expect(open({ sessionId })).rejects.toMatchObject({
        code: expect.stringMatching(/^session_(exists|unreadable)$/),
      });
      expect(bytes()).toBe(before);
      // All of them let go.
      const lease = store.lease({ sessionId, cwd: '/' });
      expect(lease).not.toBeInstanceOf(Promise);
      await (await lease).release();
    },
  );

  it.each(DAMAGES)('$name: other sessions of the folder can be listed, begun and gone on with', async ({ make }) => {
    const { store, open, cwd } = place(make);
    const one = await open({});
    await one.ask('one');
    await one.session.close();
    const listed = await listSessions({ store }, { dir: cwd });
    expect(listed.map(({ sessionId }) => sessionId)).toContain(one.session.id);
    const again = await open({ resume: one.session.id });
    expect(await again.ask('two')).toMatchObject({ result: 'fine' });
    await again.session.close();
  });

  it('written on other systems, with CRLF or a mark of its encoding: it resumes, and loses the marked line at most', async () => {
    const text = (cwd: string) =>
      prompt(cwd) +
      line({ type: 'user', uuid: 'b', parentUuid: 'a', cwd, message: { role: 'user', content: 'second' } });
    for (const change of [(one: string) => one.replaceAll('\n', '\r\n'), (one: string) => `\ufeff${one}`]) {
      const { open, sessionId } = place((path, cwd) => writeFileSync(path, change(text(cwd))));
      const run = await open({ resume: sessionId });
      expect(await run.ask('and?')).toMatchObject({ result: 'fine' });
      expect(JSON.stringify(run.model.requests[0]?.body.messages)).toMatch(/second.*and\?/s);
      await run.session.close();
    }
  });

  it('not to be read by this user: a typed error in the process that tries', async () => {
    // For the superuser everything is to be read; anybody else will do.
    const someone = process.getuid?.() === 0 ? { uid: 65_534 } : {};
    const { sessionId, cwd, store } = place((path, folder) => writeFileSync(path, prompt(folder)));
    for (const folder of [cwd, join(cwd, 'config'), join(cwd, 'config/projects')]) chmodSync(folder, 0o777);
    const path = store.pathOf?.({ sessionId, cwd }) ?? '';
    chmodSync(dirname(path), 0o777);
    chmodSync(path, 0);
    const agents = await createAgents();
    try {
      const order = { cwd, configDir: join(cwd, 'config'), plan: 'count' as const, prompt: 'Go' };
      const said = await agents.start({ ...order, sessionId, open: 'resume' }, someone).ended;
      expect(errorOf(said)).toMatchObject({
        code: 'session_unreadable',
        message: expect.stringMatching(/cannot be read: EACCES/),
        hint: expect.stringMatching(/Nothing was changed/),
      });
      const other = await agents.start({ ...order, sessionId: crypto.randomUUID() }, someone).ended;
      expect(messagesOf(other).at(-1)).toMatchObject({ subtype: 'success' });
    } finally {
      await agents.stop();
      chmodSync(path, 0o600);
    }
    expect(existsSync(path)).toBe(true);
  });
});
