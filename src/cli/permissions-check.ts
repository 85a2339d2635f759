/** `heddle permissions check`: one case per line in, one verdict per line out. Nothing is run, no file is looked at. */
import type { Output } from './trust.js';

const HELP = `Usage: heddle permissions check < cases

Reads one JSON object {id, setup, input} per line: setup has mode, allow, ask, deny, cwd, trusted, fs and managed; input
is the call, such as {"tool": "Bash", "command": "git status"}. Prints one {id, verdict, rule, layer, segments, reason}
per line.
`;

export async function runCheck(
  argv: readonly string[],
  { stdin, stdout }: { stdin: CheckStreams['input']; stdout: Output },
): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    stdout.write(HELP);
    return 0;
  }
  const { judgeCase } = await import('../engine/index.js');
  return checkPermissions({ input: stdin, write: (text) => void stdout.write(text) }, judgeCase);
}

/** One line of the output. */
export interface CheckedCase {
  id: unknown;
  verdict: string;
  rule: string | null;
  layer: string | null;
  segments: readonly string[];
  reason: string;
}

/** `judgeCase` of the engine. */
export type JudgeCase = (given: Record<string, unknown>) => CheckedCase | Promise<CheckedCase>;

export interface CheckStreams {
  input: AsyncIterable<string | Uint8Array>;
  write(text: string): void;
}

/** Reads cases until the input ends. Never throws for what is in a line; resolves with the exit code. */
export async function checkPermissions({ input, write }: CheckStreams, judgeCase: JudgeCase): Promise<number> {
  const decoder = new TextDecoder();
  let rest = '';
  const answer = async (line: string): Promise<void> => {
    if (line.trim() !== '') write(`${toLine(await judgeLine(line, judgeCase))}\n`);
  };
  for await (const chunk of input) {
    const lines = (rest + (typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true }))).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) await answer(line);
  }
  await answer(rest + decoder.decode());
  return 0;
}

/** Some readers take these for the end of a line. */
const toLine = (checked: CheckedCase): string =>
  JSON.stringify(checked).replace(
    /[\u0085\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

async function judgeLine(line: string, judgeCase: JudgeCase): Promise<CheckedCase> {
  let given: unknown;
  try {
    given = JSON.parse(line);
  } catch (thrown) {
    return refuse(null, `The line is not JSON: ${messageOf(thrown)}`);
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return refuse(null, 'The line is not an object');
  const { id = null } = given as { id?: unknown };
  try {
    return await judgeCase({ ...given });
  } catch (thrown) {
    return refuse(id, `The case could not be judged: ${messageOf(thrown)}`);
  }
}

const refuse = (id: unknown, reason: string): CheckedCase => ({
  id,
  verdict: 'error',
  rule: null,
  layer: null,
  segments: [],
  reason,
});

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
