import { symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeNested, toInstructionsLoaded } from '../../src/engine/memory/describe.js';
import { createNestedMemory, type NestedMemoryOptions } from '../../src/engine/memory/nested.js';
import { createDesk, type Desk } from './kit.js';

let desk: Desk;
beforeEach(() => {
  desk = createDesk();
});
afterEach(() => desk.close());

const open = async (more: Partial<NestedMemoryOptions> = {}) => {
  const { workspace, project, home } = desk;
  const { files } = await desk.load();
  const known = files.map(({ real }) => real);
  return createNestedMemory({
    workspace,
    home,
    roots: [project],
    sources: ['user', 'project', 'local'],
    known,
    ...more,
  });
};
const page = () => join(desk.project, 'packages/web/src/page.ts');

describe('instructions of folders below', () => {
  it('are told once, when something there is touched', async () => {
    const nested = await open();
    expect(await nested.notice(join(desk.project, 'docs/style.md'))).toEqual([]);
    const files = await nested.notice(page());
    expect(files.map(({ path, content }) => [relative(desk.project, path), content])).toEqual([
      ['packages/web/AGENTS.md', 'The page shows local time.\n'],
    ]);
    expect(await nested.notice(page())).toEqual([]);
    expect(await nested.notice(join(desk.project, 'packages/web/other.ts'))).toEqual([]);
    expect(nested.told).toEqual(files);
    expect(describeNested(files)).toContain("packages/web/AGENTS.md (the project's)");
    expect(files.map((file) => toInstructionsLoaded(file, { reason: 'nested_traversal', trigger: page() }))).toEqual([
      {
        file_path: join(desk.project, 'packages/web/AGENTS.md'),
        memory_type: 'Project',
        load_reason: 'nested_traversal',
        trigger_file_path: page(),
      },
    ]);
  });

  it('are told to one of several calls that run together', async () => {
    const nested = await open();
    const told = await Promise.all([1, 2, 3, 4].map(() => nested.notice(page())));
    expect(told.map((files) => files.length)).toEqual([1, 0, 0, 0]);
  });

  it('E1: are looked for nowhere but in folders that somebody vouches for', async () => {
    desk.write('elsewhere/AGENTS.md', 'foreign');
    const stranger = desk.write('elsewhere/x.ts', '');
    expect(await (await open()).notice(stranger)).toEqual([]);
    expect(await (await open({ roots: [] })).notice(page())).toEqual([]);
    const both = await open({ roots: [desk.project, join(desk.top, 'elsewhere')] });
    expect((await both.notice(stranger)).map(({ content }) => content)).toEqual(['foreign']);
  });

  it('count as the sources say, and may not lead outside by a link', async () => {
    desk.write('home/secret.txt', 'SECRET');
    desk.write('project/packages/api/CLAUDE.local.md', 'mine');
    symlinkSync(join(desk.home, 'secret.txt'), join(desk.project, 'packages/api/AGENTS.md'));
    const file = join(desk.project, 'packages/api/x.ts');
    expect(await (await open({ sources: ['user'] })).notice(file)).toEqual([]);
    const nested = await open();
    expect((await nested.notice(file)).map(({ content }) => content)).toEqual(['mine']);
    expect(nested.takeProblems()).toMatchObject([{ severity: 'warning', text: expect.stringContaining('outside') }]);
    expect(nested.takeProblems()).toEqual([]);
  });

  it('never reject, also in a folder that is a thousand deep', async () => {
    const nested = await open();
    expect(await nested.notice(join(desk.project, 'x/'.repeat(1_000), 'y'))).toEqual([]);
    const fail = () => Promise.reject(new Error('the disk is gone'));
    const broken = await open({ workspace: { stat: fail, realPath: fail, readFile: fail } });
    expect(await broken.notice(page())).toEqual([]);
    expect(broken.takeProblems()[0]?.text).toBe('It cannot be read: the disk is gone.');
  });
});
