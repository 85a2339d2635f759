import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Settings } from '../../src/protocol/index.js';
import { toolResults } from '../../src/testing/index.js';
import { resultText } from '../engine/kit.js';
import { MANAGED, PROJECT, USER } from '../settings/place.js';
import { bash, BYPASS, call, createStage, person, type Stage } from './stage.js';

const read = (path: string, id = path) => call('Read', { file_path: path }, id);
const write = (path: string, id = path) => call('Write', { file_path: path, content: 'x' }, id);

type Call = ReturnType<typeof call>;

/** What became of each call: it ran, it was asked about, or it was denied. */
async function fates(stage: Stage, calls: readonly Call[], config: object = {}): Promise<Record<string, string>> {
  const { ask, ids } = person();
  const run = await stage.open([...calls, 'ok'], { ask, config });
  const { permission_denials } = await run.ask('go');
  const denied = new Set(permission_denials.map(({ tool_use_id }) => tool_use_id));
  const fate = (id: string): string => (ids().includes(id) ? 'ask' : denied.has(id) ? 'deny' : 'allow');
  return Object.fromEntries(toolResults(run.messages).map(({ id }) => [id, fate(id)]));
}

function withRules(permissions: Settings['permissions'], file = USER): Stage {
  const stage = createStage();
  stage.write(file, { permissions });
  return stage;
}

describe('links that only a pattern matches', () => {
  const lay = (stage: Stage): void => {
    stage.write('outside/secret.txt', 'SECRET');
    stage.write('home/shop/sub/a.txt', 'a');
    symlinkSync(stage.path('outside'), stage.path('home/shop/ldir'));
    symlinkSync(stage.path('outside/secret.txt'), stage.path('home/shop/sub/l.txt'));
  };
  const LINES = ['cat ld*/secret.txt', 'cat */*.txt', 'find . -exec cat {} +', 'cat /proc/self/cwd/sub/l.txt'];

  it('E2 are asked about, as if they were named', async () => {
    const stage = createStage();
    lay(stage);
    const calls = [...LINES, 'cat sub/a*', 'find . -type f -exec cat {} +'].map((line) => bash(line, line));
    expect(await fates(stage, calls)).toEqual({
      ...Object.fromEntries(LINES.map((line) => [line, 'ask'])),
      'cat sub/a*': 'allow',
      'find . -type f -exec cat {} +': 'allow',
    });
  });

  it('E2 are denied where the place is', async () => {
    const stage = createStage();
    lay(stage);
    stage.write(USER, { permissions: { deny: [`Read(/${stage.path('outside')}/**)`], allow: ['Bash'] } });
    const lines = ['cat ld*/secret.txt', 'cat */*.txt', 'find ldir/ -exec cat {} +'];
    const found = await fates(
      stage,
      lines.map((line) => bash(line, line)),
    );
    expect(found).toMatchObject({ 'cat ld*/secret.txt': 'deny', 'cat */*.txt': 'deny' });
    expect(Object.values(found)).not.toContain('allow');
  });

  it('a tool that is taken away takes no other with it', async () => {
    const stage = withRules({ allow: ['Write', 'Bash'] });
    const calls = [write('a.txt', 'write'), bash('touch b', 'touch')];
    expect(await fates(stage, calls, { disallowedTools: ['Edit'] })).toEqual({ write: 'allow', touch: 'allow' });
    const denied = withRules({ allow: ['Write', 'Bash'], deny: ['Edit'] });
    expect(await fates(denied, calls)).toEqual({ write: 'deny', touch: 'deny' });
  });
});

