/** What local commands answer. */
import { setModel } from '../choices.js';
import { toHeddleError } from '../../protocol/plain.js';
import { refuseElsewhere } from '../requests/refuse-elsewhere.js';
import type { SessionScope } from '../scope.js';
import { clearConversation } from './clear.js';
import type { LocalCall } from './commands.js';
import * as describe from './describe.js';

export interface LocalAnswer {
  name: string;
  text: string;
  isError?: boolean;
}

/** Never throws. */
export async function runLocal(scope: SessionScope, { command, args, uuid }: LocalCall): Promise<LocalAnswer> {
  const { name } = command;
  try {
    return { name, text: await answer(scope, { name, args, uuid }) };
  } catch (thrown) {
    const { message, hint } = toHeddleError(thrown);
    // The usual hint of a code may say it all.
    return { name, text: hint.startsWith(message) ? hint : `${message} ${hint}`, isError: true };
  }
}

async function answer(
  scope: SessionScope,
  { name, args, uuid }: { name: string; args: string; uuid: string | undefined },
): Promise<string> {
  switch (name) {
    case 'agents':
      return describe.describeAgents(scope.agents.list);
    case 'clear':
      return clearConversation(scope, { promptUuid: uuid });
    case 'context': {
      const [{ usageOf }, { describeContextUsage }] = await Promise.all([
        import('../context-usage/session-usage.js'),
        import('../context-usage/describe.js'),
      ]);
      return describeContextUsage(await usageOf(scope));
    }
    case 'cost': {
      const { costsOf, describeCost } = await import('../budget/cost.js');
      return describeCost(costsOf(scope.spending));
    }
    case 'help':
      return describe.describeHelp(scope.commands.list, args);
    case 'mcp':
      return describe.describeServers(scope.mcp.status);
    case 'memory':
      return describe.describeMemoryFiles(await filesOfMemory(scope));
    case 'model':
      return args === '' ? describe.describeModel(scope) : `The model is now ${await setModel(scope, args)}.`;
    case 'permissions':
      refuseElsewhere(scope.config, '/permissions');
      await scope.guard.refresh();
      return describe.describePermissions(scope.guard.layers, { mode: scope.state.mode, ...agentRulesOf(scope) });
    case 'release-notes':
      return describe.RELEASE_NOTES;
    case 'resume':
      return describe.describeSessions(await sessionsOf(scope), scope.id);
    default:
      throw new Error(`/${name} has no answer.`);
  }
}

/** What the agent brings that the main thread runs as. */
const agentRulesOf = ({ mainAgent, guard, config }: SessionScope): { agent?: describe.AgentRules } =>
  mainAgent === undefined ? {} : { agent: { ...mainAgent, deny: guard.beside(config.disallowedTools) } };

/** Before the first turn nothing has been read yet. */
async function filesOfMemory({ memory, guard, config, workspace, state }: SessionScope): Promise<string[]> {
  const show = ({ path, scope }: { path: string; scope: string }): string => `${path} (${scope})`;
  const nested = memory.nested.map(show);
  if (memory.files.length > 0) return [...memory.files.map(show), ...nested];
  const sources = config.settingSources ?? [];
  if (sources.length === 0) return [];
  const { findMemory } = await import('../memory/find.js');
  const { projectRoot, managed } = guard.settings.files;
  const { configDir } = config;
  const found = await findMemory({ workspace, cwd: state.cwd, projectRoot, configDir, managed, sources });
  const isRead = (scope: string): boolean => guard.trusted || scope === 'managed' || scope === 'user';
  const ofStart = found.map(
    ({ path, scope }) => `${path} (${scope}${isRead(scope) ? '' : ', not read: the folder is not trusted'})`,
  );
  return [...ofStart, ...nested];
}

const MAX_SESSIONS = 20;

async function sessionsOf({ commands, config }: SessionScope): Promise<describe.ShownSession[] | undefined> {
  const { store } = commands.own;
  if (store === undefined) return undefined;
  const { listSessions } = await import('../session-functions/list.js');
  return listSessions({ store }, { dir: config.cwd, limit: MAX_SESSIONS });
}
