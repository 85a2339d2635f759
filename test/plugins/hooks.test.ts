import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fromSettings } from '../../src/engine/hooks/definition.js';
import { toHookSources } from '../../src/engine/plugins/hook-sources.js';
import { expandCommand, isHarmlessToShells } from '../../src/engine/plugins/root-variable.js';
import { createPlace, MANIFEST } from './place.js';

const command = (text: string) => ({ type: 'command', command: text });
const on = (...hooks: object[]) => [{ hooks }];

describe('hooks of a plugin', () => {
  it('come wrapped, bare, inline and from several files; one file is read once', async () => {
    const place = createPlace();
    place.write('p/hooks/hooks.json', { description: 'x', hooks: { Stop: on(command('1')) } });
    place.write('p/more.json', { $schema: 'x', Stop: on(command('2')) });
    place.write(`p/${MANIFEST}`, {
      name: 'p',
      hooks: ['./hooks/hooks.json', './more.json', { Stop: on(command('3')) }, { hooks: { Stop: on(command('4')) } }],
    });
    const { plugins, problems } = await place.load(['p']);
    expect(problems).toEqual([]);
    expect(plugins[0]?.hooks.Stop?.flatMap(({ hooks }) => hooks.map((hook) => hook.command))).toEqual([
      '1',
      '2',
      '3',
      '4',
    ]);
  });

  it('that are broken are left out one by one, with their lines', async () => {
    const place = createPlace();
    place.write('p/hooks/hooks.json', {
      PreToolUse: [
        { matcher: 5, hooks: [command('a')] },
        {
          matcher: 'Bash',
          hooks: [command('b'), { type: 'command' }, { type: 'odd' }, { ...command('c'), timeout: '9' }],
        },
        'nonsense',
      ],
      Stop: {},
      FileChanged: on(command('d')),
      NoEvent: on(command('e')),
    });
    const { plugins, problems } = await place.load(['p']);
    expect(plugins[0]?.hooks).toEqual({ PreToolUse: [{ matcher: 'Bash', hooks: [command('b')] }] });
    expect(place.show(problems).map((line) => line.replace('p/hooks/hooks.json', ''))).toEqual([
      'error :4 hooks.PreToolUse[0].matcher: Invalid input: expected string, received number',
      'error :28 hooks.PreToolUse[1].hooks[3].timeout: Invalid input: expected number, received string',
      'error :32 hooks.PreToolUse[2]: Invalid input: expected object, received string',
      'error :34 hooks.Stop: Invalid input: expected array, received object',
      'error :19 hooks.PreToolUse[1].hooks[1]: a hook of type "command" needs "command"',
      expect.stringMatching(/^error :22 hooks.PreToolUse\[1\].hooks\[2\]: there is no hook of type "odd"/),
      'warning :35 hooks.FileChanged: nothing here causes this event',
      'error :45 hooks.NoEvent: there is no hook event of this name',
    ]);
  });

  it('inline in the manifest have the lines of the manifest', async () => {
    const place = createPlace();
    place.write(
      `p/${MANIFEST}`,
      '{\n"name": "p",\n"hooks": {\n"Stop": [\n{ "hooks": [{ "type": "command" }] }\n]\n}\n}',
    );
    const { problems } = await place.load(['p']);
    expect(place.show(problems)[0]).toBe(
      `error p/${MANIFEST}:5 hooks.Stop[0].hooks[0]: a hook of type "command" needs "command"`,
    );
  });

  it('tell of files that are not there', async () => {
    const place = createPlace();
    place.write('p/there.sh', '');
    place.write('p/.mcp.json', {
      a: { command: '${CLAUDE_PLUGIN_ROOT}/there.sh', args: ['${CLAUDE_PLUGIN_ROOT}/gone.js'] },
    });
    place.write('p/hooks/hooks.json', {
      Stop: on(
        command('"${CLAUDE_PLUGIN_ROOT}"/there.sh'),
        command('sh "$CLAUDE_PLUGIN_ROOT/gone.sh" x'),
        command('./x.sh'),
      ),
    });
    const { problems } = await place.load(['p']);
    expect(place.show(problems)).toEqual([
      'warning p/hooks/hooks.json:9 hooks.Stop[0].hooks[1]: there is no gone.sh in the plugin',
      'warning p/hooks/hooks.json:13 hooks.Stop[0].hooks[2]: "./x.sh" starts at the folder of the session; write ${CLAUDE_PLUGIN_ROOT}/...',
      'warning p/.mcp.json:2 "a": there is no gone.js in the plugin',
    ]);
  });

  it('are hooks of whoever named the plugin', async () => {
    const place = createPlace();
    place.write('p/hooks/hooks.json', { PreToolUse: on({ ...command('true'), onFailure: 'allow' }) });
    place.write('none/commands/a.md', 'a');
    const effects = async (scope: 'flag' | 'project' | 'user') => {
      const sources = toHookSources((await place.load(['p', 'none'], scope)).plugins);
      expect(sources.map(({ layer, env }) => [layer, env])).toEqual([
        [scope, { CLAUDE_PLUGIN_ROOT: join(place.root, 'p') }],
      ]);
      return fromSettings(sources).definitions.map(({ onFailure }) => onFailure);
    };
    expect([await effects('user'), await effects('flag')]).toEqual([['allow'], ['allow']]);
    // What a project names cannot open a gate that fails.
    expect(await effects('project')).toEqual(['ask']);
  });
});

