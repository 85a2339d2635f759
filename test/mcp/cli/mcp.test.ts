import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runMcp } from '../../../src/cli/mcp.js';
import { askApprovals } from '../../../src/cli/mcp-approve.js';
import { createTrust } from '../../../src/engine/settings/trust.js';
import { browse, startAuthServer } from '../auth/auth-server.js';
import { createProject } from '../sources/kit.js';

const server = fileURLToPath(new URL('./plain-server.mjs', import.meta.url));
let project: ReturnType<typeof createProject>;
beforeEach(() => {
  project = createProject();
});
afterEach(() => project.remove());

async function run(
  argv: readonly string[],
  given: { env?: Record<string, string>; openPage?: (url: URL) => void } = {},
) {
  let out = '';
  let err = '';
  const code = await runMcp(argv, {
    stdin: Readable.from([]),
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    cwd: project.root,
    configDir: project.configDir,
    home: project.folder,
    managedDir: join(project.folder, 'policy'),
    env: { PATH: process.env['PATH'] ?? '', ...given.env },
    ...(given.openPage && { openPage: given.openPage }),
  });
  const hide = (text: string) => text.replaceAll(project.folder, '~');
  return { code, out: hide(out), err: hide(err) };
}
const read = (file: string) => readFileSync(join(project.folder, file), 'utf8');
const trust = () => createTrust({ configDir: project.configDir, home: project.folder }).trust(project.root);

