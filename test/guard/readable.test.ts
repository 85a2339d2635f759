/** Folders of skills and plugins: read without a question, and nothing more. */
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionConfig } from '../../src/protocol/index.js';
import { sent, skill, TRUSTED, write } from '../commands/kit.js';
import { resultText, scratch, start } from '../engine/kit.js';

const SKILL = {
  'SKILL.md': skill('Fills in forms', 'Read ref.md.'),
  'ref.md': 'THE-REFERENCE',
  'deep/more.md': 'MORE',
};

/** The same skill wherever a session may have one from, and its folder. */
function makeSkill(of: 'user' | 'plugin' | 'project') {
  const base = scratch();
  const cwd = join(base, 'project', ...(of === 'project' ? ['below'] : []));
  const config: Partial<SessionConfig> = { ...TRUSTED, configDir: join(base, 'config') };
  const folder = {
    user: join(base, 'config/skills/forms'),
    plugin: join(base, 'pl/skills/forms'),
    project: join(base, 'project/.claude/skills/forms'),
  }[of];
  write(folder, SKILL);
  write(cwd, { 'a.txt': 'A' });
  write(base, { 'outside.md': 'OUTSIDE', 'pl/.claude-plugin/plugin.json': '{"name":"pl"}', 'pl/doc.md': 'THE-DOC' });
  if (of === 'project') write(base, { 'project/.git/HEAD': 'ref: refs/heads/main\n' });
  return { base, cwd, folder, config: of === 'plugin' ? { ...config, pluginDirs: [join(base, 'pl')] } : config };
}

type Made = ReturnType<typeof makeSkill>;

/** What becomes of one call where nobody can be asked. */
async function call({ cwd, config }: Made, name: string, input: Record<string, unknown>) {
  const run = await start([{ toolUse: { id: 'c', name, input } }, 'done'], { cwd, config });
  const { permission_denials } = await run.ask('go');
  return { isDenied: permission_denials.length > 0, text: resultText(run.messages, 'c') };
}

const SOURCES = ['user', 'plugin', 'project'] as const;

describe.each(SOURCES)('the folder of a skill: %s', (of) => {
  it.each<[string, (folder: string) => Record<string, unknown>, string]>([
    ['Read', (folder) => ({ file_path: join(folder, 'ref.md') }), 'THE-REFERENCE'],
    ['Glob', (folder) => ({ pattern: '**/*.md', path: folder }), 'deep/more.md'],
    ['Glob', (folder) => ({ pattern: join(folder, '*.md') }), 'ref.md'],
    ['Grep', (folder) => ({ pattern: 'THE-', path: folder, output_mode: 'content' }), 'THE-REFERENCE'],
    ['Bash', (folder) => ({ command: `cat ${folder}/ref.md` }), 'THE-REFERENCE'],
    ['Bash', (folder) => ({ command: `ls ${folder} && grep -r THE- ${folder}` }), 'THE-REFERENCE'],
  ])('is read without a question: %s', async (tool, toInput, expected) => {
    const made = makeSkill(of);
    expect(await call(made, tool, toInput(made.folder))).toMatchObject({
      isDenied: false,
      text: expect.stringContaining(expected),
    });
  });

  it.each<[string, (folder: string) => Record<string, unknown>]>([
    ['Write', (folder) => ({ file_path: join(folder, 'new.md'), content: 'x' })],
    ['Bash', (folder) => ({ command: `touch ${folder}/new.md` })],
    ['Bash', (folder) => ({ command: `echo x > ${folder}/new.md` })],
    ['Bash', (folder) => ({ command: `cd ${folder} && touch new.md` })],
    ['Bash', (folder) => ({ command: `sh ${folder}/ref.md` })],
  ])('is not written, nor is anything run there: %s', async (tool, toInput) => {
    const made = makeSkill(of);
    for (const permissionMode of ['default', 'acceptEdits', 'plan'] as const) {
      const config = { ...made.config, permissionMode };
      expect(await call({ ...made, config }, tool, toInput(made.folder))).toMatchObject({ isDenied: true });
    }
    expect(existsSync(join(made.folder, 'new.md'))).toBe(false);
  });

  it('rules that deny or ask go first', async () => {
    const made = makeSkill(of);
    const input = { file_path: join(made.folder, 'ref.md') };
    const rule = `Read(/${made.folder}/**)`;
    for (const permissions of [{ deny: [rule] }, { ask: [rule] }]) {
      const config = { ...made.config, settings: JSON.stringify({ permissions }) };
      expect(await call({ ...made, config }, 'Read', input)).toMatchObject({ isDenied: true });
      const line = { command: `cat ${made.folder}/ref.md` };
      expect(await call({ ...made, config }, 'Bash', line)).toMatchObject({ isDenied: true });
    }
  });

  it('a link leads nowhere else, and what is beside the folder stays closed', async () => {
    const made = makeSkill(of);
    symlinkSync(join(made.base, 'outside.md'), join(made.folder, 'link.md'));
    for (const path of [join(made.folder, 'link.md'), join(made.base, 'outside.md'), `${made.folder}/../../../x.md`]) {
      expect(await call(made, 'Read', { file_path: path })).toMatchObject({ isDenied: true });
      expect(await call(made, 'Bash', { command: `cat ${path}` })).toMatchObject({ isDenied: true });
    }
    expect(await call(made, 'Glob', { pattern: `${made.folder}/../../../*` })).toMatchObject({ isDenied: true });
  });
});

