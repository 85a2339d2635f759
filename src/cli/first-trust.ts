/** The first chat in a folder asks once whether it is trusted, and about each MCP server that comes with it. */
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { LoadedSettings, ResolvedServers } from '../engine/index.js';
import type { SessionConfig } from '../protocol/index.js';
import type { ReadLine } from './ask.js';
import { askTrust } from './trust.js';

interface Terminal {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
}

/** Asks only where an answer would change something. True: it is trusted now. */
export async function askAboutFolder(config: SessionConfig, { stdin, stdout }: Terminal): Promise<boolean> {
  if (config.trusted !== undefined || (config.settingSources ?? []).length === 0) return false;
  const { createTrust, findProjectRoot, loadSettings, settingsFiles } = await import('../engine/index.js');
  const home = config.env.HOME || '/';
  const { configDir, cwd, settingSources: sources = [] } = config;
  const folder = findProjectRoot({ cwd, home });
  const trust = createTrust({ configDir, home });
  const files = settingsFiles({ configDir, projectRoot: folder, home });
  const wasTrusted = await trust.isTrusted(folder);
  const settings = await loadSettings({ files, sources, trusted: wasTrusted });
  // As if it were trusted: which servers would a person be asked about?
  const wouldBe = wasTrusted ? settings : await loadSettings({ files, sources, trusted: true });
  const { waiting } = await resolveServers(config, { settings: wouldBe, folder });
  const undecided = new Map([...waiting].filter(([, { approval }]) => approval?.state !== 'rejected'));
  const isWaiting = settings.inert.some(({ waits }) => waits) || undecided.size > 0;
  if (!isWaiting) return wasTrusted;
  const write = (text: string): void => void stdout.write(text);
  return withLines({ stdin, stdout }, async (readLine) => {
    const more = [...undecided].map(([name, { source }]) => `MCP server ${name}, in ${source}`);
    const isTrusted = wasTrusted || (await askTrust({ folder, inert: settings.inert, more, write, readLine }));
    if (!isTrusted) return false;
    if (!wasTrusted) await trust.trust(folder);
    const { createMcpApprovals } = await import('../engine/index.js');
    const { askApprovals } = await import('./mcp-approve.js');
    await askApprovals({ waiting: undecided, approvals: createMcpApprovals({ configDir }), write, readLine });
    return true;
  });
}

async function resolveServers(
  { configDir, cwd, env, settingSources = [], strictMcpConfig = false }: SessionConfig,
  { settings, folder }: { settings: LoadedSettings; folder: string },
): Promise<Pick<ResolvedServers, 'waiting'>> {
  if (!settingSources.includes('project')) return { waiting: new Map() };
  const { createMcpApprovals, findBroughtServers, resolveMcpServers } = await import('../engine/index.js');
  return resolveMcpServers({
    flags: [],
    strict: strictMcpConfig,
    settings,
    brought: await findBroughtServers(settings, { cwd, configDir }),
    projectFile: join(folder, '.mcp.json'),
    trusted: settings.trusted,
    env,
    cwd,
    approvals: createMcpApprovals({ configDir }),
  });
}

async function withLines<T>({ stdin, stdout }: Terminal, ask: (readLine: ReadLine) => Promise<T>): Promise<T> {
  const lines = createInterface({ input: stdin, output: stdout });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  try {
    return await ask((prompt) => Promise.race([lines.question(prompt), ended]));
  } finally {
    lines.close();
  }
}
