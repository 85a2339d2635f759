/** A project and a user's folder on disk, and their servers. */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createMcpApprovals } from '../../../src/engine/mcp/sources/approvals.js';
import { type McpSources, type ResolvedServers, resolveMcpServers } from '../../../src/engine/mcp/sources/resolve.js';
import { settingsFiles } from '../../../src/engine/settings/files.js';
import { loadSettings } from '../../../src/engine/settings/load.js';
import { removeFolder } from '../../remove-folder.js';

export function createProject() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'heddle-mcp-')));
  const root = join(folder, 'project');
  const configDir = join(folder, 'config');
  mkdirSync(root);
  mkdirSync(configDir);
  const files = settingsFiles({ configDir, projectRoot: root, home: folder, managedDir: join(folder, 'policy') });
  const approvals = createMcpApprovals({ configDir });
  return {
    folder,
    root,
    configDir,
    files,
    approvals,
    projectFile: join(root, '.mcp.json'),
    write(file: string, content: unknown): string {
      const path = join(folder, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
      return path;
    },
    async resolve(given: Partial<McpSources> = {}): Promise<ResolvedServers> {
      const trusted = given.trusted ?? true;
      const settings = await loadSettings({ files, sources: ['user', 'project', 'local'], trusted });
      return resolveMcpServers({
        flags: [],
        strict: false,
        settings,
        projectFile: join(root, '.mcp.json'),
        trusted,
        env: {},
        cwd: root,
        approvals,
        ...given,
      });
    },
    remove: () => removeFolder(folder),
  };
}
