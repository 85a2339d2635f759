/** From the words of the command line to the mode that answers them. */
import type { Logger, SessionConfig } from '../protocol/index.js';
import { type CliOptions, HeddleError, parseArgv } from '../protocol/plain.js';
import { checkMcpConfig, checkStart } from './checks.js';
import { createDebugLog } from './debug-log.js';
import { type Environment, readEnvironment } from './environment.js';
import { describeFailure } from './failure.js';
import { dropIgnored } from './ignored.js';
import { decideMode, type Mode } from './mode.js';
import { type Look, wantsColour } from './paint.js';
import { describeDoubts } from './rules.js';
import { toSessionConfig } from './session-config.js';
import { EXIT_CODES, watchSignals } from './signals.js';

interface Run {
  cli: CliOptions;
  config: SessionConfig;
  positionals: readonly string[];
  look: Look;
  logger: Logger | undefined;
}

/** Runs the program and ends the process, when all that was written has left it. */
export async function start(argv: readonly string[]): Promise<void> {
  let code = 1;
  try {
    code = await run(argv);
  } catch (thrown) {
    process.stderr.write(`${describeFailure(thrown)}\n`);
  }
  await flush(process.stdout);
  await flush(process.stderr);
  // Output that could not be written has set an exit code of its own.
  process.exit(code === 0 ? process.exitCode : code);
}

/** An empty write comes back behind all that was written before, and behind its failure. */
const flush = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.writableEnded || stream.destroyed) setImmediate(resolve);
    else stream.once('error', () => resolve()).write('', () => resolve());
  });

async function run(argv: readonly string[]): Promise<number> {
  const environment = readEnvironment(process.env);
  const colour = wantsColour(environment.env, process.stdout.isTTY);
  if (argv[0] === 'doctor') {
    const { runDoctor } = await import('./doctor.js');
    return runDoctor(argv.slice(1), {
      environment,
      cwd: currentFolder(),
      colour,
      write: (text) => process.stdout.write(text),
    });
  }
  if (argv[0] === 'trust' || argv[0] === 'permissions' || argv[0] === 'sessions') {
    const parts = {
      stdin: process.stdin,
      stdout: process.stdout,
      stderr: process.stderr,
      cwd: currentFolder(),
      configDir: environment.configDir,
    };
    if (argv[0] === 'sessions') {
      quietExperiments();
      return (await import('./sessions.js')).runSessions(argv.slice(1), { ...parts, colour });
    }
    if (argv[0] === 'trust') return (await import('./trust.js')).runTrust(argv.slice(1), parts);
    if (argv[1] === 'check') return (await import('./permissions-check.js')).runCheck(argv.slice(2), parts);
    return (await import('./permissions.js')).runPermissions(argv.slice(1), parts);
  }
  if (argv[0] === 'mcp') {
    if (argv[1] === 'serve' && !argv.includes('--help') && !argv.includes('-h'))
      return serveTools(argv.slice(2), environment);
    const [{ runMcp }, { openPage }] = await Promise.all([import('./mcp.js'), import('./mcp-auth.js')]);
    const { stdin, stdout, stderr } = process;
    return runMcp(argv.slice(1), {
      stdin,
      stdout,
      stderr,
      cwd: currentFolder(),
      configDir: environment.configDir,
      env: environment.env,
      width: stdout.isTTY ? stdout.columns : undefined,
      openPage: (url) => openPage(url, environment.env),
    });
  }
  if (argv[0] === 'plugin') {
    const { runPlugin } = await import('./plugin.js');
    const { stdout, stderr } = process;
    return runPlugin(argv.slice(1), { stdout, stderr, cwd: currentFolder(), configDir: environment.configDir });
  }
  if (argv[0] === 'completion') {
    const { completionScript } = await import('./completion.js');
    process.stdout.write(completionScript(argv[1]));
    return 0;
  }
  const parsed = parseArgv(argv);
  if (parsed.cli.version || parsed.cli.help) return answerAtOnce(parsed.cli);

  const mode = decideMode(parsed.cli, {
    stdinIsTerminal: process.stdin.isTTY,
    stdoutIsTerminal: process.stdout.isTTY,
  });
  const cwd = currentFolder();
  checkStart({ mode, cli: parsed.cli, config: parsed.config, cwd });
  await checkMcpConfig(parsed.config.mcpConfig ?? [], cwd);
  const asked = toSessionConfig({ parsed, environment, cwd });
  const config = mode === 'serve' ? asked : tellDoubts(parsed.cli, asked, environment);
  const logger = chooseLog({ config, mode, cli: parsed.cli, environment });
  const look: Look = { colour: colour && !parsed.cli.axScreenReader, words: parsed.cli.axScreenReader };
  return MODES[mode]({ cli: parsed.cli, config, positionals: parsed.positionals, look, logger });
}

/** The flags are those of a session: rules, mode, folders, settings. */
async function serveTools(argv: readonly string[], environment: Environment): Promise<number> {
  const parsed = parseArgv(argv);
  const cwd = currentFolder();
  const { cli, config: flags, positionals } = parsed;
  if (positionals.length > 0) {
    throw new HeddleError('invalid_config', 'error: "mcp serve" takes flags only.\nSee heddle mcp --help.');
  }
  checkStart({ mode: 'serve', cli, config: flags, cwd });
  const config = toSessionConfig({ parsed, environment, cwd });
  const logger = chooseLog({ config, mode: 'serve', cli, environment });
  const { runMcpServe } = await import('./mcp-serve.js');
  return runMcpServe({ config, input: process.stdin, output: process.stdout, ...(logger && { logger }) });
}

