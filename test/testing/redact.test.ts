import { describe, expect, it } from 'vitest';
import { redactSecrets } from '../../src/engine/model/redact.js';
import type { ModelProvider } from '../../src/protocol/index.js';
import { HeddleError } from '../../src/protocol/plain.js';
import { query } from '../../src/sdk/index.js';
import {
  collect,
  createApiProvider,
  createMemoryStore,
  createRecorder,
  createReplay,
  createScriptedModel,
  startFakeApi,
  toolResults,
} from '../../src/testing/index.js';
import { answer, ask, ENV, scratch } from './scratch.js';

/** Put together here, so that nobody takes the test for a leak. */
const KEY = ['sk', 'ant', 'api03', 'PLANTEDPLANTEDPLANTED'].join('-');
const GITHUB = ['ghp', 'PLANTEDplantedPLANTEDplanted0123456789'].join('_');
const PEM = ['-----BEGIN RSA PRIV', 'ATE KEY-----\nPLANTED\nPLANTED\n-----END RSA PRIV', 'ATE KEY-----'].join('');

const recorded = async (
  provider: ModelProvider,
  requests: Parameters<typeof ask>[],
  redact?: (text: string) => string,
) => {
  const lines: string[] = [];
  const recorder = createRecorder(provider, { sink: (line) => void lines.push(line), ...(redact && { redact }) });
  for (const request of requests) await answer(recorder, ask(...request)).catch(() => {});
  return lines;
};

describe('secrets in a text', () => {
  it.each([
    [`use ${KEY}, please`, 'use [secret], please'],
    [`token ${GITHUB}`, 'token [secret]'],
    [`a\n${PEM}\nb`, 'a\n[secret]\nb'],
    ['Authorization: Bearer PLANTED-token', 'Authorization: [secret]'],
    [
      `curl -H "authorization: Basic PLANTED=" -H 'x-api-key: PLANTED' u`,
      `curl -H "authorization: [secret]" -H 'x-api-key: [secret]' u`,
    ],
    ['got Bearer PLANTED.PLANTED back', 'got Bearer [secret] back'],
    [`Basic ${btoa('me:PLANTED')}`, 'Basic [secret]'],
    ['export MY_TOKEN=PLANTED; DB_PASSWORD="PLANTED" run', 'export MY_TOKEN=[secret]; DB_PASSWORD="[secret]" run'],
    ['{"apiKey": "PLANTED", "n": 1}', '{"apiKey": "[secret]", "n": 1}'],
    ['{\\"password\\": \\"PLANTED\\"}', '{\\"password\\": \\"[secret]\\"}'],
    ["const options = { anthropic_api_key: 'PLANTED' };", "const options = { anthropic_api_key: '[secret]' };"],
    ['postgres://me:PLANTED@host/db', 'postgres://me:[secret]@host/db'],
    ['https://host/x?access_token=PLANTED&y=1', 'https://host/x?access_token=[secret]&y=1'],
    ['Set-Cookie: id=PLANTED; HttpOnly\r\nnext', 'Set-Cookie: [secret]\r\nnext'],
    ['eyJPLANTED00.eyJPLANTED00.PLANTED', '[secret]'],
    ['AKIAPLANTED000000000', '[secret]'],
  ])('%j', (text, shown) => {
    expect(redactSecrets(text)).toBe(shown);
    expect(redactSecrets(shown)).toBe(shown);
  });

  it.each([
    'Basic understanding of Bearer authentication',
    'max_tokens=100 MAX_TOKENS=100 tokens: 5',
    'export TOKEN=$OTHER_TOKEN',
    'a key is a key; the token bucket; PUBLIC_KEY=abc',
    'https://host:8080/a@b?page=2',
    'sk-short and task-management-software',
    'const token = createToken();',
  ])('leaves alone: %j', (text) => {
    expect(redactSecrets(text)).toBe(text);
  });
});

