/** Whether commands can run in a sandbox here, and whether settings want that. */
import { homedir } from 'node:os';
import type { SandboxSettings } from '../protocol/index.js';
import type { Outcome, Patient } from './doctor-finding.js';

export async function checkSandbox({ environment, cwd }: Patient): Promise<Outcome> {
  const { examineSandbox } = await import('../engine/index.js');
  const [{ program, socat, problem }, wish] = await Promise.all([
    examineSandbox(environment.env),
    readWish(environment.configDir, cwd),
  ]);
  if (problem !== undefined) {
    if (wish === undefined) return { status: 'warn', ...problem };
    const effect = wish.isDemanded ? 'so no session starts' : 'so commands run without one';
    return {
      status: wish.isDemanded ? 'fail' : 'warn',
      text: `${problem.text}; settings ask for a sandbox, ${effect}`,
      todo: problem.todo,
    };
  }
  const works = `${program ?? 'bwrap'} works${wish === undefined ? '' : ', and settings ask for a sandbox'}`;
  if (socat !== undefined) return { status: 'ok', text: works };
  const isMissed = wish?.hasNetworkRules === true;
  const effect = isMissed && wish.isDemanded ? ', so no session starts' : '';
  return {
    status: isMissed && wish.isDemanded ? 'fail' : 'warn',
    text: `${works}; socat was not found${effect}`,
    todo: 'Install socat: the network rules of the sandbox need it.',
  };
}

interface Wish {
  /** Without it there is no session. */
  isDemanded: boolean;
  hasNetworkRules: boolean;
}

/** What the settings files that count say. Files that cannot be read are another check's. */
async function readWish(configDir: string, cwd: string): Promise<Wish | undefined> {
  const { createTrust, findProjectRoot, loadSettings, settingsFiles } = await import('../engine/index.js');
  const home = homedir();
  const projectRoot = findProjectRoot({ cwd, home });
  const trusted = await createTrust({ configDir, home }).isTrusted(projectRoot);
  const files = settingsFiles({ configDir, projectRoot, home });
  const { value } = await loadSettings({ files, sources: ['user', 'project', 'local'], trusted });
  return value.sandbox?.enabled === true ? toWish(value.sandbox) : undefined;
}

const toWish = ({ failIfUnavailable, network = {} }: SandboxSettings): Wish => ({
  isDemanded: failIfUnavailable !== false,
  hasNetworkRules:
    (network.allowedDomains ?? []).length > 0 ||
    network.httpProxyPort !== undefined ||
    network.socksProxyPort !== undefined,
});