/** Older versions of Node call their SQLite an experiment, which says nothing to whoever searches. */
function quietExperiments(): void {
  process.removeAllListeners('warning').on('warning', ({ name, message }) => {
    if (name !== 'ExperimentalWarning') process.stderr.write(`${name}: ${message}\n`);
  });
}

const MODES: Record<Mode, (run: Run) => Promise<number>> = { serve, print, chat };

async function answerAtOnce(cli: CliOptions): Promise<number> {
  const { VERSION } = await import('./version.js');
  const { helpText } = await import('./help.js');
  process.stdout.write(cli.version ? `${VERSION} (Heddle)\n` : helpText());
  return 0;
}

interface LogChoice {
  config: SessionConfig;
  mode: Mode;
  cli: CliOptions;
  environment: Environment;
}

function chooseLog({ config, mode, cli, environment }: LogChoice): Logger | undefined {
  const asked = config.debug !== undefined || cli.mcpDebug === true;
  // A variable meant for the program that started us must not fill its stderr.
  const toStderr = asked || (environment.debug && mode !== 'serve');
  const topics = typeof config.debug === 'string' ? config.debug : undefined;
  return createDebugLog({ toStderr, file: config.debugFile, topics, stderr: process.stderr });
}

/** A person is told what will not be as it was asked, and goes on without; a program gets the engine's refusal. */
function tellDoubts(cli: CliOptions, asked: SessionConfig, environment: Environment): SessionConfig {
  const { config, notes } = dropIgnored(cli, asked);
  for (const text of [...environment.doubts, ...notes, ...describeDoubts(config)]) tell(text);
  return config;
}

const tell = (text: string): void => void process.stderr.write(`heddle: ${text}\n`);

function currentFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    const text = 'The working directory no longer exists. Change to an existing folder.';
    throw new HeddleError('invalid_config', text, { cause });
  }
}

async function openEngine({ config: { configDir }, logger }: Pick<Run, 'config' | 'logger'>) {
  return (await import('./open-engine.js')).openEngine({ configDir, logger });
}

async function serve({ config, positionals, logger }: Run): Promise<number> {
  const { runServe } = await import('./serve.js');
  const engine = await openEngine({ config, logger });
  return runServe({
    engine,
    config,
    input: process.stdin,
    output: process.stdout,
    firstPrompt: positionals.length > 0 ? positionals.join(' ') : undefined,
    logger,
    pid: process.pid,
  });
}

async function print({ cli, config, positionals, look, logger }: Run): Promise<number> {
  const { hasInput, readPrompt } = await import('./prompt.js');
  const format = cli.outputFormat ?? 'text';
  // A signal while the prompt is read: nothing has begun that would need an end.
  const signals = watchSignals({ onInterrupt: () => process.exit(EXIT_CODES.SIGINT), close: async () => {} });
  // The engine is loaded while stdin is read.
  const engineIsLoading = openEngine({ config, logger });
  engineIsLoading.catch(() => undefined);
  const input = hasInput(0) ? process.stdin : undefined;
  if (input !== undefined) logger?.('debug', 'the prompt is read from stdin');
  const prompt = await readPrompt({
    words: positionals,
    input,
    mayBeEmpty: config.resume !== undefined || config.continue === true,
    onSilence: () => tell('nothing came on stdin, going on with the prompt alone (use < /dev/null to skip the wait)'),
  });
  const [{ runPrint }, { createPrinter }, engine] = await Promise.all([
    import('./print.js'),
    import('./printer.js'),
    engineIsLoading,
  ]);
  const view = { ...look, cwd: config.cwd };
  const printer = await createPrinter({
    format,
    verbose: cli.verbose ?? false,
    stdout: process.stdout,
    stderr: process.stderr,
    isTerminal: process.stdout.isTTY,
    view,
  });
  const session = format === 'terminal' ? { ...config, includePartialMessages: true } : config;
  return runPrint({
    engine,
    config: session,
    prompt,
    printer,
    stderr: process.stderr,
    newId: () => engine.clock.uuid(),
    signals,
  });
}

async function chat({ config, positionals, look, logger }: Run): Promise<number> {
  const [{ runChat }, { tellFreshStart, tellSettings }] = await Promise.all([
    import('./chat.js'),
    import('./notices.js'),
  ]);
  const engine = await openEngine({ config, logger });
  const trusted = await (await import('./first-trust.js')).askAboutFolder(config, process);
  const session = await engine.open({ ...config, includePartialMessages: true, ...(trusted && { trusted }) });
  tellFreshStart(config, { session, stderr: process.stderr });
  tellSettings(session, process.stderr);
  return runChat({
    ...look,
    session,
    input: process.stdin,
    output: process.stdout,
    isTerminal: config.env.TERM !== 'dumb',
    cwd: config.cwd,
    hasCommands: config.disableSlashCommands !== true,
    firstPrompt: positionals.join(' ').trim() || undefined,
    spentUsd: session.scope.spending.totalUsd,
  });
}
