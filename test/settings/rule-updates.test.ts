import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PermissionUpdate } from '../../src/protocol/index.js';
import { editTogether } from '../../src/engine/settings/edit.js';
import { applyRuleUpdates, writeRuleUpdates } from '../../src/engine/settings/rule-updates.js';
import { createPlace, LOCAL, PROJECT, USER } from './place.js';

const rule = (text: string) => {
  const [, toolName = '', ruleContent] = /^(\w+)(?:\((.*)\))?$/.exec(text) ?? [];
  return ruleContent === undefined ? { toolName } : { toolName, ruleContent };
};

const rules = (
  type: 'addRules' | 'replaceRules' | 'removeRules',
  texts: string[],
  more: Partial<{ behavior: 'allow' | 'ask' | 'deny'; destination: PermissionUpdate['destination'] }> = {},
): PermissionUpdate => ({ type, rules: texts.map(rule), behavior: 'allow', destination: 'localSettings', ...more });

const FILE = `{
  // rules
  "permissions": {
    "allow": [
      "Bash(a)", // first
      "Bash(b)",
      {"tool": "Read"}
    ]
  }
}
`;

describe('applyRuleUpdates', () => {
  it.each([
    [[rules('addRules', ['Bash(c)'])], ['{"tool": "Read"}', '{"tool": "Read"},\n      "Bash(c)"']],
    [[rules('addRules', ['Bash(a)', 'Bash(b)'])], ['', '']],
    [[rules('removeRules', ['Bash(b)', 'Bash(none)'])], ['      "Bash(b)",\n', '']],
    [[rules('removeRules', ['Bash(c)'], { behavior: 'deny' })], ['', '']],
    [
      [rules('addRules', ['Bash(c)']), rules('removeRules', ['Bash(c)'])],
      ['', ''],
    ],
    [
      [rules('replaceRules', ['Bash(b)', 'Edit'])],
      ['      "Bash(a)", // first\n      "Bash(b)",\n      {"tool": "Read"}', '      "Bash(b)",\n      "Edit"'],
    ],
    [
      [rules('addRules', ['WebFetch(domain:x.example)'], { behavior: 'deny' })],
      ['    ]\n', '    ],\n    "deny": [\n      "WebFetch(domain:x.example)"\n    ]\n'],
    ],
    [
      [{ type: 'setMode', mode: 'plan', destination: 'localSettings' }],
      ['    ]\n', '    ],\n    "defaultMode": "plan"\n'],
    ],
    [
      [
        { type: 'addDirectories', directories: ['/a', '/b'], destination: 'localSettings' },
        { type: 'removeDirectories', directories: ['/a'], destination: 'localSettings' },
      ],
      ['    ]\n', '    ],\n    "additionalDirectories": [\n      "/b"\n    ]\n'],
    ],
  ] as [PermissionUpdate[], [string, string]][])('%j', async (updates, [from, to]) => {
    const place = createPlace();
    const file = place.write(LOCAL, FILE);
    const { changed } = await applyRuleUpdates(file, updates);
    expect(place.text(LOCAL)).toBe(FILE.replace(from, to));
    expect(changed).toBe(from !== to);
  });

  it.each([
    [rules('addRules', ['Bash(a)', 'Bash()']), /The rule cannot be written: "Bash\(\)" can never match/],
    [
      { type: 'addRules', rules: [{ toolName: 'Bash(x' }], behavior: 'deny', destination: 'localSettings' },
      /its bracket is not closed/,
    ],
    [{ type: 'setMode', mode: 'bypassPermissions', destination: 'localSettings' }, /never written to a settings file/],
  ] as [PermissionUpdate, RegExp][])('refuses %j', async (update, message) => {
    const place = createPlace();
    const file = place.write(LOCAL, FILE);
    await expect(applyRuleUpdates(file, [rules('addRules', ['Bash(ok)']), update])).rejects.toMatchObject({
      code: 'invalid_settings',
      message: expect.stringMatching(message),
    });
    expect(place.text(LOCAL)).toBe(FILE);
  });

  it.each([
    ['{"permissions": "all"}', /permissions must be an object/],
    ['{"permissions": {"allow": "all"}}', /permissions\.allow must be a list/],
  ])('leaves a file of the wrong shape alone: %s', async (text, message) => {
    const place = createPlace();
    const file = place.write(LOCAL, text);
    await expect(applyRuleUpdates(file, [rules('addRules', ['Bash(a)'])])).rejects.toThrow(message);
    expect(place.text(LOCAL)).toBe(text);
  });
});

