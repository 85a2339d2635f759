/** A machine with settings files, and sessions on it. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import type { Message, SessionConfig } from '../../src/protocol/index.js';
import { SETTING_SOURCES } from '../../src/protocol/plain.js';
import { PATH_ENV, type Run, type RunOptions, start } from '../engine/kit.js';
import { createPlace, type Place } from '../settings/place.js';

export interface Stage extends Place {
  env: Record<string, string>;
  /** Opens a session in the project: all layers, trusted, unless said otherwise. */
  open(script: readonly ScriptStep[], options?: RunOptions): Promise<Run>;
  exists(name: string): boolean;
}

export function createStage(): Stage {
  const place = createPlace();
  const env = { ...PATH_ENV, HOME: place.home };
  return {
    ...place,
    env,
    exists: (name) => existsSync(place.path(name)),
    async open(script, options = {}) {
      const base: Partial<SessionConfig> = {
        env,
        configDir: place.config,
        managedDir: place.managed,
        settingSources: [...SETTING_SOURCES],
        trusted: true,
      };
      const run = await start(script, { cwd: place.project, ...options, config: { ...base, ...options.config } });
      onTestFinished(() => closeRun(run));
      return run;
    },
  };
}

/** Whatever a session waits for at its end is over at once: its clock would stand still for ever. */
export async function closeRun({ session, clock }: Run): Promise<void> {
  let isOpen = true;
  const closed = session.close().finally(() => {
    isOpen = false;
  });
  while (isOpen) {
    await Promise.race([closed, clock.armed()]);
    clock.advance(20);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await closed;
}

/** One call of a tool. */
export const call = (name: string, input: Record<string, unknown>, id = 't1') => ({ toolUse: { name, input, id } });

export const bash = (command: string, id = 't1') => call('Bash', { command }, id);

export const BYPASS = { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true } as const;

/** Someone who is asked, and what about. */
export function person(answer: (question: Asked) => unknown = () => ({ behavior: 'deny', message: 'no' })) {
  const asked: Asked[] = [];
  const ask = async (question: object): Promise<unknown> => {
    asked.push(question as Asked);
    return answer(question as Asked);
  };
  return { ask, asked, ids: () => asked.map(({ tool_use_id }) => tool_use_id) };
}

export interface Asked {
  tool_name: string;
  tool_use_id: string;
  input: Record<string, unknown>;
  permission_suggestions?: unknown[];
  decision_reason?: string;
}

export interface Listener {
  url: string;
  /** The bodies of all requests so far. */
  requests: string[];
}

/** An address on this machine that writes down who comes. */
export async function listen(
  answer: (body: string, request: IncomingMessage) => string | { status: number; body: string } = () => '',
): Promise<Listener> {
  const requests: string[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      requests.push(body);
      const said = answer(body, request);
      const { status, body: text } = typeof said === 'string' ? { status: 200, body: said } : said;
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

/** Texts that the person is shown. */
export const notices = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) =>
    message.type === 'system' && message.subtype === 'informational' ? [message.content] : [],
  );

/** The contents, or undefined where there is no file. */
export const textOf = (path: string): string | undefined =>
  statSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, 'utf8') : undefined;
