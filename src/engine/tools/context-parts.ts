import type { ToolContext } from '../../protocol/index.js';
import type { SessionScope } from '../scope.js';

type ContextParts = Pick<ToolContext, 'workspace' | 'clock' | 'signal' | 'cwd' | 'roots' | 'env' | 'ledger' | 'keep'>;

/** What whoever looks at the machine gets of a session, whether a call, a mention or a request makes him look. */
export const contextParts = (
  { workspace, clock, state, childEnv, ledger, kept }: SessionScope,
  signal: AbortSignal,
): ContextParts => ({
  workspace,
  clock,
  signal,
  cwd: state.cwd,
  roots: state.roots,
  env: childEnv,
  ledger,
  keep: (name, data) => kept.keep(name, data),
});
