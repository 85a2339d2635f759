import { describe, expect, it } from 'vitest';
import { hideInText, hideSecrets, secretsOf, showConfig } from '../../../src/engine/mcp/secrets.js';
import { toPhaseError } from '../../../src/engine/mcp/remote/phase-error.js';

const http = (url: string, headers?: Record<string, string>) => ({
  type: 'http' as const,
  url,
  ...(headers && { headers }),
});
const basic = Buffer.from('user:PASSW0RDX').toString('base64');

describe('secrets of a server', () => {
  it.each([
    ['a header', http('https://x', { 'X-Key': 'KEY-12345' }), 'key KEY-12345!', 'key ***!'],
    ['a key behind its scheme', http('https://x', { Authorization: 'Bearer tok-12345' }), 'bad tok-12345', 'bad ***'],
    ['a login', http('https://x', { Authorization: `Basic ${basic}` }), `${basic} PASSW0RDX`, '*** ***'],
    [
      'a password in an address',
      http('https://user:PASSW0RDX@x/mcp'),
      'no https://user:PASSW0RDX@x',
      'no https://***@x',
    ],
    ['a user without a password', http('https://TOKEN-123@x/mcp'), 'TOKEN-123', '***'],
    ['a value of a query', http('https://x/mcp?api_key=SUPERSECRET&a=b'), 'api_key=SUPERSECRET a=b', 'api_key=*** a=b'],
    ['one as addresses write it', http('https://x/mcp?k=a%2Fb%2Fc%2Fd'), 'a/b/c/d a%2Fb%2Fc%2Fd', '*** ***'],
    ['a variable of any name', { command: 'x', env: { LEVEL: 'HUNTER2PW' } }, 'HUNTER2PW', '***'],
    [
      'a password inside a variable',
      { command: 'x', env: { DATABASE_URL: 'postgres://u:HUNTER2PW@h/db' } },
      'auth failed: HUNTER2PW',
      'auth failed: ***',
    ],
    ['an argument behind its name', { command: 'x', args: ['--api-key', 'HUNTER2PW'] }, 'HUNTER2PW', '***'],
    ['a password in an argument', { command: 'x', args: ['postgres://u:HUNTER2PW@h/db'] }, 'no HUNTER2PW', 'no ***'],
    ['nothing that is short', { command: 'x', env: { LOG: '1' } }, 'line 1', 'line 1'],
  ])('hides %s', (_, config, text, shown) => {
    const secrets = secretsOf(config);
    expect(secrets.hide(text)).toBe(shown);
    const about = { server: 's', phase: 'call' as const, evidence: { stderr: text }, secrets };
    const { message, data } = toPhaseError(new Error(text), about);
    expect(message).toBe(`MCP server s failed in call: ${shown}.\nThe end of its stderr:\n${shown}`);
    expect(data).toMatchObject({ stderr: shown });
    expect(secrets.hideIn({ line: text, list: [text], error: new Error(text) })).toEqual({
      line: shown,
      list: [shown],
      error: shown,
    });
  });

  it('hides what becomes known later', () => {
    const secrets = secretsOf(http('https://x'));
    secrets.add('Bearer oauth-token-1');
    expect(secrets.hide('it says oauth-token-1')).toBe('it says ***');
  });
});

describe('a command as it is shown', () => {
  it.each([
    ['curl -H "Authorization: Bearer abcdef" x', 'curl -H "Authorization: Bearer ***" x'],
    ['TOKEN=abc ./check --api-key xyz --token="q"', 'TOKEN=*** ./check --api-key *** --token="***"'],
    ['TOKEN=$T ./check --api-key $K --key-file', 'TOKEN=$T ./check --api-key $K --key-file'],
    ['npm test -- --watch', 'npm test -- --watch'],
  ])('%s', (command, shown) => {
    expect(hideInText(command)).toBe(shown);
  });
});