describe('${CLAUDE_PLUGIN_ROOT} in commands', () => {
  it.each([
    ['${CLAUDE_PLUGIN_ROOT}/a b', '/x\\ y/a b'],
    ['"${CLAUDE_PLUGIN_ROOT}/a"', '"/x y/a"'],
    ['"${CLAUDE_PLUGIN_ROOT}"/a', '"/x y"/a'],
    ["sh -c 'ls $CLAUDE_PLUGIN_ROOT'", "sh -c 'ls /x y'"],
    ['echo \\" $CLAUDE_PLUGIN_ROOT/a', 'echo \\" /x\\ y/a'],
    ['$CLAUDE_PLUGIN_ROOTS ${HOME} \\$CLAUDE_PLUGIN_ROOT', '$CLAUDE_PLUGIN_ROOTS ${HOME} \\$CLAUDE_PLUGIN_ROOT'],
    ['a\\', 'a\\'],
  ])('%s', (given, expected) => {
    expect(expandCommand(given, '/x y')).toBe(expected);
  });

  it('finds its scripts in a folder with blanks, in every kind of quotes', async () => {
    const place = createPlace();
    const script = place.write('my plugins/p/say.sh', '#!/bin/sh\necho "said $1"\n');
    chmodSync(script, 0o755);
    const ways = ['${CLAUDE_PLUGIN_ROOT}/say.sh a', '"${CLAUDE_PLUGIN_ROOT}/say.sh" a', '$CLAUDE_PLUGIN_ROOT/say.sh a'];
    place.write('my plugins/p/hooks/hooks.json', { Stop: on(...ways.map(command)) });
    const { plugins } = await place.load(['my plugins/p']);
    const commands = plugins[0]?.hooks.Stop?.flatMap(({ hooks }) => hooks.map((hook) => hook.command ?? '')) ?? [];
    expect(commands.map((line) => execFileSync('bash', ['-c', line], { encoding: 'utf8' }))).toEqual(
      ways.map(() => 'said a\n'),
    );
  });

  it.each(['/a$(id)', '/a`id`', '/a;b', '/a"b', "/a'b", '/a\nb', '/a&b', '/a|b', '/a\\b', '/a*'])(
    'a shell would obey %j',
    (root) => expect(isHarmlessToShells(root)).toBe(false),
  );

  it('is not put into commands where a shell would obey it', async () => {
    const place = createPlace();
    place.write('a$(id)/p/hooks/hooks.json', { Stop: on(command('${CLAUDE_PLUGIN_ROOT}/x')) });
    place.write('a$(id)/p/commands/a.md', 'a');
    const { plugins, problems } = await place.load(['a$(id)/p']);
    expect(plugins.map(({ hooks, folders }) => [hooks, folders.length])).toEqual([[{}, 1]]);
    expect(place.show(problems)).toEqual([
      expect.stringMatching(/^error .*its hooks are not used: .*; move the plugin$/),
    ]);
  });
});
