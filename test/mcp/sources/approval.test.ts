import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { McpSources } from '../../../src/engine/mcp/sources/resolve.js';
import { createProject } from './kit.js';

let project: ReturnType<typeof createProject>;
beforeEach(() => {
  project = createProject();
});
afterEach(() => project.remove());

const writeServer = (entry: object) => project.write('project/.mcp.json', { mcpServers: { docs: entry } });
const resolveDocs = async (given: Partial<McpSources> = {}) => (await project.resolve(given)).servers.get('docs');
const WAITS = 'it waits for your approval. To approve it: heddle mcp approve docs';

async function approveDocs(): Promise<void> {
  const approval = (await resolveDocs())?.approval;
  if (approval === undefined) throw new Error('nothing to approve');
  await project.approvals.approve(approval);
}

describe('servers of a project (E1)', () => {
  it('wait until the folder is trusted and the server is approved', async () => {
    writeServer({ command: 'docs' });
    expect(await resolveDocs({ trusted: false })).toMatchObject({ blocked: expect.stringContaining('not trusted') });
    expect(await resolveDocs()).toMatchObject({ scope: 'project', blocked: WAITS, approval: { name: 'docs' } });
    await approveDocs();
    expect((await resolveDocs())?.blocked).toBeUndefined();
    expect((await resolveDocs({ trusted: false }))?.blocked).toContain('not trusted');
    const { mode } = statSync(join(project.configDir, 'mcp-approvals.json'));
    expect(mode & 0o777).toBe(0o600);
  });

  it('ask again when anything in the entry changes, and not when only its layout does', async () => {
    writeServer({ command: 'docs', args: ['a'], env: { A: '1' } });
    await approveDocs();
    project.write('project/.mcp.json', '{"mcpServers":{"docs":{"env":{"A":"1"},"args":["a"],"command":"docs"}}}');
    expect((await resolveDocs())?.blocked).toBeUndefined();
    writeServer({ command: 'docs', args: ['b'], env: { A: '1' } });
    expect((await resolveDocs())?.blocked).toContain('it has changed since you decided about it');
    await approveDocs();
    expect((await resolveDocs())?.blocked).toBeUndefined();
  });

  it('stay away once rejected, until they change', async () => {
    writeServer({ command: 'docs' });
    const approval = (await resolveDocs())?.approval;
    if (approval) await project.approvals.reject(approval);
    expect(await resolveDocs()).toMatchObject({
      blocked: expect.stringContaining('you have rejected it'),
      approval: { state: 'rejected' },
    });
    await project.approvals.forget({ root: project.root, name: 'docs' });
    expect((await resolveDocs())?.blocked).toBe(WAITS);
  });

  it('do not push out a server of the person by taking its name', async () => {
    project.write('config/settings.json', { mcpServers: { docs: { type: 'stdio', command: 'mine' } } });
    writeServer({ command: 'theirs' });
    for (const trusted of [true, false]) {
      expect(await resolveDocs({ trusted })).toMatchObject({ scope: 'user', config: { command: 'mine' } });
    }
    const { waiting } = await project.resolve();
    expect(waiting.get('docs')).toMatchObject({ scope: 'project', written: { command: 'theirs' } });
  });

  it('are approved by nobody when the record is broken', async () => {
    writeServer({ command: 'docs' });
    await approveDocs();
    project.write('config/mcp-approvals.json', '{ "projects": ');
    expect((await resolveDocs())?.blocked).toBe(WAITS);
  });

  it('are approved for this project alone', async () => {
    writeServer({ command: 'docs' });
    const approval = (await resolveDocs())?.approval;
    if (approval) await project.approvals.approve({ ...approval, root: project.folder });
    expect((await resolveDocs())?.blocked).toBe(WAITS);
  });

  it('can be switched on by name in settings of the user, and by nothing of the project', async () => {
    writeServer({ command: 'docs' });
    for (const settings of [{ enabledMcpjsonServers: ['docs'] }, { enableAllProjectMcpServers: true }]) {
      project.write('project/.claude/settings.json', settings);
      expect((await resolveDocs())?.blocked).toBe(WAITS);
      project.write('project/.claude/settings.json', {});
      for (const file of ['config/settings.json', 'project/.claude/settings.local.json']) {
        project.write(file, settings);
        expect((await resolveDocs())?.blocked).toBeUndefined();
        project.write(file, {});
      }
    }
  });

  it('can be switched off by name by anyone', async () => {
    writeServer({ command: 'docs' });
    await approveDocs();
    project.write('project/.claude/settings.json', { disabledMcpjsonServers: ['docs'] });
    expect((await resolveDocs())?.blocked).toBe('disabledMcpjsonServers names it');
    project.write('project/.claude/settings.json', { enableAllProjectMcpServers: false });
    project.write('config/settings.json', { enableAllProjectMcpServers: true });
    await project.approvals.forget({ root: project.root, name: 'docs' });
    expect((await resolveDocs())?.blocked).toBe(WAITS);
  });
});

