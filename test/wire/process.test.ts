import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStdioChannel, Peer } from '../../src/wire/index.js';
import { createManualClock, textDelta, userMessage } from './doubles.js';
import { removeFolder } from '../remove-folder.js';

let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-wire-'));
  const bundle = async (name: string, external: string[]): Promise<void> => {
    await build({
      entryPoints: [fileURLToPath(new URL(`child/${name}.ts`, import.meta.url))],
      outdir: join(folder, name),
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node22',
      external,
    });
  };
  await Promise.all([bundle('stdio-child', []), bundle('zod-child', ['zod'])]);
});

afterAll(() => removeFolder(folder));

const programOf = (name: string): string => join(folder, name, `${name}.mjs`);

const start = (...args: string[]): ChildProcessWithoutNullStreams =>
  spawn(process.execPath, [programOf('stdio-child'), ...args]);

function connect(child: ChildProcessWithoutNullStreams) {
  return new Peer(createStdioChannel({ input: child.stdout, output: child.stdin, readToEnd: true }), {
    side: 'host',
    clock: createManualClock(),
  });
}

describe('a process on its own stdio', () => {
  it('answers, sends, and exits by itself when both sides have ended (B1)', async () => {
    const child = start('echo');
    const peer = connect(child);
    expect(await peer.request('set_model', { model: 'm' })).toEqual({ model: 'resolved-m' });
    const sent = [userMessage('a\u2028b 漢😀'), textDelta('c'), userMessage('x'.repeat(500_000))];
    for (const message of sent) peer.send(message);
    peer.end();
    const seen = [];
    for await (const message of peer.messages) seen.push(message);
    expect(seen).toEqual(sent);
    expect(await peer.closed).toBeUndefined();
    if (child.exitCode === null) await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  });

  it('loses nothing when it exits as soon as its output is flushed to a slow reader', async () => {
    const child = start('flood', '20000');
    // Nothing is read until the child has filled the pipe and waits.
    const [stderr] = (await once(child.stderr, 'data')) as [Buffer];
    const peer = connect(child);
    let seen = '';
    for await (const message of peer.messages) {
      if (message.type === 'stream_event') seen += (message.event as { delta: { text: string } }).delta.text;
    }
    expect(seen).toBe(Array.from({ length: 20_000 }, (_, n) => `${n},`).join(''));
    expect(await peer.closed).toBeUndefined();
    expect(Number(/buffered (\d+)/.exec(stderr.toString())?.[1])).toBeGreaterThan(1_000_000);
    if (child.exitCode === null) await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  });

  it('closes with channel_closed when its reader vanishes, without a crash', async () => {
    const child = start('until-closed');
    await once(child.stdout, 'data');
    child.stdout.destroy();
    expect(await text(child.stderr)).toBe('closed: channel_closed\n');
    if (child.exitCode === null) await once(child, 'exit');
    expect([child.exitCode, child.signalCode]).toEqual([0, null]);
    child.stdin.destroy();
  });
});

describe('the schema library', () => {
  it('is loaded by the first frame of an untrusted channel that needs a check, and never by a trusted one', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [programOf('zod-child')]);
    expect(JSON.parse(stdout)).toEqual({ trusted: false, deltas: false, messages: true });
  });
});
