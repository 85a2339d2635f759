import { describeSurroundings } from './prompt.js';
import type { SessionScope } from './scope.js';

/** What the first message says of the place and the day. git is asked only where somebody vouches for the folder. */
export async function surroundingsOf(scope: SessionScope, signal: AbortSignal): Promise<string> {
  const { config, state, workspace, clock, guard, childEnv } = scope;
  const { describeGitState, readGitState, wantsGitState } = await import('./memory/git-state.js');
  const { files, value } = guard.settings;
  const git = await readGitState({
    cwd: state.cwd,
    projectRoot: files.projectRoot,
    workspace,
    env: childEnv,
    signal,
    // An agent is started in a moment, and can ask git itself.
    mayRun: scope.agent === undefined && guard.trusted && wantsGitState(value, config.env),
  });
  return describeSurroundings(
    { ...config, cwd: state.cwd },
    { git: describeGitState(git), now: clock.now(), platform: process.platform },
  );
}