describe('variables in servers', () => {
  const entry = {
    type: 'http',
    url: 'https://${HOST:-docs.example}/${TOKEN}',
    headers: { Authorization: 'Bearer ${TOKEN}', 'X-Empty': '${EMPTY:-none}' },
  };
  const env = { TOKEN: 'planted-secret', EMPTY: '', ANTHROPIC_API_KEY: 'key-of-the-engine' };

  it('get into a server of a project only after it is approved (E1)', async () => {
    writeServer(entry);
    for (const trusted of [true, false]) {
      const blocked = await resolveDocs({ env, trusted });
      expect(blocked?.config).toMatchObject({ url: entry.url, headers: entry.headers });
      expect(JSON.stringify(blocked)).not.toContain('planted-secret');
    }
    await approveDocs();
    expect((await resolveDocs({ env }))?.config).toEqual({
      type: 'http',
      url: 'https://docs.example/planted-secret',
      headers: { Authorization: 'Bearer planted-secret', 'X-Empty': 'none' },
    });
  });

  it('are expanded in command, arguments and environment, and only where they are meant', async () => {
    const flags = [
      JSON.stringify({
        docs: { command: '${BIN}', args: ['$BIN', '${BIN}/${A:-b}', '${x.y}'], env: { P: '${BIN}:x' } },
      }),
    ];
    expect((await resolveDocs({ flags, env: { BIN: '/bin' } }))?.config).toMatchObject({
      command: '/bin',
      args: ['$BIN', '/bin/b', '${x.y}'],
      env: { P: '/bin:x' },
    });
  });

  it('are named with file and line where they are not set', async () => {
    project.write('config/settings.json', { mcpServers: { docs: { type: 'http', url: 'https://${NO_SUCH}' } } });
    const { servers, problems } = await project.resolve({ env });
    expect(servers.get('docs')?.blocked).toContain('the variable NO_SUCH is not set');
    expect(problems).toMatchObject([{ line: 5, path: 'mcpServers.docs.url', severity: 'error', fatal: false }]);
    expect(problems[0]?.file).toBe(join(project.configDir, 'settings.json'));
  });

  it('never give the credentials of the engine to a file of the project (E4)', async () => {
    writeServer({ type: 'http', url: 'https://x.example', headers: { k: '${ANTHROPIC_API_KEY}' } });
    await approveDocs();
    const { servers, problems } = await project.resolve({ env });
    expect(servers.get('docs')?.blocked).toContain('a credential of the engine itself');
    expect(problems).toHaveLength(1);
    const mcpServers = { docs: { type: 'http', url: 'https://x.example/${ANTHROPIC_API_KEY:-none}' } };
    project.write('project/.claude/settings.local.json', { mcpServers });
    expect((await resolveDocs({ env }))?.config).toMatchObject({ url: 'https://x.example/none' });
    // Whoever writes it on the command line means it.
    const flags = [JSON.stringify(mcpServers)];
    expect((await resolveDocs({ env, flags }))?.config).toMatchObject({ url: 'https://x.example/key-of-the-engine' });
  });
});
