import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createEngine, createMemoryStore, serveHost, systemClock } from '../../src/engine/index.js';
import type { ScriptStep } from '../../src/engine/model/script-step.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import type { SessionConfig } from '../../src/protocol/index.js';
import { createStdioChannel } from '../../src/wire/index.js';
import { write } from '../commands/kit.js';
import { PATH_ENV, scratch } from './kit.js';

type Line = Record<string, unknown> & { type: string };

/** A client that speaks raw lines, as a foreign SDK does. */
function connect(
  script: readonly ScriptStep[] | undefined,
  config: Partial<SessionConfig> = {},
  files: Readonly<Record<string, string>> = {},
) {
  const input = new PassThrough();
  const output = new PassThrough();
  const lines: Line[] = [];
  let wake = () => {};
  let rest = '';
  output.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString('utf8')).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) lines.push(JSON.parse(part) as Line);
    wake();
  });
  const provider = script && createScriptedModel(script);
  const engine = createEngine({ clock: systemClock, store: createMemoryStore(), ...(provider && { provider }) });
  const cwd = scratch();
  write(cwd, files);
  const code = serveHost({
    engine,
    channel: createStdioChannel({ input, output }),
    config: { cwd, env: PATH_ENV, configDir: cwd, ...config },
  });
  const until = async (fits: (line: Line) => boolean): Promise<Line> => {
    for (;;) {
      const found = lines.find(fits);
      if (found) return found;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return {
    lines,
    code,
    until,
    raw: (text: string) => input.write(text),
    send: (frame: object) => input.write(`${JSON.stringify(frame)}\n`),
    request: (id: string, request: object) => {
      input.write(`${JSON.stringify({ type: 'control_request', request_id: id, request })}\n`);
      return until(
        (line) => line.type === 'control_response' && (line.response as { request_id: string }).request_id === id,
      );
    },
    prompt: (content: unknown) =>
      input.write(
        `${JSON.stringify({ type: 'user', session_id: '', message: { role: 'user', content }, parent_tool_use_id: null })}\n`,
      ),
    end: () => input.end(),
    vanish: () => {
      input.end();
      output.destroy(new Error('gone'));
    },
  };
}

/** Frontmatter that only the large reader of YAML makes something of, which is loaded for it. */
const SLOW_COMMANDS = Object.fromEntries(
  Array.from({ length: 200 }, (_, at) => [`commands/c${at}.md`, '---\ndescription: a: b\n---\nx']),
);

const isResult = (line: Line) => line.type === 'result';
/** On a slow machine a sign of life may come between any two. */
const tagsOf = (lines: readonly Line[]) =>
  lines
    .map((line) => (line.type === 'system' ? `system/${String(line.subtype)}` : line.type))
    .filter((tag) => tag !== 'keep_alive');

describe('the host on a wire', () => {
  it('answers initialize, then init, the answer and the result; exits 0 at the end of input', async () => {
    const client = connect(['Hello.']);
    const answer = await client.request('abc', { subtype: 'initialize', systemPrompt: '' });
    expect(answer.response).toMatchObject({ subtype: 'success', response: { models: expect.any(Array) } });
    client.prompt([{ type: 'text', text: 'Hi' }]);
    await client.until(isResult);
    client.end();
    expect(await client.code).toBe(0);
    expect(tagsOf(client.lines)).toEqual(['control_response', 'system/init', 'assistant', 'result']);
  });

  it('initialize.skills limits what the model may call, and allows nothing', async () => {
    const cwd = scratch();
    for (const name of ['forms', 'roofs']) {
      mkdirSync(join(cwd, '.claude/skills', name), { recursive: true });
      const text = `---\ndescription: d\nallowed-tools: Bash(touch:*)\n---\nText of ${name}.`;
      writeFileSync(join(cwd, '.claude/skills', name, 'SKILL.md'), text);
    }
    const skill = (name: string) => ({ id: name, name: 'Skill', input: { skill: name } });
    const client = connect([{ toolUse: [skill('forms'), skill('roofs')] }, 'ok'], {
      cwd,
      settingSources: ['project'],
      trusted: true,
    });
    await client.request('r1', { subtype: 'initialize', skills: ['forms'] });
    client.prompt('go');
    await client.until(({ type }) => type === 'result');
    const results = JSON.stringify(client.lines.filter(({ type }) => type === 'user'));
    expect(results).toContain('\\"roofs\\" is not among the skills of this session');
    // Somebody must agree to what it allows, and nobody can be asked.
    expect(results).not.toContain('Text of forms.');
    client.end();
    await client.code;
  });

  it.each([
    ['a prompt', (client: ReturnType<typeof connect>) => client.prompt('Hi')],
    ['a command that needs no model', (client: ReturnType<typeof connect>) => client.prompt('/cost')],
    ['nothing at all', () => undefined],
  ])('an initialize that takes long is answered first, also when input ends behind it: %s', async (_, prompt) => {
    const client = connect(['Hello.'], { settingSources: ['user'] }, SLOW_COMMANDS);
    const answer = client.request('abc', { subtype: 'initialize' });
    prompt(client);
    client.end();
    expect((await answer).response).toMatchObject({ subtype: 'success', request_id: 'abc' });
    await client.code;
    expect(tagsOf(client.lines)[0]).toBe('control_response');
  });

  it('the result of a session that cannot open comes after the answer to initialize', async () => {
    const client = connect(['Hello.'], { settingSources: ['user'], maxTurns: -1 }, SLOW_COMMANDS);
    void client.request('abc', { subtype: 'initialize' });
    client.prompt('Hi');
    client.end();
    expect(await client.code).toBe(1);
    expect(tagsOf(client.lines)).toEqual(['control_response', 'result']);
  });

  it('a request that is open when the last turn ends is answered', async () => {
    const client = connect(['Hello.']);
    client.prompt('Hi');
    const answer = client.request('usage', { subtype: 'get_context_usage' });
    client.end();
    await client.code;
    expect((await answer).response).toMatchObject({ subtype: 'success', request_id: 'usage' });
  });

  it('works without initialize, and with a second one', async () => {
    const client = connect(['one', 'two']);
    client.prompt('Hi');
    await client.until(isResult);
    expect((await client.request('r1', { subtype: 'initialize' })).response).toMatchObject({ subtype: 'success' });
    expect((await client.request('r2', { subtype: 'initialize' })).response).toMatchObject({ subtype: 'success' });
    client.end();
    expect(await client.code).toBe(0);
  });

  it('answers unknown subtypes, wrong params and wrong modes with errors, and goes on', async () => {
    const client = connect(['still here']);
    expect((await client.request('a', { subtype: 'no_such_subtype' })).response).toMatchObject({
      subtype: 'error',
      error: 'Unsupported control request subtype: no_such_subtype',
      error_code: 'unsupported_request',
    });
    expect((await client.request('b', { subtype: 'set_permission_mode', mode: 7 })).response).toMatchObject({
      subtype: 'error',
      error: expect.stringContaining('mode'),
    });
    expect((await client.request('c', { subtype: 'set_permission_mode', mode: 'bogus' })).response).toMatchObject({
      error: expect.stringContaining('must be one of'),
    });
    expect(
      (await client.request('d', { subtype: 'set_permission_mode', mode: 'bypassPermissions' })).response,
    ).toMatchObject({
      error: expect.stringContaining('not launched'),
    });
    client.send({ type: 'nonsense' });
    client.send({ type: 'keep_alive' });
    client.prompt('Hi');
    expect(await client.until(isResult)).toMatchObject({ result: 'still here' });
    client.end();
    expect(await client.code).toBe(0);
  });

  it('a user message of the wrong shape gets a result that names the field, and the session stays usable', async () => {
    const client = connect(['fine']);
    client.prompt(42);
    expect(await client.until(isResult)).toMatchObject({
      subtype: 'error_during_execution',
      is_error: true,
      error_code: 'invalid_frame',
      errors: expect.arrayContaining([expect.stringContaining('message.content')]),
    });
    client.prompt('Hi');
    expect(await client.until((line) => line.result === 'fine')).toBeTruthy();
    client.end();
    expect(await client.code).toBe(0);
  });

  it('a line that is no JSON ends the run with a typed error', async () => {
    const client = connect([]);
    client.raw('this is not json\n');
    await expect(client.code).rejects.toMatchObject({ code: 'invalid_frame' });
  });

  it('asks with can_use_tool only when the client said it answers', async () => {
    const call = { toolUse: { name: 'Bash', input: { command: 'touch a' }, id: 't' } };
    const silent = connect([call, 'ok']);
    silent.prompt('go');
    expect(await silent.until(isResult)).toMatchObject({ permission_denials: [{ tool_use_id: 't' }] });
    silent.end();
    const asked = connect([call, 'ok'], { permissionPromptTool: 'stdio' });
    asked.prompt('go');
    const question = await asked.until((line) => line.type === 'control_request');
    expect(question.request).toMatchObject({ subtype: 'can_use_tool', tool_name: 'Bash', tool_use_id: 't' });
    asked.send({
      type: 'control_response',
      response: { subtype: 'success', request_id: question.request_id, response: { allowed: false, reason: 'no' } },
    });
    expect(await asked.until(isResult)).toMatchObject({ permission_denials: [{ tool_use_id: 't' }] });
    asked.end();
    await asked.code;
  });

  it('interrupt cancels an open question and is answered at once', async () => {
    const call = { toolUse: { name: 'Bash', input: { command: 'touch a' } } };
    const client = connect([call], { permissionPromptTool: 'stdio' });
    client.prompt('go');
    const question = await client.until((line) => line.type === 'control_request');
    expect((await client.request('i', { subtype: 'interrupt' })).response).toMatchObject({ subtype: 'success' });
    expect(await client.until((line) => line.type === 'control_cancel_request')).toMatchObject({
      request_id: question.request_id,
    });
    expect(await client.until(isResult)).toMatchObject({ subtype: 'error_during_execution', is_error: false });
    client.end();
    expect(await client.code).toBe(0);
  });

  it.each([
    ['no provider', undefined, {}, 'no_provider'],
    ['unknown session', [], { resume: '00000000-0000-4000-8000-000000000000' }, 'session_not_found'],
    ['missing folder', [], { cwd: '/no/such/folder' }, 'invalid_config'],
  ] as const)('what cannot start is a lone result and exit code 1: %s', async (_, script, config, code) => {
    const client = connect(script, config);
    client.prompt('Hi');
    client.end();
    expect(await client.code).toBe(1);
    expect(client.lines).toMatchObject([{ type: 'result', is_error: true, error_code: code }]);
  });

  it('B1: a client that vanishes in the middle of a turn ends everything', async () => {
    const never = new Promise<never>(() => {});
    const client = connect([{ text: 'x', waitFor: never }]);
    client.prompt('go');
    await client.until((line) => line.type === 'system');
    client.vanish();
    expect(await client.code).toEqual(expect.any(Number));
  });

  it('half-close: what was sent in before the end of input is still answered', async () => {
    const client = connect(['one', 'two']);
    client.prompt('1');
    client.prompt('2');
    client.end();
    expect(await client.code).toBe(0);
    expect(client.lines.filter(isResult).map((line) => line.result)).toEqual(['one', 'two']);
  });
});