describe('what is not loaded', () => {
  it('is not open: skills of a project that nobody trusts, of sources that do not count, and none at all', async () => {
    const ofProject = makeSkill('project');
    const untrusted = { ...ofProject, config: { ...ofProject.config, trusted: false } };
    const ofUser = makeSkill('user');
    const unread = { ...ofUser, config: { ...ofUser.config, settingSources: ['project' as const] } };
    const off = { ...ofUser, config: { ...ofUser.config, disableSlashCommands: true } };
    for (const made of [untrusted, unread, off]) {
      const input = { file_path: join(made.folder, 'ref.md') };
      expect(await call(made, 'Read', input)).toMatchObject({ isDenied: true });
    }
  });

  it('is not open: what a project makes its folder of skills a link to', async () => {
    const made = makeSkill('project');
    const elsewhere = join(made.base, 'elsewhere');
    write(join(elsewhere, 'other'), SKILL);
    const cwd = join(made.base, 'second/below');
    write(cwd, { 'a.txt': 'A' });
    write(join(made.base, 'second'), { '.git/HEAD': 'ref: refs/heads/main\n', '.claude/x': '' });
    symlinkSync(elsewhere, join(made.base, 'second/.claude/skills'));
    const input = { file_path: join(elsewhere, 'other/ref.md') };
    expect(await call({ ...made, cwd }, 'Read', input)).toMatchObject({ isDenied: true });
  });
});

it('a skill that comes while the session runs is open from then on', async () => {
  const { cwd, config, base } = makeSkill('user');
  const late = join(base, 'config/skills/late');
  const read = (id: string) => ({ toolUse: { id, name: 'Read', input: { file_path: join(late, 'ref.md') } } });
  const run = await start([read('one'), 'x', read('two'), 'y'], { cwd, config });
  write(late, { 'ref.md': 'LATE' });
  await run.ask('go');
  expect(resultText(run.messages, 'one')).not.toContain('LATE');
  write(late, { 'SKILL.md': skill('Late', 'x') });
  await run.session.scope.commands.reload();
  await run.ask('go');
  expect(resultText(run.messages, 'two')).toContain('LATE');
});

it('the root of a plugin is open, also to what its commands mention', async () => {
  const made = makeSkill('plugin');
  write(join(made.base, 'pl'), { 'commands/show.md': 'See @${CLAUDE_PLUGIN_ROOT}/doc.md' });
  expect(await call(made, 'Read', { file_path: join(made.base, 'pl/doc.md') })).toMatchObject({ isDenied: false });
  const run = await start(['x'], { cwd: made.cwd, config: made.config });
  await run.ask('/pl:show');
  expect(sent(run.model.requests[0])).toContain('THE-DOC');
});

it('an agent of the session reads there, too', async () => {
  const made = makeSkill('user');
  const task = { name: 'Task', input: { description: 'd', prompt: 'p', subagent_type: 'general-purpose' } };
  const read = { id: 'r', name: 'Read', input: { file_path: join(made.folder, 'ref.md') } };
  const run = await start([{ toolUse: task }, { toolUse: read }, 'of the agent', 'done'], made);
  await run.ask('go');
  expect(resultText(run.messages, 'r')).toContain('THE-REFERENCE');
});
