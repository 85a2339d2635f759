/** One prompt, one answer. */
import type { Engine, Session } from '../engine/index.js';
import type { SessionConfig } from '../protocol/index.js';
import { HeddleError, toHeddleError } from '../protocol/plain.js';
import { describeFailure, toFailedResult } from './failure.js';
import { tellFreshStart, tellWaiting } from './notices.js';
import type { Printer } from './printer.js';
import { EXIT_CODES, type SignalWatch } from './signals.js';
import { toUserMessage } from './user-message.js';

export interface PrintParts {
  engine: Engine;
  config: SessionConfig;
  /** Empty: the turn that an earlier process left unfinished is gone on with. */
  prompt: string;
  printer: Printer;
  stderr: { write(text: string): unknown };
  newId: () => string;
  signals: SignalWatch;
}

const NOTHING_LEFT = 'This session has no unfinished turn to go on with.';

/** The exit code: 0 after a good result, 1 after any other, 130 when it was interrupted. */
export async function runPrint({
  engine,
  config,
  prompt,
  printer,
  stderr,
  newId,
  signals,
}: PrintParts): Promise<number> {
  let session: Session | undefined;
  signals.follow({
    onInterrupt: () => {
      if (session === undefined) process.exit(EXIT_CODES.SIGINT);
      session.interrupt();
    },
    close: async () => session?.close(),
  });
  try {
    session = await engine.open(config);
  } catch (thrown) {
    const error = toHeddleError(thrown);
    printer.fail(toFailedResult(error, { uuid: newId(), sessionId: config.resume ?? config.sessionId ?? newId() }));
    stderr.write(`${describeFailure(error)}\n`);
    await printer.end();
    return 1;
  }
  const open = session;
  tellFreshStart(config, { session: open, stderr });
  printer.startAt(open.scope.spending.totalUsd);
  printer.onBroken(() => void open.close().catch(() => undefined));
  open.attach(printer);
  open.attach({ deliver: (message) => tellWaiting(message, { session: open, stderr }) });
  if (prompt !== '') open.submit(toUserMessage(prompt, open.id));
  else if (!open.resumeTurn()) {
    const error = new HeddleError('invalid_config', NOTHING_LEFT, { hint: 'Give a prompt.' });
    printer.fail(toFailedResult(error, { uuid: newId(), sessionId: open.id }));
    stderr.write(`${describeFailure(error)}\n`);
  }
  open.endInput();
  await open.finished;
  await printer.end();
  await open.close();
  signals.stop();
  if (signals.exitCode !== undefined) return signals.exitCode;
  return printer.lastResult?.is_error === false && !printer.isBroken ? 0 : 1;
}
