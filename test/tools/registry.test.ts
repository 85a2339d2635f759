import { describe, expect, it } from 'vitest';
import { checkTools, selectTools } from '../../src/engine/tools/registry.js';
import type { SessionConfig, Tool, ToolContext } from '../../src/protocol/index.js';

const toolOf = (name: string, rest: Partial<Tool> = {}): Tool => ({
  name,
  description: `Is ${name}`,
  inputSchema: { type: 'object' },
  run: async () => ({ content: name }),
  ...rest,
});

const whole = (name: string): Tool => toolOf(name, { parse: (input) => input as never, isReadOnly: () => true });
const LIST_TOOLS = ['TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate'];
const BUILTIN = ['Bash', 'Read', 'TodoWrite', ...LIST_TOOLS].map(whole);
const context = {} as ToolContext;

describe('selectTools', () => {
  const namesOf = (tools: SessionConfig['tools'], disallowedTools: string[] = []): string[] => [
    ...selectTools([...BUILTIN, toolOf('weave'), whole('mcp__s__t')], { tools, disallowedTools }, { canAsk: true })
      .names,
  ];
  const always = ['mcp__s__t', 'weave'];

  it.each<[what: string, tools: SessionConfig['tools'], names: string[]]>([
    ['nothing said', undefined, ['Bash', 'Read', 'TodoWrite']],
    ['the preset', { type: 'preset', preset: 'claude_code' }, ['Bash', 'Read', 'TodoWrite']],
    ['the preset as a name', ['default'], ['Bash', 'Read', 'TodoWrite']],
    ['an empty list', [], []],
    ['names', ['Read', 'Bash'], ['Bash', 'Read']],
    ['old names', ['FileRead'], ['Read']],
    ['one of the other kind of list', ['TaskCreate'], ['TaskCreate']],
    ['the preset and the other kind of list', ['default', ...LIST_TOOLS], ['Bash', 'Read', ...LIST_TOOLS]],
    [
      'the preset and both kinds of list',
      ['default', 'TodoWrite', 'TaskList'],
      ['Bash', 'Read', 'TaskList', 'TodoWrite'],
    ],
    ['a name of an own tool', ['weave'], []],
    ['a name that nobody has', ['Loom'], []],
  ])('with %s: of the built-in tools only those, of others all', (_, tools, names) => {
    expect(namesOf(tools)).toEqual([...names, ...always]);
  });

  it('takes whole tools away, built-in or not', () => {
    expect(namesOf(undefined, ['weave', 'Bash', 'mcp__s'])).toEqual(['Read', 'TodoWrite']);
    expect(namesOf(undefined, ['weave(x)'])).toContain('weave');
    expect(namesOf(undefined, ['*'])).toEqual([]);
  });

  it('finds a tool by its old name too', () => {
    const set = selectTools(BUILTIN, {}, { canAsk: true });
    expect(set.get('FileRead')?.name).toBe('Read');
    expect(set.get('TaskCreate')).toBeUndefined();
    expect(set.get('Loom')).toBeUndefined();
  });

  it('leaves built-in tools as they are', () => {
    const tools = ['Read', 'Bash'].map(whole);
    for (const tool of tools) expect(selectTools(tools, {}, { canAsk: true }).get(tool.name)).toBe(tool);
  });
});

