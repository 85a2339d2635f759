/** Logs as they lie on the disk, written by hand. */
import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../../src/engine/index.js';
import { createFileStore, projectSlug } from '../../src/engine/stores/file-store.js';
import * as functions from '../../src/engine/session-functions/functions.js';
import type { SessionParts } from '../../src/engine/session-functions/named.js';
import type { Clock } from '../../src/protocol/index.js';
import { scratch } from '../engine/kit.js';

export const USAGE = { input_tokens: 10, output_tokens: 5 };

interface MakerOptions {
  sessionId?: string;
  cwd?: string;
  time?: number;
}

/** Writes the lines of one session, each linked to the one before. */
export class LogMaker {
  readonly sessionId: string;
  readonly cwd: string;
  readonly lines: object[] = [];
  readonly uuids: string[] = [];
  #time: number;
  #leaf: string | null = null;

  constructor({ sessionId, cwd = '/home/user/shop', time = Date.UTC(2026, 0, 2) }: MakerOptions = {}) {
    this.sessionId = sessionId ?? randomUUID();
    this.cwd = cwd;
    this.#time = time;
    this.life({ kind: 'session', format: 2, heddleVersion: '0.1.0' });
  }

  #stamp(): string {
    this.#time += 1000;
    return new Date(this.#time).toISOString();
  }

  life(fields: object): this {
    this.lines.push({ type: 'heddle', sessionId: this.sessionId, timestamp: this.#stamp(), ...fields });
    return this;
  }

  line(line: object): this {
    this.lines.push(line);
    return this;
  }

  chain(fields: object): this {
    const uuid = randomUUID();
    this.lines.push({
      uuid,
      parentUuid: this.#leaf,
      sessionId: this.sessionId,
      timestamp: this.#stamp(),
      cwd: this.cwd,
      version: '2.1.50',
      userType: 'external',
      isSidechain: false,
      writer: 'heddle',
      ...fields,
    });
    this.uuids.push(uuid);
    this.#leaf = uuid;
    return this;
  }

  prompt(content: string | object[], fields: object = {}): this {
    return this.chain({ type: 'user', message: { role: 'user', content }, ...fields });
  }

  /** A turn with its answer. */
  turn(prompt: string, ...blocks: (string | object)[]): this {
    this.life({ kind: 'turn', state: 'started' });
    this.prompt(prompt).answer(...blocks);
    return this.life({ kind: 'turn', state: 'ended', subtype: 'success' });
  }

  answer(...blocks: (string | object)[]): this {
    const id = `msg_${randomUUID()}`;
    for (const block of blocks) {
      const content = [typeof block === 'string' ? { type: 'text', text: block } : block];
      this.chain({ type: 'assistant', message: { id, role: 'assistant', model: 'm', content, usage: USAGE } });
    }
    return this.life({
      kind: 'step',
      messageId: id,
      model: 'm',
      stopReason: 'end_turn',
      usage: USAGE,
      microCents: 2e8,
      durationMs: 1,
    });
  }

  call(id: string, name: string, input: object): this {
    return this.answer({ type: 'tool_use', id, name, input });
  }

  result(id: string, content: string, fields: object = {}): this {
    return this.prompt([{ type: 'tool_result', tool_use_id: id, content, ...fields }]);
  }

  boundary(content = 'Conversation compacted'): this {
    const before = this.#leaf;
    this.chain({
      type: 'system',
      subtype: 'compact_boundary',
      content,
      isMeta: false,
      level: 'info',
      parentUuid: null,
      logicalParentUuid: before,
      compactMetadata: { trigger: 'manual', preTokens: 900 },
    });
    return this;
  }
}

/** Nobody waits long for a lease here. */
export const hastyClock: Clock = {
  ...systemClock,
  after: (ms, callback, options) => systemClock.after(ms < 1000 ? 0 : ms, callback, options),
};

export interface Place {
  configDir: string;
  parts: SessionParts & { indexFile: string };
  /** Appends all lines of a maker that are not there yet. */
  write(maker: LogMaker): string;
  read(maker: { sessionId: string; cwd: string }): string;
  pathOf(maker: { sessionId: string; cwd: string }): string;
}

export function createPlace(): Place {
  const configDir = join(scratch(), 'config');
  const pathOf = ({ sessionId, cwd }: { sessionId: string; cwd: string }) =>
    join(configDir, 'projects', projectSlug(cwd), `${sessionId}.jsonl`);
  return {
    configDir,
    parts: {
      store: createFileStore({ configDir, clock: hastyClock }),
      clock: systemClock,
      indexFile: join(configDir, 'search.db'),
    },
    write(maker) {
      const path = pathOf(maker);
      mkdirSync(dirname(path), { recursive: true });
      appendFileSync(
        path,
        maker.lines
          .splice(0)
          .map((line) => `${JSON.stringify(line)}\n`)
          .join(''),
      );
      return maker.sessionId;
    },
    read: (maker) => readFileSync(pathOf(maker), 'utf8'),
    pathOf,
  };
}

/** Whatever the lines hold. */
export const entriesIn = (text: string): { type: string; uuid?: string; [field: string]: unknown }[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string });

export { functions };
