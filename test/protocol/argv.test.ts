import { describe, expect, it } from 'vitest';
import type { SessionConfig } from '../../src/protocol/config.js';
import {
  EFFORT_LEVELS,
  FLAGS,
  HeddleError,
  PERMISSION_MODES,
  parseArgv,
  SETTING_SOURCES,
  SETUP_TRIGGERS,
  toArgv,
} from '../../src/protocol/plain.js';

const configOf = (...argv: string[]) => parseArgv(argv).config;

function refusalOf(...argv: string[]): string {
  try {
    parseArgv(argv);
  } catch (error) {
    expect(error).toBeInstanceOf(HeddleError);
    expect((error as HeddleError).code).toBe('invalid_config');
    return (error as HeddleError).message;
  }
  throw new Error(`accepted: ${argv.join(' ')}`);
}

describe('parseArgv', () => {
  it.each<[string[], Partial<SessionConfig>]>([
    [['--model', 'opus'], { model: 'opus' }],
    [['--model=opus'], { model: 'opus' }],
    [['--model=a=b'], { model: 'a=b' }],
    [['--system-prompt', ''], { systemPrompt: '' }],
    [['--system-prompt', '--be brief'], { systemPrompt: '--be brief' }],
    [['--max-turns', '3'], { maxTurns: 3 }],
    [['--maxTurns=3'], { maxTurns: 3 }],
    [['--max-budget-usd=0.25'], { maxBudgetUsd: 0.25 }],
    [['--max-thinking-tokens', '1024'], { maxThinkingTokens: 1024 }],
    [['--thinking=adaptive'], { thinking: { type: 'adaptive' } }],
    [['--thinking=enabled', '--max-thinking-tokens=9'], { thinking: { type: 'enabled', budgetTokens: 9 } }],
    [['--thinking=disabled', '--max-thinking-tokens=9'], { thinking: { type: 'disabled' }, maxThinkingTokens: 9 }],
    [['-c'], { continue: true }],
    [['--continue=false'], { continue: false }],
    [['-r', 'abc'], { resume: 'abc' }],
    [['-r'], { resume: '' }],
    [['--resume', '--fork-session'], { resume: '', forkSession: true }],
    [['--no-session-persistence'], { persistSession: false }],
    [['--permission-mode=manual'], { permissionMode: 'default' }],
    [
      ['--permission-mode=bypassPermissions'],
      { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true },
    ],
    [
      ['--permission-mode', 'default', '--dangerously-skip-permissions'],
      { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true },
    ],
    [['--allow-dangerously-skip-permissions'], { allowDangerouslySkipPermissions: true }],
    [['--allowedTools=Read,Write'], { allowedTools: ['Read', 'Write'] }],
    [['--allowed-tools', 'Read', 'Write', '-c'], { allowedTools: ['Read', 'Write'], continue: true }],
    [['--allowedTools', 'Read', '--allowedTools', 'Edit'], { allowedTools: ['Read', 'Edit'] }],
    [['--allowedTools', 'Bash(git log:*, x) Edit'], { allowedTools: ['Bash(git log:*, x)', 'Edit'] }],
    [['--disallowedTools', '["Bash(echo \\") x\\")"]'], { disallowedTools: ['Bash(echo ") x")'] }],
    [['--tools='], { tools: [] }],
    [['--tools', ''], { tools: [] }],
    [['--tools', 'default'], { tools: { type: 'preset', preset: 'claude_code' } }],
    [['--tools', 'Read,Grep'], { tools: ['Read', 'Grep'] }],
    [['--setting-sources', ''], { settingSources: [] }],
    [['--setting-sources=user,local'], { settingSources: ['user', 'local'] }],
    [['--add-dir', '/a,b', '/c d'], { additionalDirectories: ['/a,b', '/c d'] }],
    [['--mcp-config', '{"mcpServers":{}}'], { mcpConfig: ['{"mcpServers":{}}'] }],
    [['--json-schema', '{"type":"object"}'], { jsonSchema: { type: 'object' } }],
    [['--debug'], { debug: true as const }],
    [['-d', 'api,hooks'], { debug: 'api,hooks' }],
    [
      ['--exclude-dynamic-system-prompt-sections'],
      { systemPrompt: { type: 'preset', preset: 'claude_code', excludeDynamicSections: true } },
    ],
  ])('%j', (argv, config) => {
    expect(configOf(...argv)).toEqual(config);
  });

  it('keeps what the program alone needs apart from the session', () => {
    const { cli, config, positionals } = parseArgv([
      '-p',
      'say hi',
      '--output-format',
      'stream-json',
      '--verbose',
      '--input-format=stream-json',
    ]);
    expect(cli).toEqual({ print: true, outputFormat: 'stream-json', inputFormat: 'stream-json', verbose: true });
    expect(config).toEqual({});
    expect(positionals).toEqual(['say hi']);
  });

  it('a variadic flag eats the words after it, `--` ends it, `=` does not start it', () => {
    expect(parseArgv(['--allowedTools', 'Read', 'Write', '--', 'the', '-prompt']).positionals).toEqual([
      'the',
      '-prompt',
    ]);
    expect(parseArgv(['--allowedTools', 'Read', 'prompt']).positionals).toEqual([]);
    expect(parseArgv(['--allowedTools=Read', 'prompt']).positionals).toEqual(['prompt']);
    expect(parseArgv(['-']).positionals).toEqual(['-']);
  });

  it('names the flags whose capability has not arrived, and refuses those that would restrict', () => {
    expect(parseArgv(['--project-config-root', 'x', '--restricted']).cli.later).toEqual([
      { flag: '--project-config-root', key: 'projectConfigRoot', refused: false },
      { flag: '--restricted', key: 'restricted', refused: true },
    ]);
  });

  it.each([
    [['--no-such-flag'], "error: unknown option '--no-such-flag'"],
    [['--modle', 'x'], "error: unknown option '--modle'\n(Did you mean --model?)"],
    [['--allowTools=x'], "error: unknown option '--allowTools'\n(Did you mean --allowed-tools?)"],
    [['-z'], "error: unknown option '-z'"],
    [['--init', '--maintenance'], 'error: --init and --maintenance exclude each other'],
    [['--model'], "error: option '--model <model>' argument missing"],
    [
      ['--permission-mode', 'bogus'],
      `error: option '--permission-mode <mode>' argument 'bogus' is invalid. Allowed choices are ${PERMISSION_MODES.join(', ')}.`,
    ],
    [['--max-turns', 'abc'], "error: option '--max-turns <turns>' argument 'abc' is invalid. must be a number"],
    [['--max-turns='], "error: option '--max-turns <turns>' argument '' is invalid. must be a number"],
    [['--max-turns=1.5'], "error: option '--max-turns <turns>' argument '1.5' is invalid. must be a whole number"],
    [['--max-turns', '-1'], "error: option '--max-turns <turns>' argument '-1' is invalid. must not be negative"],
    [
      ['--max-budget-usd=0'],
      "error: option '--max-budget-usd <amount>' argument '0' is invalid. must be greater than 0",
    ],
    [['--print=maybe'], "error: option '-p, --print' argument 'maybe' is invalid. must be true or false"],
    [
      ['--setting-sources=user,cloud'],
      "error: option '--setting-sources <sources>' argument 'cloud' is invalid. Allowed choices are user, project, local.",
    ],
    [['--agents', '[]'], 'Error: --agents must be a JSON object'],
  ])('refuses %j', (argv, text) => {
    expect(refusalOf(...argv)).toBe(text);
  });

  it('says why JSON is not JSON', () => {
    expect(refusalOf('--json-schema', '{bad')).toMatch(/^Error: --json-schema is not valid JSON: .+/);
  });
});

