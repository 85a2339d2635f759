/** `heddle mcp auth`: a login in the browser, with a way for those whose browser is elsewhere. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { toOAuth } from './mcp-add.js';
import { type CommandInput, findUsable, loadServers, type McpParts, usage } from './mcp-parts.js';
import { toVisibleLine } from './visible.js';

export async function auth({ words, values }: CommandInput, parts: McpParts): Promise<number> {
  const [name = ''] = words;
  const { createAuthStore, hasAddress, logIn, logOut } = await import('../engine/index.js');
  const loaded = await loadServers(parts);
  const { config } = findUsable(loaded, name);
  if (!hasAddress(config)) throw usage(`error: "${toVisibleLine(name)}" is started here and needs no login`);
  const store = createAuthStore({ configDir: parts.configDir });
  const { stdin, stdout } = parts;
  if (values.logout === true) {
    const wasIn = await logOut(store, config.url);
    stdout.write(wasIn ? `Logged out of ${name}.\n` : `Nobody was logged in to ${name}.\n`);
    return 0;
  }
  const oauth = { ...config.oauth, ...toOAuth(values) };
  const clientSecret = parts.env['MCP_CLIENT_SECRET'];
  const lines = stdin.isTTY === true ? createInterface({ input: stdin }) : undefined;
  const abort = new AbortController();
  // Who leaves the terminal with Ctrl-D wants no login any more.
  lines?.once('close', () => abort.abort());
  try {
    const outcome = await logIn({
      store,
      server: { ...config, oauth },
      ...(clientSecret !== undefined && { clientSecret }),
      ...(oauth.scope !== undefined && { scope: oauth.scope }),
      env: loaded.env,
      signal: abort.signal,
      present(page, take) {
        stdout.write(`Log in to ${toVisibleLine(name)} on this page:\n\n  ${page.href}\n\n`);
        if (lines !== undefined) {
          stdout.write('If the browser is on another machine, copy here the address that it cannot open at the end:\n');
          lines.on('line', (line) => {
            if (line.trim() !== '' && !take(line)) stdout.write('This is not the address of this login.\n');
          });
        }
        if (values['no-browser'] !== true) parts.openPage?.(page);
      },
    });
    stdout.write(outcome === 'logged-in' ? `Logged in to ${name}.\n` : `${name} answers without a login.\n`);
    return 0;
  } finally {
    lines?.removeAllListeners('close').close();
  }
}

/** The program that opens a page, where one can be expected. */
export function openPage(url: URL, env: Readonly<Record<string, string | undefined>>): void {
  const [command, ...args] = openerFor(process.platform, env);
  if (command === undefined) return;
  // No shell: an address may hold what one would obey.
  const child = spawn(command, [...args, url.href], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}

function openerFor(platform: NodeJS.Platform, env: Readonly<Record<string, string | undefined>>): string[] {
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  // Without a screen it might start a browser in this very terminal.
  return env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? ['xdg-open'] : [];
}