describe('heddle mcp add and remove', () => {
  it('writes a command into the local file, and says that it waits for trust', async () => {
    expect(
      await run(['add', 'docs', '-e', 'A=b=c', '--timeout', '5000', '--', 'npx', '-y', 'docs', '--scope', 'x']),
    ).toEqual({
      code: 0,
      out: 'Added "docs" to ~/project/.claude/settings.local.json: npx -y docs --scope x\n',
      err: 'warning: it does not run yet: this folder is not trusted. To trust it: heddle trust\n',
    });
    expect(JSON.parse(read('project/.claude/settings.local.json'))).toEqual({
      mcpServers: {
        docs: {
          type: 'stdio',
          command: 'npx',
          args: ['-y', 'docs', '--scope', 'x'],
          env: { A: 'b=c' },
          timeout: 5000,
        },
      },
    });
    expect(statSync(join(project.folder, 'project/.claude/settings.local.json')).mode & 0o777).toBe(0o600);
  });

  it('writes addresses, headers and logins for the user, and keeps comments', async () => {
    project.write('config/settings.json', '{\n  // mine\n  "model": "x"\n}\n');
    const words = ['add', 'web', 'https://x.example/mcp', '-H', 'Authorization: Bearer ${T}', '--client-id', 'me'];
    const { code, out } = await run([...words, '--callback-port', '8123', '-s', 'user']);
    expect([code, out]).toEqual([0, 'Added "web" to ~/config/settings.json: https://x.example/mcp\n']);
    expect(read('config/settings.json')).toBe(`{
  // mine
  "model": "x",
  "mcpServers": {
    "web": {
      "type": "http",
      "url": "https://x.example/mcp",
      "headers": {
        "Authorization": "Bearer \${T}"
      },
      "oauth": {
        "clientId": "me",
        "callbackPort": 8123
      }
    }
  }
}
`);
    expect((await run(['remove', 'web'])).out).toBe('Removed "web" from ~/config/settings.json\n');
    expect(read('config/settings.json')).toContain('// mine');
    expect(read('config/settings.json')).not.toContain('x.example');
  });

  it('approves what it adds to the project, and warns of secrets in a shared file', async () => {
    await trust();
    const { err } = await run(['add', '-s', 'project', 'web', 'https://x.example', '-H', 'X-Key: abc']);
    expect(err).toBe('warning: ~/project/.mcp.json is shared with the project; name secrets as ${VARIABLE}.\n');
    expect((await run(['list'])).out).toContain('ready');
    await run(['remove', 'web']);
    await run(['add-json', '-s', 'project', 'web', '{"command":"evil"}']);
    expect(JSON.parse(read('project/.mcp.json'))).toEqual({ mcpServers: { web: { command: 'evil' } } });
  });

  it('leaves a bare table of servers bare', async () => {
    project.write('project/.mcp.json', { a: { command: 'a' } });
    await run(['add', '-s', 'project', 'b', 'b']);
    expect(Object.keys(JSON.parse(read('project/.mcp.json')) as object)).toEqual(['a', 'b']);
  });

  it.each([
    [['add', 'x'], '"mcp add" needs a name, and a command or an address'],
    [['add', 'x', 'cmd', '--scope', 'user'], '--scope after the command would go to the command'],
    [['add', '-s', 'world', 'x', 'cmd'], '--scope takes local, project, user, not "world"'],
    [['add', '-t', 'pigeon', 'x', 'cmd'], '--transport takes stdio, http, sse, not "pigeon"'],
    [['add', '-e', 'novalue', 'x', 'cmd'], '--env takes NAME=value, not "novalue"'],
    [['add', '-H', 'A: b', 'x', 'cmd'], '--header is for servers that are reached by HTTP'],
    [['add', '-H', 'novalue', 'x', 'https://x'], '--header takes "Name: value", not "novalue"'],
    [['add', '-e', 'A=b', 'x', 'https://x'], '--env is for servers that are started here'],
    [['add', '--timeout', 'soon', 'x', 'cmd'], '--timeout takes a whole number above 0, not "soon"'],
    [['add', 'ide', 'cmd'], 'its name is reserved'],
    [['add-json', 'x', '{'], 'this is no JSON'],
    [['add-json', 'x', '{"type":"carrier"}'], 'there is no server of type "carrier"'],
    [['add-json', 'x', '{"type":"sdk","name":"x"}'], 'lives in a program, not in a file'],
    [['remove', 'x'], 'no file has a server "x"'],
    [['get', 'x'], 'there is no MCP server "x". There are none.'],
    [['test', 'x'], 'there is no MCP server "x"'],
    [['list', '--all'], '"mcp list" takes no --all'],
    [['list', 'x'], '"mcp list" takes no more than 0 word(s)'],
    [['list', '--odd'], "Unknown option '--odd'"],
    [['fly'], 'there is no "mcp fly"'],
    [['approve', 'x'], 'this folder is not trusted'],
  ])('refuses %j', async (argv, text) => {
    const { code, out, err } = await run(argv);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(`error: `);
    expect(err).toContain(text);
  });

  it('overwrites nothing, and asks which one to remove', async () => {
    await run(['add', 'x', 'one']);
    expect((await run(['add', 'x', 'two'])).err).toContain('has a server "x" already. To replace it');
    await run(['add', '-s', 'user', 'x', 'three']);
    expect((await run(['remove', 'x'])).err).toContain('several files; name one: --scope local, --scope user');
    expect((await run(['remove', 'x', '--scope', 'user'])).code).toBe(0);
    expect((await run(['remove', 'x'])).code).toBe(0);
  });

  it('shows its help', async () => {
    for (const argv of [['--help'], ['add', '--help'], ['serve', '--help']]) {
      const { code, out } = await run(argv);
      expect([code, out.split('\n')[0]]).toEqual([0, 'Usage: heddle mcp <command> [options]']);
    }
  });
});