describe('a tool that leaves things open', () => {
  const inputSchema = {
    type: 'object',
    properties: { colour: { enum: ['weld', 'madder'] }, spools: { type: 'integer' } },
    required: ['colour'],
  };
  const tool = selectTools([toolOf('weave', { inputSchema })], {}, { canAsk: true }).get('weave');

  it('is asked about like one that changes something', () => {
    expect(tool?.isReadOnly({}, { cwd: '/' })).toBe(false);
    expect(tool).not.toHaveProperty('accesses');
    expect(tool).not.toHaveProperty('enforce');
  });

  it('has its input checked against its schema', async () => {
    const input = { colour: 'weld', spools: 2, more: [1] };
    const parsed = await tool?.parse(input);
    expect(parsed).toEqual(input);
    expect(parsed).not.toBe(input);
    expect(parsed?.more).not.toBe(input.more);
    await expect(tool?.parse({ spools: 'two' })).rejects.toThrow(
      [
        'InputValidationError: weave failed due to the following issues:',
        'The required parameter `colour` is missing',
        'The parameter `spools` type is expected as `integer` but provided as `string`',
      ].join('\n'),
    );
    await expect(tool?.parse({ colour: 'red' })).rejects.toThrow(
      'InputValidationError: weave failed due to the following issue:\nThe parameter `colour` is not valid: expected one of "weld", "madder"',
    );
  });

  it('keeps all it has, and its functions their `this`', async () => {
    class Loom implements Tool {
      readonly name = 'loom';
      readonly description = 'Weaves';
      readonly inputSchema = { type: 'object' };
      readonly outputSchema = { type: 'object' };
      readonly limits = { text: 10 };
      readonly edits = true;
      readonly #thread = 'indigo';
      accesses() {
        return [{ path: `/${this.#thread}`, access: 'write' as const }];
      }
      async enforce() {
        return this.#thread;
      }
      async run() {
        return { content: this.#thread };
      }
    }
    const loom = selectTools([new Loom()], {}, { canAsk: true }).get('loom');
    expect(loom).toMatchObject({
      outputSchema: { type: 'object' },
      limits: { text: 10, structured: 1024 * 1024 },
      edits: true,
    });
    expect(loom?.accesses?.({}, { cwd: '/' })).toEqual([{ path: '/indigo', access: 'write' }]);
    expect(await loom?.enforce?.({}, context)).toBe('indigo');
    expect(await loom?.run({}, context)).toEqual({ content: 'indigo' });
    const own = whole('whole');
    expect(await selectTools([own], {}, { canAsk: true }).get('whole')?.parse({ a: 1 })).toEqual({ a: 1 });
    const half = selectTools([toolOf('half', { isReadOnly: ({ safe }) => safe === true })], {}, { canAsk: true }).get(
      'half',
    );
    expect([half?.isReadOnly({ safe: true }, { cwd: '/' }), half?.isReadOnly({}, { cwd: '/' })]).toEqual([true, false]);
  });
});

describe('what a tool of the app gives', () => {
  const give = (result: unknown) =>
    selectTools([toolOf('weave', { run: async () => result as never })], {}, { canAsk: true })
      .get('weave')
      ?.run({}, context);

  it('is passed on when it has content', async () => {
    for (const result of [{ content: '' }, { content: [], isError: true }]) expect(await give(result)).toEqual(result);
  });

  it.each([[undefined], ['done'], [{}], [{ content: 5 }]])('is an error when it is %j', async (result) => {
    await expect(give(result)).rejects.toThrow('weave gave no result: its function run must return { content }.');
  });
});

describe('checkTools', () => {
  it('takes any number of tools with names of their own', () => {
    const names = ['weave', 'Weave', 'a-b_c', '1', 'x'.repeat(128), 'toString', '__proto__'];
    expect(() =>
      checkTools(
        BUILTIN,
        names.map((name) => toolOf(name)),
      ),
    ).not.toThrow();
    expect(() => checkTools(BUILTIN, [])).not.toThrow();
  });

  it.each<[what: string, own: unknown, words: string]>([
    ['a name of a built-in tool', [toolOf('Read')], 'Read belongs to a built-in tool'],
    ['an old name of one', [toolOf('FileRead')], 'FileRead belongs to'],
    ['the name of one that is not there', [toolOf('ExitPlanMode')], 'ExitPlanMode belongs to'],
    ['a word of the option `tools`', [toolOf('default')], 'default belongs to'],
    ['two of one name', [toolOf('weave'), toolOf('weave')], 'two tools named weave'],
    ['the name of a server', [toolOf('mcp__s__t')], 'a tool of an MCP server'],
    ['a name with a blank', [toolOf('my tool')], '"my tool"; a name is 1 to 128 letters'],
    ['a name with a newline', [toolOf('weave\n')], 'a name is 1 to 128 letters'],
    ['no name', [toolOf('')], 'a name is 1 to 128 letters'],
    ['a name that is too long', [toolOf('x'.repeat(129))], 'a name is 1 to 128 letters'],
    ['nothing', [null], 'A tool is named nothing'],
    ['no list', { weave: toolOf('weave') }, 'must be a list'],
    ['no function', [{ ...toolOf('weave'), run: undefined }], 'weave has no function run'],
    ['no description', [{ ...toolOf('weave'), description: undefined }], 'weave has no description'],
    ['no schema', [{ ...toolOf('weave'), inputSchema: undefined }], 'inputSchema of the tool weave'],
    ['a schema of something else', [toolOf('weave', { inputSchema: { type: 'array' } })], 'type must be "object"'],
    [
      'a broken schema',
      [toolOf('weave', { inputSchema: { type: 'object', properties: { a: { type: 'text' } } } })],
      'inputSchema of the tool weave cannot be used: properties.a.type is "text"',
    ],
    [
      'a broken output schema',
      [toolOf('weave', { outputSchema: { required: 'a' } })],
      'outputSchema of the tool weave cannot be used: required must be a list of names',
    ],
  ])('H1: refuses %s', (_, own, words) => {
    expect(() => checkTools(BUILTIN, own as Tool[])).toThrow(
      expect.objectContaining({ code: 'invalid_config', message: expect.stringContaining(words) }),
    );
  });
});
