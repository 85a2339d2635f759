/** The first chat in a folder asks once whether it is trusted. */
import { createInterface } from 'node:readline/promises';
import type { SessionConfig } from '../protocol/index.js';
import { askTrust } from './trust.js';

interface Terminal {
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
}

/** Asks only where an answer would change something. True: it is trusted now. */
export async function askAboutFolder(config: SessionConfig, { stdin, stdout }: Terminal): Promise<boolean> {
  const { createTrust, findProjectRoot, loadSettings, settingsFiles } = await import('../engine/index.js');
  if (config.trusted !== undefined || (config.settingSources ?? []).length === 0) return false;
  const home = config.env.HOME || '/';
  const { configDir, cwd } = config;
  const folder = findProjectRoot({ cwd, home });
  const trust = createTrust({ configDir, home });
  if (await trust.isTrusted(folder)) return true;
  const files = settingsFiles({ configDir, projectRoot: folder, home });
  const { inert } = await loadSettings({ files, sources: config.settingSources ?? [], trusted: false });
  if (!inert.some(({ waits }) => waits)) return false;
  const lines = createInterface({ input: stdin, output: stdout });
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  try {
    const readLine = (prompt: string) => Promise.race([lines.question(prompt), ended]);
    const isTrusted = await askTrust({ folder, inert, write: (text) => void stdout.write(text), readLine });
    if (isTrusted) await trust.trust(folder);
    return isTrusted;
  } finally {
    lines.close();
  }
}