describe('heddle mcp list, get, approve and reject', () => {
  it('lists every server with what keeps it from running, and no secret', async () => {
    await trust();
    project.write('config/settings.json', {
      mcpServers: { web: { type: 'http', url: 'https://me:pw@x.example', headers: { k: 'planted', v: '${V}' } } },
    });
    project.write('project/.mcp.json', { mcpServers: { docs: { command: 'docs', args: ['\u001b[2J'] }, bad: {} } });
    const { code, out, err } = await run(['list']);
    expect(code).toBe(0);
    expect(out).toBe(
      [
        'name  type   scope    may run                                                                 command or address',
        'docs  stdio  project  no: it waits for your approval. To approve it: heddle mcp approve docs  docs \\x1b[2J',
        'web   http   user     no: the variable V is not set. Set it, or write ${V:-default}           https://***@x.example',
        '',
      ].join('\n'),
    );
    expect(err).toContain('error: ~/project/.mcp.json:9:5: mcpServers.bad: a server needs "command"');
    expect(err).toContain('error: ~/config/settings.json:8:9: mcpServers.web.headers.v: the variable V is not set');
    const json = await run(['list', '--json']);
    expect(JSON.parse(json.out)).toMatchObject({ servers: [{ name: 'docs', status: 'blocked' }, { name: 'web' }] });
    expect(json.out + out + (await run(['get', 'web'])).out).not.toMatch(/planted|:pw/);
    expect(JSON.parse((await run(['get', 'web', '--json'])).out)).toMatchObject({ config: { headers: { v: '${V}' } } });
  });

  it('approves as it is now, shows all of it, and rejects', async () => {
    await trust();
    project.write('project/.mcp.json', { mcpServers: { docs: { command: 'docs', env: { T: '${TOKEN}' } } } });
    const approved = await run(['approve', 'docs']);
    expect(approved.out).toBe(
      'docs, in ~/project/.mcp.json\n  command: docs\n  env: {"T":"${TOKEN}"}\n  type: stdio\n  gets your variables: TOKEN\n  approved\n',
    );
    const env = { TOKEN: 'x' };
    expect((await run(['list'], { env })).out).toContain('ready');
    project.write('project/.mcp.json', { mcpServers: { docs: { command: 'other' } } });
    expect((await run(['list'], { env })).out).toContain('it has changed');
    expect((await run(['reject', '--all'])).code).toBe(0);
    expect((await run(['list'], { env })).out).toContain('you have rejected it');
  });

  it('asks at a terminal about each that nobody has decided about', async () => {
    const mcpServers = { a: { command: 'a' }, b: { command: 'b' }, c: { command: 'c' } };
    project.write('project/.mcp.json', { mcpServers });
    const ask = async (...answers: string[]) => {
      let shown = '';
      const { waiting } = await project.resolve();
      const readLine = async () => answers.shift();
      const changed = await askApprovals({
        waiting,
        approvals: project.approvals,
        readLine,
        write: (text) => (shown += text),
      });
      return { changed, asked: shown.match(/^\w+, in/gm) };
    };
    expect(await ask('y', 'n', '')).toEqual({ changed: true, asked: ['a, in', 'b, in', 'c, in'] });
    expect(await ask('')).toEqual({ changed: false, asked: ['c, in'] });
    const { servers } = await project.resolve();
    expect([...servers.values()].map(({ blocked }) => blocked === undefined)).toEqual([true, false, false]);
  });
});

describe('heddle mcp test', () => {
  it('says what servers offer, and why others do not', async () => {
    await trust();
    await run(['add', 'plain', process.execPath, server]);
    await run(['add', 'broken', process.execPath, '-e', 'process.stderr.write("no luck"); process.exit(3)']);
    const { code, out } = await run(['test'], { env: { ANTHROPIC_API_KEY: 'planted' } });
    expect(code).toBe(1);
    expect(out).toMatch(/^plain: connected \(\d+ ms\)\n {2}plain 1\.0, protocol 2025-06-18\n {2}1 tools: seen\n/m);
    expect(out).toMatch(/^broken: failed .*\n {2}MCP server broken failed in initialize: .*code 3[^]*no luck/m);
    const { out: json } = await run(['test', 'plain', '--json']);
    expect(JSON.parse(json)).toMatchObject([{ name: 'plain', ok: true, tools: ['seen'] }]);
  });

  it('lists what a session would have, and says why it would not have the rest', async () => {
    await trust();
    const odd = { name: 'odd', inputSchema: { type: 'string' } };
    const tools = [odd, { name: 'huge', inputSchema: { text: 'x'.repeat(210_000) } }];
    const file = project.write('tools.json', tools);
    await run(['add', '-e', `TOOLS=${file}`, 'plain', process.execPath, server]);
    const { out } = await run(['test', 'plain']);
    expect(out).toMatch(/^ {2}1 tools: seen$/m);
    expect(out).toMatch(/^ {2}left out: odd: the type of its input schema is not "object"$/m);
    expect(out).toMatch(/^ {2}left out: huge: its schema is longer than 200 KB$/m);
    expect(JSON.parse((await run(['test', 'plain', '--json'])).out)).toMatchObject([
      { tools: ['seen'], leftOut: [expect.stringContaining('huge'), expect.stringContaining('odd')] },
    ]);
  });
});

