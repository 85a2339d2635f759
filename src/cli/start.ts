/** From the words of the command line to the mode that answers them. */
import type { Logger, SessionConfig } from '../protocol/index.js';
import { type CliOptions, parseArgv } from '../protocol/plain.js';
import { checkStart } from './checks.js';
import { createDebugLog } from './debug-log.js';
import { type Environment, readEnvironment } from './environment.js';
import { describeFailure } from './failure.js';
import { decideMode, type Mode } from './mode.js';
import { type Look, wantsColour } from './paint.js';
import { toSessionConfig } from './session-config.js';

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
  await Promise.all([flush(process.stdout), flush(process.stderr)]);
  process.exit(code);
}

const flush = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.writableNeedDrain || stream.writableLength > 0)
      stream.once('error', () => resolve()).write('', () => resolve());
    else resolve();
  });

async function run(argv: readonly string[]): Promise<number> {
  const environment = readEnvironment(process.env);
  const colour = wantsColour(environment.env, process.stdout.isTTY);
  if (argv[0] === 'doctor') {
    const { runDoctor } = await import('./doctor.js');
    return runDoctor(argv.slice(1), {
      environment,
      cwd: process.cwd(),
      colour,
      write: (text) => process.stdout.write(text),
    });
  }
  const parsed = parseArgv(argv);
  if (parsed.cli.version || parsed.cli.help) return answerAtOnce(parsed.cli);

  const mode = decideMode(parsed.cli, {
    stdinIsTerminal: process.stdin.isTTY,
    stdoutIsTerminal: process.stdout.isTTY,
  });
  const cwd = process.cwd();
  const isRoot = process.getuid?.() === 0;
  checkStart({ mode, cli: parsed.cli, config: parsed.config, cwd, isRoot, isSandbox: environment.isSandbox });
  const config = dropIgnored({ cli: parsed.cli, config: toSessionConfig({ parsed, environment, cwd, isRoot }), mode });
  const logger = chooseLog({ config, mode, cli: parsed.cli, environment });
  const look: Look = { colour: colour && !parsed.cli.axScreenReader, words: parsed.cli.axScreenReader };
  return MODES[mode]({ cli: parsed.cli, config, positionals: parsed.positionals, look, logger });
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

/** A person is told which flags do nothing yet, and goes on without; a program gets the engine's refusal as a result. */
function dropIgnored({ cli, config, mode }: Pick<Run, 'cli' | 'config'> & { mode: Mode }): SessionConfig {
  if (mode === 'serve') return config;
  const kept: Record<string, unknown> = { ...config };
  const flags = new Map(cli.later?.map(({ flag, key }) => [flag, key]));
  const promptTool = config.permissionPromptTool;
  if (promptTool !== undefined && promptTool !== 'stdio') flags.set('--permission-prompt-tool', 'permissionPromptTool');
  for (const [flag, key] of flags) {
    process.stderr.write(`heddle: ${flag} is not supported yet and was ignored\n`);
    delete kept[key];
  }
  return kept as unknown as SessionConfig;
}

async function openEngine({ config, logger }: Pick<Run, 'config' | 'logger'>) {
  const { createEngine, createFileStore, systemClock } = await import('../engine/index.js');
  const store = createFileStore({ configDir: config.configDir });
  return createEngine({ clock: systemClock, store, ...(logger === undefined ? {} : { logger }) });
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
  // The engine is loaded while stdin is read.
  const engineIsLoading = openEngine({ config, logger });
  engineIsLoading.catch(() => undefined);
  const prompt = await readPrompt({
    words: positionals,
    input: hasInput(0) ? process.stdin : undefined,
    onSilence: () =>
      process.stderr.write(
        'heddle: nothing came on stdin, going on with the prompt alone (use < /dev/null to skip the wait)\n',
      ),
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
  });
}

async function chat({ config, positionals, look, logger }: Run): Promise<number> {
  const { runChat } = await import('./chat.js');
  const engine = await openEngine({ config, logger });
  const session = await engine.open({ ...config, includePartialMessages: true });
  return runChat({
    ...look,
    session,
    input: process.stdin,
    output: process.stdout,
    isTerminal: true,
    cwd: config.cwd,
    firstPrompt: positionals.join(' ').trim() || undefined,
  });
}