describe('where a path rule starts', () => {
  it.each([USER, PROJECT, MANAGED])(
    './, / and no sign at the project, // at the root, ~/ at home: in %s',
    async (file) => {
      const stage = createStage();
      const deny = [
        'Read(./dot.txt)',
        'Read(/slash.txt)',
        `Read(/${stage.path('abs.txt')})`,
        'Read(~/home.txt)',
        'Read(*.key)',
      ];
      stage.write(file, { permissions: { deny, allow: ['Read'] } });
      const names = ['dot.txt', 'slash.txt', 'sub/dot.txt', 'sub/slash.txt', 'sub/a.key'];
      const outside = ['abs.txt', 'home/home.txt', 'home/dot.txt', 'home/slash.txt'];
      for (const name of names) stage.write(`home/shop/${name}`, '');
      for (const name of outside) stage.write(name, '');
      expect(
        await fates(stage, [
          ...names.map((name) => read(name)),
          ...outside.map((name) => read(stage.path(name), name)),
        ]),
      ).toEqual({
        'dot.txt': 'deny',
        'slash.txt': 'deny',
        'sub/dot.txt': 'allow',
        'sub/slash.txt': 'allow',
        'sub/a.key': 'deny',
        'abs.txt': 'deny',
        'home/home.txt': 'deny',
        'home/dot.txt': 'allow',
        'home/slash.txt': 'allow',
      });
    },
  );

  it('at the project, also when the session starts in a folder below it or moves there', async () => {
    const stage = withRules({ deny: ['Read(./secret.txt)'], allow: ['Bash(cd:*)'] }, PROJECT);
    stage.write('home/shop/secret.txt', 'SECRET');
    stage.write('home/shop/sub/secret.txt', 'open');
    const { ask } = person();
    const run = await stage.open([read('secret.txt', 't1'), read('../secret.txt', 't2'), 'ok'], {
      ask,
      cwd: stage.path('home/shop/sub'),
    });
    expect((await run.ask('go')).permission_denials.map(({ tool_use_id }) => tool_use_id)).toEqual(['t2']);
    expect(resultText(run.messages, 't1')).toContain('open');
    expect(await fates(stage, [bash('cd sub', 'cd'), read('secret.txt', 'sub'), read('../secret.txt', 'top')])).toEqual(
      {
        cd: 'allow',
        sub: 'allow',
        top: 'deny',
      },
    );
  });
});