describe('a config as it is shown', () => {
  it.each([
    ['https://user:pw@x/p?k=v&b=${B}&flag#frag', 'https://***@x/p?k=***&b=${B}&***#***'],
    ['https://x/p', 'https://x/p'],
    ['https://${USER}@x', 'https://${USER}@x'],
  ])('%s', (url, shown) => {
    expect(showConfig(http(url)).url).toBe(shown);
  });

  it('has no values of headers and variables, but names of variables', () => {
    expect(showConfig(http('https://x', { A: 'secret', B: 'Bearer ${TOKEN}' }))).toEqual({
      type: 'http',
      url: 'https://x',
      headers: { A: '***', B: 'Bearer ${TOKEN}' },
    });
    expect(showConfig({ command: 'x', env: { A: 'b' } })).toEqual({ command: 'x', env: { A: '***' } });
  });

  it.each([
    [
      ['--token', 'abc'],
      ['--token', '***'],
    ],
    [
      ['--token=abc', '-y', 'some-package'],
      ['--token=***', '-y', 'some-package'],
    ],
    [
      ['-e', 'API_KEY=abc', '-e', 'LEVEL=3'],
      ['-e', 'API_KEY=***', '-e', 'LEVEL=3'],
    ],
    [
      ['--header', 'Authorization: Bearer abc'],
      ['--header', 'Authorization: ***'],
    ],
    [
      ['--header', 'Authorization:${TOKEN}'],
      ['--header', 'Authorization:${TOKEN}'],
    ],
    [
      ['--auth', '--verbose'],
      ['--auth', '--verbose'],
    ],
    [
      ['postgres://u:pw@h/db', 'https://x/mcp'],
      ['postgres://***@h/db', 'https://x/mcp'],
    ],
  ])('has the arguments %j', (args, shown) => {
    expect(showConfig({ command: 'x', args }).args).toEqual(shown);
  });

  it.each([
    'x-api-key',
    'X_API_KEY',
    'apikey',
    'privateKey',
    'private_key',
    'private-key-pem',
    'accessTokens',
    'ACCESS-TOKEN',
    'AWSSecretValue',
    'dbPassword',
    'DB_PASS',
    'Credentials',
    'clientSecret',
    'authorization',
    'bearer',
    'github-pat',
    'otelHeadersHelper',
  ])('hides %s, whatever it holds and however deep it is', (name) => {
    for (const value of ['swordfish', ['swordfish'], { a: 'swordfish' }]) {
      const shown = JSON.stringify(hideSecrets({ [name]: value, a: [{ b: { [name]: value } }] }));
      expect(shown).not.toContain('swordfish');
    }
  });

  it('a number may be a secret, too', () => {
    expect(hideSecrets({ password: 1234, maxThinkingTokens: 1234 })).toEqual({
      password: '***',
      maxThinkingTokens: 1234,
    });
  });

  it.each([
    { maxThinkingTokens: 4000, keybindings: 'vi', tokenizer: 'x', includeCoAuthoredBy: true, disableBypass: 'x' },
    { hasApiKey: true, token: null, list: [1, 'a', null], address: 'https://example.org/a/b' },
    { hooks: { Stop: [{ matcher: '*', hooks: [{ type: 'command', command: 'echo a@b http://c/d' }] }] } },
    { apiKey: '${KEY}', oauth: { clientId: 'x', callbackPort: 1 } },
  ])('leaves %j', (settings) => {
    expect(hideSecrets(settings)).toEqual(settings);
  });

  it.each([
    ['proxyUrl', 'http://a:PW@h', 'http://***@h'],
    ['repo', 'https://tok:PW@example.org/x.git', 'https://***@example.org/x.git'],
    ['address', 'https://h/p?key=PW#PW', 'https://h/p?key=***#***'],
    ['command', 'git clone https://tok:PW@h/x.git && ls', 'git clone https://***@h/x.git && ls'],
    [
      'command',
      `curl -H "Authorization: Basic PW" -H 'authorization:PW' x`,
      `curl -H "Authorization: Basic ***" -H 'authorization:***' x`,
    ],
    ['command', 'call --with "Bearer PW" "Bearer ${KEY}"', 'call --with "Bearer ***" "Bearer ${KEY}"'],
    ['where', 'see(http://PW@h, ftp://${USER}@h)', 'see(http://***@h, ftp://${USER}@h)'],
  ])('hides who stands in the address of %s', (name, text, shown) => {
    expect(hideSecrets({ [name]: text, deep: [{ [name]: [text] }] })).toEqual({
      [name]: shown,
      deep: [{ [name]: [shown] }],
    });
  });

  it('arguments that are no texts hide nothing of those that are', () => {
    expect(hideSecrets({ args: [1, '--token', 'PW', { a: 1 }] })).toEqual({ args: ['1', '--token', '***', '{"a":1}'] });
  });
});