describe('heddle mcp and secrets', () => {
  it('shows no key of an address, whoever asks', async () => {
    const url = 'https://x.example/mcp?api_key=SUPERSECRETKEY';
    const outputs = [
      await run(['add', '-s', 'project', 'web', url]),
      await run(['list']),
      await run(['list', '--json']),
      await run(['get', 'web']),
      await run(['get', 'web', '--json']),
    ];
    for (const { out, err } of outputs) expect(out + err).not.toContain('SUPERSECRETKEY');
    expect(outputs[0]?.out).toContain('https://x.example/mcp?api_key=***');
    expect(outputs[0]?.err).toContain('name secrets as ${VARIABLE}');
  });

  it.each([
    [['-t', 'http', 'z', 'foo'], '"url" must be an address'],
    [['z', 'https://user:pw@x.example'], '"url" must not hold a user or a password'],
  ])('adds no address that is none: %j', async (argv, says) => {
    const { code, err } = await run(['add', ...argv]);
    expect(code).not.toBe(0);
    expect(err).toContain(says);
  });

  it('says which variables an entry never gets', async () => {
    await trust();
    project.write('project/.mcp.json', {
      mcpServers: { x: { command: 'x', env: { A: '${ANTHROPIC_API_KEY:-none}', B: '${MINE}' } } },
    });
    const { out } = await run(['approve', 'x'], { env: { ANTHROPIC_API_KEY: 'planted', MINE: '1' } });
    expect(out).toMatch(/gets your variables: MINE$/m);
    expect(out).toMatch(/never gets, whoever approves it: ANTHROPIC_API_KEY$/m);
  });

  it('names the command of one with a command', async () => {
    project.write('config/settings.json', { mcpServers: { x: { command: 'x', env: { DB_PASS: 'S3CRET' } } } });
    expect((await run(['list'])).out).toMatch(/x +stdio +user +ready +x$/m);
    expect((await run(['get', 'x'])).out).not.toContain('S3CRET');
  });
});

describe('heddle mcp auth', () => {
  it('logs in through the browser, uses the login, and logs out', async () => {
    const guarded = await startAuthServer();
    try {
      await run(['add', '-s', 'user', 'web', guarded.url]);
      const before = await run(['test', 'web']);
      expect(before.out).toMatch(/web: needs-auth[^]*To log in: heddle mcp auth web/);
      const login = await run(['auth', 'web'], { openPage: (url) => void browse(url) });
      expect(login.out).toMatch(/^Log in to web on this page:\n\n {2}http:.*\n\nLogged in to web\.\n$/);
      expect((await run(['test', 'web'])).out).toContain('web: connected');
      expect((await run(['auth', 'web', '--logout'])).out).toBe('Logged out of web.\n');
      expect((await run(['test', 'web'])).code).toBe(1);
    } finally {
      await guarded.close();
    }
  });

  it('is nothing for a server that is started here', async () => {
    await run(['add', '-s', 'user', 'x', 'cmd']);
    expect((await run(['auth', 'x'])).err).toContain('"x" is started here and needs no login');
  });
});