describe('E2: links', () => {
  it('a denied file is denied under every name that leads to it', async () => {
    const stage = withRules({ deny: ['Read(./secret/**)'], allow: ['Read', 'Edit', 'Bash(cat:*)'] });
    stage.write('home/shop/secret/a.txt', 'SECRET');
    symlinkSync(stage.path('home/shop/secret/a.txt'), stage.path('home/shop/file-link'));
    symlinkSync('secret', stage.path('home/shop/folder-link'));
    symlinkSync(stage.path('home/shop/folder-link'), stage.path('home/link-to-link'));
    const calls = [
      read('file-link'),
      read('folder-link/a.txt'),
      read('../link-to-link/a.txt'),
      read('./folder-link/../secret/a.txt'),
      write('folder-link/new.txt'),
      bash('cat file-link', 'cat file'),
      bash('cat folder-link/a.txt', 'cat folder'),
      bash('cat ../link-to-link/a.txt', 'cat link'),
    ];
    const seen = await fates(stage, calls);
    expect(new Set(Object.values(seen))).toEqual(new Set(['deny']));
  });

  it('a rule that names a link is about the place it leads to, and a rule about the place covers the link', async () => {
    const stage = createStage();
    stage.write('vault/a.txt', 'SECRET');
    symlinkSync(stage.path('vault'), stage.path('home/shop/door'));
    const calls = [read('door/a.txt', 'link'), read(stage.path('vault/a.txt'), 'place')];
    for (const deny of [
      'Read(./door/**)',
      `Read(/${stage.path('vault')}/**)`,
      `Read(/${stage.path('home/shop/door')}/**)`,
    ]) {
      stage.write(USER, { permissions: { deny: [deny], allow: ['Read'] } });
      expect(await fates(stage, calls)).toEqual({ link: 'deny', place: 'deny' });
    }
  });

  it('an allow does not follow a link out of what it allows', async () => {
    const stage = withRules({ allow: ['Edit(./notes/**)'] });
    mkdirSync(stage.path('home/shop/notes'));
    mkdirSync(stage.path('elsewhere'));
    symlinkSync(stage.path('elsewhere'), stage.path('home/shop/notes/out'));
    expect(await fates(stage, [write('notes/in.txt'), write('notes/out/file.txt')])).toEqual({
      'notes/in.txt': 'allow',
      'notes/out/file.txt': 'ask',
    });
  });

  it('an allow whose folder is a link allows what lies there', async () => {
    const stage = withRules({ allow: ['Edit(./notes/**)'] });
    mkdirSync(stage.path('home/shop/real-notes'));
    symlinkSync('real-notes', stage.path('home/shop/notes'));
    expect(await fates(stage, [write('notes/a.txt'), write('real-notes/b.txt')])).toEqual({
      'notes/a.txt': 'allow',
      'real-notes/b.txt': 'allow',
    });
  });

  it('a session that was opened through a link obeys the rules of the place', async () => {
    const stage = withRules({ deny: ['Read(./secret.txt)'] }, PROJECT);
    stage.write('home/shop/secret.txt', 'SECRET');
    symlinkSync(stage.project, stage.path('home/other-name'));
    const run = await stage.open([read('secret.txt', 't1'), bash('cat secret.txt', 't2'), 'ok'], {
      cwd: stage.path('home/other-name'),
    });
    expect((await run.ask('go')).permission_denials).toHaveLength(2);
    expect(JSON.stringify(run.messages)).not.toContain('SECRET');
  });

  it('folders that were added count by the place they lead to', async () => {
    const stage = createStage();
    stage.write('far/library/book.txt', 'text');
    stage.write('far/attic/box.txt', 'text');
    symlinkSync(stage.path('far/library'), stage.path('home/books'));
    symlinkSync(stage.path('far/attic'), stage.path('far/library/way-out'));
    stage.write(USER, { permissions: { additionalDirectories: ['~/books'] } });
    const far = stage.path('far');
    expect(
      await fates(stage, [
        read(stage.path('home/books/book.txt'), 'by link'),
        read(`${far}/library/book.txt`, 'by place'),
        read(`${far}/library/way-out/box.txt`, 'way out'),
        bash(`cat ${far}/library/book.txt`, 'cat'),
        bash(`cat ${far}/attic/box.txt`, 'cat attic'),
      ]),
    ).toEqual({ 'by link': 'allow', 'by place': 'allow', 'way out': 'ask', cat: 'allow', 'cat attic': 'ask' });
  });

  it('additionalDirectories of the options do so as well, and accept edits where the mode does', async () => {
    const stage = createStage();
    mkdirSync(stage.path('far'));
    const config = { additionalDirectories: [stage.path('far')], permissionMode: 'acceptEdits' };
    const calls = [write(stage.path('far/a'), 'far'), write(stage.path('home/b'), 'home')];
    expect(await fates(stage, calls, config)).toEqual({ far: 'allow', home: 'ask' });
  });
});

