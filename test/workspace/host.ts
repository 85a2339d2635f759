/** A host process for the tests of the reaper: runs a shell line once and tells its reaper. `argv`: folder, command, mode. */
import { systemClock } from '../../src/protocol/plain.js';
import { createReadLedger } from '../../src/engine/tools/ledger.js';
import { runShell } from '../../src/engine/tools/shell.js';
import { createLocalWorkspace } from '../../src/engine/workspace/local.js';
import { reaperPid } from '../../src/engine/workspace/reaper.js';

const [, , folder = '', command = ''] = process.argv;

const running = runShell(
  { command, cwd: folder, timeoutMs: 120_000 },
  {
    workspace: createLocalWorkspace({ clock: systemClock }),
    clock: systemClock,
    signal: new AbortController().signal,
    toolUseId: 'toolu_1',
    cwd: folder,
    setCwd: () => undefined,
    roots: [folder],
    env: { PATH: process.env.PATH ?? '', HOME: folder },
    ledger: createReadLedger(),
    progress: () => undefined,
    judgedPath: (path) => path,
    exclusions: [],
    keep: async () => '',
  },
);

const told = setInterval(() => {
  if (reaperPid() === undefined) return;
  clearInterval(told);
  process.stdout.write(`reaper ${reaperPid()}\n`);
}, 5);

const { output } = await running;
process.stdout.write(`${JSON.stringify(output.trimEnd())}\n`);
