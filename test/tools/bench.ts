/** A temp folder, a real workspace and a ToolContext for the tests of the tools. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { systemClock } from '../../src/protocol/plain.js';
import { createReadLedger } from '../../src/engine/tools/ledger.js';
import { createLocalWorkspace, type LocalWorkspace } from '../../src/engine/workspace/local.js';
import { boundOutput } from '../../src/engine/tools/bound.js';
import type { Clock, ReadLedger, ToolContext, ToolOutput, WholeTool } from '../../src/protocol/index.js';
import { removeFolder } from '../remove-folder.js';

export interface Bench {
  folder: string;
  workspace: LocalWorkspace;
  ledger: ReadLedger;
  /** Where the next call starts. */
  cwd: string;
  roots: string[];
  clock: Clock;
  env: Record<string, string>;
  path(...names: string[]): string;
  write(name: string, content: string | Uint8Array): string;
  text(name: string): string;
  context(signal?: AbortSignal): ToolContext;
  /** Where permission found that paths lead, by path; other paths are resolved when they are asked for. */
  judged: Map<string, string>;
  /** What searches must leave out. */
  exclusions: string[];
  /** Parses, enforces, runs and bounds, as the pipeline does; a refusal or a throw becomes an error result. */
  call<Input>(tool: WholeTool<Input>, input: unknown, signal?: AbortSignal): Promise<ToolOutput & { text: string }>;
  close(): Promise<void>;
}

const toText = (content: ToolOutput['content']): string =>
  typeof content === 'string' ? content : JSON.stringify(content);

/** As `Workspace.realPath` for paths without dangling links. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path));
  }
}

export function createBench(): Bench {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-tools-')));
  const keptFolder = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-kept-')));
  const bench: Bench = {
    folder,
    workspace: createLocalWorkspace({ clock: systemClock }),
    ledger: createReadLedger(),
    cwd: folder,
    roots: [folder],
    clock: systemClock,
    env: { PATH: process.env.PATH ?? '', HOME: folder },
    judged: new Map(),
    exclusions: [],
    path: (...names) => join(folder, ...names),
    write(name, content) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    text: (name) => readFileSync(join(folder, name), 'utf8'),
    context: (signal = new AbortController().signal) => ({
      workspace: bench.workspace,
      clock: bench.clock,
      signal,
      toolUseId: 'toolu_test',
      cwd: bench.cwd,
      setCwd: (path) => {
        bench.cwd = path;
      },
      roots: bench.roots,
      env: bench.env,
      ledger: bench.ledger,
      progress: () => {},
      exclusions: bench.exclusions,
      judgedPath: (path) => bench.judged.get(path) ?? realPath(path),
      async keep(name, text) {
        const path = join(keptFolder, name);
        writeFileSync(path, text);
        return path;
      },
    }),
    async call(tool, input, signal) {
      const context = bench.context(signal);
      try {
        const parsed = await tool.parse(input);
        const refusal = await tool.enforce?.(parsed, context);
        if (refusal !== undefined) return { content: refusal, isError: true, text: refusal };
        const { limits } = tool;
        const whole = await tool.run(parsed, context);
        const output = await boundOutput(whole, { limits, name: context.toolUseId, keep: context.keep });
        return { ...output, text: toText(output.content) };
      } catch (thrown) {
        const text = thrown instanceof Error ? thrown.message : String(thrown);
        return { content: text, isError: true, text };
      }
    },
    async close() {
      await bench.workspace.close();
      removeFolder(folder);
      removeFolder(keptFolder);
    },
  };
  return bench;
}