describe('writeRuleUpdates', () => {
  it('to each file what is meant for it, and survives a restart (D5)', async () => {
    const place = createPlace();
    const { outcomes } = await writeRuleUpdates(place.files, [
      rules('addRules', ['Bash(npm --version)']),
      rules('addRules', ['Bash(rm:*)'], { behavior: 'deny', destination: 'userSettings' }),
      rules('addRules', ['Edit'], { behavior: 'ask', destination: 'projectSettings' }),
      rules('addRules', ['Write'], { destination: 'session' }),
      rules('addRules', ['Write'], { destination: 'cliArg' }),
    ]);
    expect(outcomes.map(({ changed }) => changed)).toEqual([true, true, true]);
    expect(JSON.parse(place.text(LOCAL))).toEqual({ permissions: { allow: ['Bash(npm --version)'] } });
    expect(JSON.parse(place.text(USER))).toEqual({ permissions: { deny: ['Bash(rm:*)'] } });
    expect(JSON.parse(place.text(PROJECT))).toEqual({ permissions: { ask: ['Edit'] } });
    expect((await place.load()).value.permissions).toEqual({
      allow: ['Bash(npm --version)'],
      ask: ['Edit'],
      deny: ['Bash(rm:*)'],
    });
  });

  it.each([
    ['a rule for a file', rules('addRules', ['Bash()'], { destination: 'localSettings' }), /rules\[0\] cannot be used/],
    [
      'a rule for the session',
      { type: 'addRules', rules: [{ toolName: 'Bash(()' }], behavior: 'allow', destination: 'session' },
      /^updatedPermissions\[1\]\.rules\[0\] cannot be used: "Bash\(\(\)"/,
    ],
    [
      'a denial of the command line that is only misspelled',
      {
        type: 'addRules',
        rules: [{ toolName: 'Edit' }, { toolName: 'Bassh' }],
        behavior: 'deny',
        destination: 'cliArg',
      },
      /rules\[1\] cannot be used: "Bassh" names no tool; did you mean "Bash"\?/,
    ],
    [
      'a mode for a file',
      { type: 'setMode', mode: 'bypassPermissions', destination: 'localSettings' },
      /never written to a settings file/,
    ],
  ] as [string, PermissionUpdate, RegExp][])(
    'refuses %s before the first file is touched',
    async (_, update, message) => {
      const place = createPlace();
      const updates = [rules('addRules', ['Bash(a)'], { destination: 'userSettings' }), update];
      await expect(writeRuleUpdates(place.files, updates)).rejects.toMatchObject({
        code: 'invalid_settings',
        message: expect.stringMatching(message),
      });
      expect(existsSync(place.path(USER))).toBe(false);
    },
  );

  it('tells of a denial that nobody here knows the tool of', async () => {
    const place = createPlace();
    const deny = rules('addRules', ['Nope'], { behavior: 'deny', destination: 'session' });
    const { doubts } = await writeRuleUpdates(place.files, [deny]);
    expect(doubts).toEqual(['updatedPermissions[0].rules[0]: "Nope" names no tool']);
    expect((await writeRuleUpdates(place.files, [deny], { tools: ['Nope'] })).doubts).toEqual([]);
  });

  it('writes to no file where one of several cannot be changed', async () => {
    const place = createPlace();
    place.write(USER, FILE);
    const updates = (['userSettings', 'localSettings', 'projectSettings'] as const).map((destination) =>
      rules('addRules', ['Bash(c)'], { destination }),
    );
    for (const broken of ['{"permissions": {"allow": [', '{"permissions": "all"}']) {
      place.write(LOCAL, broken);
      await expect(writeRuleUpdates(place.files, updates)).rejects.toThrow(/settings\.local\.json/);
      expect([place.text(USER), place.text(LOCAL), existsSync(place.path(PROJECT))]).toEqual([FILE, broken, false]);
    }
  });

  it('puts back what it wrote where a later file cannot be replaced', async () => {
    const place = createPlace();
    place.write(USER, FILE);
    // The target of a rename that fails: a folder that comes into its place while the text is made.
    const edits = [
      { file: place.path(USER), edit: () => [{ path: ['model'], value: 'x' }] },
      {
        file: place.path(LOCAL),
        edit: () => {
          mkdirSync(place.path(LOCAL));
          return [{ path: ['model'], value: 'x' }];
        },
      },
    ];
    await expect(editTogether(edits)).rejects.toMatchObject({ code: 'invalid_settings' });
    expect(place.text(USER)).toBe(FILE);
    expect(readdirSync(dirname(place.path(LOCAL)))).toEqual(['settings.local.json']);
    expect(readdirSync(dirname(place.path(USER)))).toEqual(['settings.json']);
  });

  it('takes two names of one file for one', async () => {
    const place = createPlace();
    place.write(PROJECT, '{}');
    symlinkSync('settings.json', place.path(LOCAL));
    const updates = (['projectSettings', 'localSettings'] as const).map((destination, at) =>
      rules('addRules', [`Bash(${at})`], { destination }),
    );
    await writeRuleUpdates(place.files, updates);
    expect(JSON.parse(place.text(PROJECT))).toEqual({ permissions: { allow: ['Bash(0)', 'Bash(1)'] } });
  });
});