/** A small seeded generator, so that a failure names the seed that repeats it. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function generateConfig(seed: number): Partial<SessionConfig> {
  const random = randomOf(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const pieces = ['Read', 'Bash(git log:*)', ',', ' ', '(', ')', '[', '"', '=', '-', '--', 'ü', '\n', '\\', "'", 'x'];
  const text = (): string => Array.from({ length: 1 + Math.floor(random() * 6) }, () => pick(pieces)).join('');
  const texts = (least: number): string[] => Array.from({ length: least + Math.floor(random() * 3) }, text);
  const some = (): Record<string, unknown> => ({ [text()]: text(), deep: { list: [1, null, text()] } });
  const makers: { [K in keyof SessionConfig]?: () => SessionConfig[K] } = {
    model: text,
    fallbackModel: text,
    effort: () => pick(EFFORT_LEVELS),
    thinking: () => pick([{ type: 'adaptive' }, { type: 'disabled' }, { type: 'enabled', budgetTokens: 5 }] as const),
    betas: () => texts(1),
    continue: () => true,
    resume: text,
    resumeSessionAt: text,
    forkSession: () => true,
    sessionId: text,
    persistSession: () => false,
    tools: () => pick([texts(0), { type: 'preset', preset: 'claude_code' } as const]),
    allowedTools: () => texts(1),
    disallowedTools: () => texts(1),
    additionalDirectories: () => texts(1),
    permissionMode: () => pick(PERMISSION_MODES),
    allowDangerouslySkipPermissions: () => true,
    permissionPromptTool: text,
    permissionPrompts: () => 'none',
    systemPrompt: text,
    appendSystemPrompt: text,
    includePartialMessages: () => true,
    replayUserMessages: () => true,
    includeHookEvents: () => true,
    setup: () => pick(SETUP_TRIGGERS),
    maxTurns: () => 1 + Math.floor(random() * 99),
    maxBudgetUsd: () => 0.01 + random(),
    maxQuestionSeconds: () => 0.01 + random(),
    maxSeconds: () => 0.01 + random(),
    maxTotalTurns: () => 1 + Math.floor(random() * 9),
    settings: text,
    settingSources: () => SETTING_SOURCES.filter(() => random() < 0.5),
    debug: () => pick([true, text()]),
    debugFile: text,
    title: text,
    resumeDropsTurn: text,
    agent: text,
    agents: some,
    mcpConfig: () => texts(1),
    strictMcpConfig: () => true,
    trusted: () => true,
    jsonSchema: some,
    pluginDirs: () => texts(1),
    managedSettings: text,
    projectConfigRoot: text,
    taskBudget: () => Math.floor(random() * 1e6),
    disableSlashCommands: () => true,
    forwardSubagentText: () => true,
  };
  const entries = Object.entries(makers).flatMap(([key, make]) => (random() < 0.3 ? [[key, make()]] : []));
  const config: Partial<SessionConfig> = Object.fromEntries(entries);
  if (config.permissionMode === 'bypassPermissions') config.allowDangerouslySkipPermissions = true;
  return config;
}

describe('toArgv', () => {
  it('is the inverse of parseArgv on the options of a session (300 seeds)', () => {
    for (let seed = 1; seed <= 300; seed += 1) {
      const config = generateConfig(seed);
      const argv = toArgv(config);
      const parsed = parseArgv([...argv, '--', 'prompt']);
      expect(parsed.config, `seed ${seed}: ${JSON.stringify(argv)}`).toEqual(config);
      expect(parsed.positionals).toEqual(['prompt']);
      expect(toArgv(parsed.config)).toEqual(argv);
    }
  });

  it('every option with a flag is generated above, or is one of those that are converted', () => {
    const generated = new Set(Array.from({ length: 300 }, (_, seed) => Object.keys(generateConfig(seed + 1))).flat());
    const missing = FLAGS.filter((row) => row.part === 'config' && !generated.has(row.key)).map((row) => row.key);
    expect(missing.toSorted()).toEqual([
      'dangerouslySkipPermissions',
      'excludeDynamicSections',
      'init',
      'maintenance',
      'maxThinkingTokens',
    ]);
  });

  it.each<[Partial<SessionConfig>, string[]]>([
    [{ cwd: '/x', env: { A: 'b' }, configDir: '/c', maxRetries: 3 }, []],
    [{ persistSession: true, continue: false, debug: false, maxThinkingTokens: null }, []],
    [{ allowedTools: ['Read', 'Bash(a,b)'] }, ['--allowedTools=Read,Bash(a,b)']],
    [{ allowedTools: [], tools: [], settingSources: [] }, ['--tools=', '--setting-sources=']],
    [{ additionalDirectories: ['/a', '/b'] }, ['--add-dir=/a', '--add-dir=/b']],
    [{ systemPrompt: { type: 'preset', preset: 'heddle', append: 'x' } }, ['--append-system-prompt=x']],
    [{ systemPrompt: ['a', 'b'] }, ['--system-prompt=a\n\nb']],
    [
      { thinking: { type: 'enabled', budgetTokens: 7 }, maxThinkingTokens: 9 },
      ['--thinking=enabled', '--max-thinking-tokens=7'],
    ],
  ])('%j', (config, argv) => {
    expect(toArgv(config)).toEqual(argv);
  });
});

describe('FLAGS', () => {
  it('has one row for each spelling', () => {
    const names = FLAGS.flatMap((row) => row.names);
    expect(names).toHaveLength(new Set(names).size);
  });

  it('has a help text for everything the help shows', () => {
    expect(FLAGS.filter((row) => !row.hidden && row.help === '').map((row) => row.flag)).toEqual([]);
  });

  it('takes a value exactly where the kind needs one', () => {
    for (const row of FLAGS) expect([row.flag, row.value !== undefined]).toEqual([row.flag, row.kind !== 'boolean']);
  });
});