describe('E2: a deny of reading', () => {
  const secret = (): Stage => {
    const stage = withRules({
      deny: ['Read(./.env)', 'Read(./private/**)', 'Read(~/keys/**)'],
      allow: ['Bash', 'Read', 'Edit', 'Write', 'Grep', 'Glob'],
    });
    for (const name of ['.env', 'private/a.txt']) stage.write(`home/shop/${name}`, 'SECRET');
    stage.write('home/keys/k', 'SECRET');
    return stage;
  };

  it.each<[string, Call[]]>([
    [
      'Edit, Write and NotebookEdit',
      [
        call('Edit', { file_path: '.env', old_string: 'S', new_string: 'T' }, 'edit'),
        write('private/new.txt'),
        call('NotebookEdit', { notebook_path: `private/n.ipynb`, new_source: 'x' }, 'notebook'),
      ],
    ],
    [
      'Grep and Glob that start there',
      [
        call('Grep', { pattern: 'SECRET', path: 'private' }, 'grep folder'),
        call('Grep', { pattern: 'SECRET', path: '.env' }, 'grep file'),
        call('Glob', { pattern: 'private/*' }, 'glob'),
        call('Glob', { pattern: '*', path: 'private' }, 'glob path'),
      ],
    ],
    [
      'readers of the shell',
      [
        'cat .env',
        'head -n1 ./.env',
        'grep S .env',
        'sed -n 1p .env',
        "awk '{print}' .env",
        'cp .env copy',
        'xxd .env',
        'tail private/a.txt',
        'cat ~/keys/k',
        'cat "$HOME/keys/k"',
        'cd private && cat a.txt',
        'env cat .env',
      ].map((line) => bash(line, line)),
    ],
    [
      'redirections',
      ['cat < .env', 'wc -l <.env', 'echo x > private/b', 'echo x >> .env', 'true 2> private/b'].map((line) =>
        bash(line, line),
      ),
    ],
    [
      'what is nested',
      ['echo "$(cat .env)"', 'sh -c "cat .env"', 'echo a | xargs cat .env', 'cat <(cat .env)'].map((line) =>
        bash(line, line),
      ),
    ],
  ])('covers %s', async (_, calls) => {
    const stage = secret();
    const seen = await fates(stage, calls);
    expect(Object.entries(seen).filter(([, fate]) => fate !== 'deny')).toEqual([]);
    expect(Object.keys(seen)).toHaveLength(calls.length);
  });

  it('what may touch it is at least asked about, although Bash is allowed as a whole', async () => {
    const lines = [
      'cat private/*',
      'cat .e*',
      'f=.env; cat $f',
      'grep -r SECRET .',
      'tar cf all.tar .',
      'cat $(echo .env)',
    ];
    const seen = await fates(
      secret(),
      lines.map((line) => bash(line, line)),
    );
    expect(Object.entries(seen).filter(([, fate]) => fate === 'allow')).toEqual([]);
  });

  it('leaves what is beside it open', async () => {
    const stage = secret();
    stage.write('home/shop/.env.example', 'open');
    stage.write('home/shop/public/a.txt', 'open');
    const calls = [read('.env.example'), read('public/a.txt'), bash('cat public/a.txt', 'cat'), write('public/b.txt')];
    expect(new Set(Object.values(await fates(stage, calls)))).toEqual(new Set(['allow']));
  });

  it('a deny of editing leaves reading open', async () => {
    const stage = withRules({ deny: ['Edit(./lock.json)'], allow: ['Bash', 'Edit'] });
    stage.write('home/shop/lock.json', '{}');
    const calls = [
      read('lock.json'),
      bash('cat lock.json', 'cat'),
      write('lock.json', 'write'),
      bash('echo x > lock.json', 'echo'),
    ];
    expect(await fates(stage, calls)).toEqual({ 'lock.json': 'allow', cat: 'allow', write: 'deny', echo: 'deny' });
    expect(stage.text('home/shop/lock.json')).toBe('{}');
  });
});

describe('E3: files that decide what may run', () => {
  it.each([
    '.claude/settings.json',
    '.claude/hooks/x.sh',
    '.git/hooks/pre-commit',
    '.mcp.json',
    '.envrc',
    '.vscode/tasks.json',
  ])('%s is asked about in every mode, though it does not exist', async (path) => {
    for (const config of [{}, { permissionMode: 'acceptEdits' }, BYPASS]) {
      const stage = withRules({ allow: ['Edit', 'Write', 'Bash'] });
      const calls = [write(path, 'write'), bash(`echo x > ${path}`, 'echo'), bash(`cp a.txt ./${path}`, 'cp')];
      expect(await fates(stage, calls, config)).toEqual({ write: 'ask', echo: 'ask', cp: 'ask' });
      expect(stage.exists(`home/shop/${path}`)).toBe(false);
    }
  });

  it('through a link as well', async () => {
    const stage = withRules({ allow: ['Edit', 'Write', 'Bash'] });
    mkdirSync(stage.path('home/shop/.claude'));
    symlinkSync('.claude', stage.path('home/shop/harmless'));
    expect(
      await fates(stage, [write('harmless/settings.json'), bash('echo x > harmless/settings.json', 'echo')], BYPASS),
    ).toEqual({
      'harmless/settings.json': 'ask',
      echo: 'ask',
    });
  });
});

describe('what is no file', () => {
  it('a pipe is not opened: nothing hangs', async () => {
    const stage = withRules({ allow: ['Read', 'Edit', 'Write'] });
    execFileSync('mkfifo', [stage.path('home/shop/pipe')]);
    symlinkSync('pipe', stage.path('home/shop/link'));
    expect(await fates(stage, [read('pipe'), read('link'), write('pipe', 'write'), read('/dev/zero')])).toEqual({
      pipe: 'deny',
      link: 'deny',
      write: 'deny',
      '/dev/zero': 'deny',
    });
  });
});
