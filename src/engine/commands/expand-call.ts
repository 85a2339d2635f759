/** A called command as the prompt that it stands for. */
import { delimiter, join } from 'node:path';
import type { UserContentBlock } from '../../protocol/index.js';
import { refuseUnpriced } from '../choices.js';
import { expandCommand } from '../definitions/expand.js';
import type { SessionScope, TurnTally } from '../scope.js';
import type { ServerCommand, TextCommand } from './commands.js';
import { type ForkedSkill, isForked } from './fork-skill.js';
import { runShellLine } from './shell-line.js';

export interface ExpandedCall {
  blocks: UserContentBlock[];
  /** The parts of it in which `@file` means a file. */
  mentionable: string[];
  /** The kind and the place of what was called, as hooks are told. */
  type: 'command' | 'skill' | 'mcp_prompt';
  source: string;
  /** It runs in an agent of its own; the header says which call that was. */
  fork?: { file: ForkedSkill; header: string };
}

export interface CalledText {
  command: TextCommand;
  args: string;
  tally: TurnTally;
}

/**
 * What the file allows and which model it wants counts from now on, until the turn is over; of one that runs in an agent,
 * there. Throws an Error that says why
 * the command was not run.
 */
export async function expandText(
  scope: SessionScope,
  { command, args, tally }: CalledText,
  signal: AbortSignal,
): Promise<ExpandedCall> {
  const { file, body, needs } = command;
  if (needs !== undefined && !(await isInstalled(scope, needs))) throw new Error(describeMissing(command.name, needs));
  const isApart = isForked(file);
  if (file.model !== undefined && !isApart) await takeModel(scope, { model: file.model, tally });
  const before = scope.state.turnRules;
  grantForTurn(scope, file.allowedTools);
  const expansion = await expandCommand({
    command: file,
    args,
    sessionId: scope.id,
    ...(body !== undefined && { body }),
    runShell: (line) => runShellLine(scope, { line }, signal),
  });
  if (isApart) scope.state.turnRules = before;
  if (!expansion.ok) throw new Error(expansion.reason);
  const { text, header, body: prompt, mentionable } = expansion;
  return {
    blocks: [{ type: 'text', text: isApart ? prompt : text }],
    ...(isApart && { fork: { file, header } }),
    mentionable: [mentionable],
    type: 'folder' in file ? 'skill' : 'command',
    source: file.origin.plugin === undefined ? file.origin.scope : `plugin:${file.origin.plugin}`,
  };
}

/** Throws when the server does not answer. */
export async function expandServerPrompt(
  { mcp }: SessionScope,
  { command: { name }, args }: { command: ServerCommand; args: string },
  signal: AbortSignal,
): Promise<ExpandedCall> {
  const { expandPrompt } = await import('../mcp/prompt.js');
  const blocks = await expandPrompt(mcp, { name, text: args }, { signal });
  // What a server says must not read files of the user.
  return { blocks, mentionable: [], type: 'mcp_prompt', source: 'mcp' };
}

/** These rules allow until the turn is over. */
export function grantForTurn({ state }: SessionScope, rules: readonly string[]): void {
  if (rules.length > 0) state.turnRules = [...new Set([...(state.turnRules ?? []), ...rules])];
}

/** Who works with another maker's model has no small one of this maker. Throws when the model cannot be used. */
async function takeModel(
  { catalog, config, state, recorder, providerFor }: SessionScope,
  { model: name, tally }: { model: string; tally: TurnTally },
): Promise<void> {
  if (!catalog.hasPrice(state.model.model)) return;
  const model = catalog.resolveModel(name);
  refuseUnpriced(config, [model.model], catalog.hasPrice);
  await providerFor(model.model);
  tally.model = model;
  void recorder.life({ kind: 'fallback', model: name });
}

async function isInstalled({ workspace, childEnv }: SessionScope, program: string): Promise<boolean> {
  const folders = (childEnv.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const folder of folders) {
    const stat = await workspace.stat(join(folder, program)).catch(() => undefined);
    if (stat?.kind === 'file') return true;
  }
  return false;
}

const describeMissing = (name: string, program: string): string =>
  `/${name} was not run: it needs the program "${program}", which is not on the PATH. ${INSTALL[program] ?? ''}`.trim();

const INSTALL: Readonly<Record<string, string>> = {
  gh: 'Install the GitHub CLI (https://cli.github.com) and log in with `gh auth login`.',
};