describe('a cassette holds no secrets', () => {
  it('of keys, headers, prompts, answers and errors, and is found again with them', async () => {
    const PLAIN = 'PLANTED-plain-value';
    const api = await startFakeApi([
      (request) => ({ text: `You said ${JSON.stringify(request.body.messages[0])}, I say ${KEY}`, deltas: 40 }),
      { toolUse: { name: 'Bash', input: { command: `curl -H "x-api-key: ${PLAIN}"`, token: PLAIN } }, deltas: 30 },
      { status: 400, body: `your key ${KEY} and your header ${PLAIN} are bad` },
    ]);
    try {
      const live = await createApiProvider({
        env: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: api.url, ANTHROPIC_CUSTOM_HEADERS: `X-Auth: ${PLAIN}` },
      });
      const redact = (text: string) => text.replaceAll(PLAIN, '[mine]');
      const prompt = `My key is ${KEY}, password ${PLAIN}.`;
      const tools = [{ name: GITHUB, input_schema: { default: { authorization: 'PLANTED' } } }];
      const requests: Parameters<typeof ask>[] = [[prompt, { tools }], [prompt], ['third']];
      const lines = await recorded(live, requests, redact);
      expect(lines).toHaveLength(4);
      expect(JSON.parse(lines[3] ?? '')).toMatchObject({ error: { code: 'model_bad_request' } });
      expect(api.requests[0]?.headers).toMatchObject({ 'x-api-key': KEY, 'x-auth': PLAIN });
      expect(lines.join('\n')).not.toContain('PLANTED');

      const replay = createReplay(lines, { redact });
      expect(await answer(replay, ask(prompt, { tools }))).toContain('I say [secret]');
      await answer(replay, ask(prompt));
      await expect(answer(replay, ask('third'))).rejects.toThrow('[secret]');
      replay.assertDone();
    } finally {
      await api.close();
    }
  });

  it('even where deltas and escapes cut them', async () => {
    const secret = 'PLANTED"with\\quotes';
    const model = createScriptedModel(
      [
        { thinking: `think ${KEY}`, text: `say ${KEY} now`, toolUse: { name: 'T', input: { text: `a ${secret} b` } } },
        {
          text: KEY,
          error: new HeddleError('model_server', `failed for ${secret}`, { data: { at: { deep: [secret] } } }),
        },
      ],
      { deltaSize: 3 },
    );
    const lines = await recorded(model, [['1'], ['2']], (text) => text.replaceAll(secret, '[mine]'));
    expect(lines.join('\n')).not.toMatch(/PLANTED|LAN|NTED/);
    const replay = createReplay(lines);
    const inputs: string[] = [];
    for await (const [event] of replay.stream(ask('1'), { signal: new AbortController().signal })) {
      if (event?.type !== 'content_block_delta' || event.delta.type !== 'input_json_delta') continue;
      inputs.push(event.delta.partial_json);
    }
    expect(inputs).toEqual(['{"text":"a [mine] b"}']);
  });

  it('and a session that meets them replays: the agent then works with the mark', async () => {
    const options = (provider: ModelProvider) => ({
      cwd: scratch(),
      env: ENV,
      model: 'sonnet',
      permissionMode: 'acceptEdits' as const,
      heddle: { provider, store: createMemoryStore() },
    });
    const lines: string[] = [];
    const model = createScriptedModel([
      { toolUse: { name: 'Write', input: { file_path: '.env.txt', content: `KEY ${KEY}` } } },
      { toolUse: { name: 'Read', input: { file_path: '.env.txt' } } },
      'Done.',
    ]);
    const recorder = createRecorder(model, { sink: (line) => void lines.push(line) });
    await collect(query({ prompt: `Keep ${KEY}`, options: options(recorder) }));
    model.assertDone();
    const replay = createReplay(lines);
    const messages = await collect(query({ prompt: `Keep ${KEY}`, options: options(replay) }));
    replay.assertDone();
    expect(toolResults(messages).at(-1)?.text).toBe('1\tKEY [secret]');
    expect(lines.join('\n')).not.toContain('PLANTED');
  });
});