describe('what is taken back', () => {
  const remove = (texts: string[], behavior: 'allow' | 'deny' = 'deny'): PermissionUpdate =>
    rules('removeRules', texts, { behavior, destination: 'userSettings' });

  it.each([
    ['Task(Explore)', 'Agent(Explore)'],
    ['Bash(npm run:*)', 'Bash(npm run *)'],
    [{ tool: 'Bash', command: 'rm' }, 'Bash(rm:*)'],
    [{ tool: 'Read', path: './x' }, 'Read(./x)'],
    ['Bash', 'Bash(*)'],
  ])('is what means the same: %j by %s', async (written, text) => {
    const place = createPlace();
    place.write(USER, { permissions: { deny: [written, 'Bash(kept)'] } });
    const { doubts } = await writeRuleUpdates(place.files, [remove([text])]);
    expect(JSON.parse(place.text(USER))).toEqual({ permissions: { deny: ['Bash(kept)'] } });
    expect(doubts).toEqual([]);
  });

  it.each(['../extra', '~/extra', 'ABSOLUTE'])('is a folder under any name: %s', async (name) => {
    const place = createPlace();
    const absolute = place.path('home/extra');
    place.write(USER, { permissions: { additionalDirectories: [name === 'ABSOLUTE' ? absolute : name, '/kept'] } });
    const directories = [name === 'ABSOLUTE' ? '../extra' : absolute];
    const update: PermissionUpdate = { type: 'removeDirectories', directories, destination: 'userSettings' };
    expect((await writeRuleUpdates(place.files, [update])).doubts).toEqual([]);
    expect(JSON.parse(place.text(USER))).toEqual({ permissions: { additionalDirectories: ['/kept'] } });
  });

  it('is told when there was nothing of it', async () => {
    const place = createPlace();
    const file = place.write(USER, { permissions: { deny: ['Bash(rm:*)'] } });
    const { doubts } = await writeRuleUpdates(place.files, [remove(['Bash(rm)'])]);
    expect(doubts).toEqual([`updatedPermissions[0] removed nothing: ${file} has none of it.`]);
  });
});
