import { dirname } from 'node:path';
import type { PermissionMode, PermissionUpdate } from '../../protocol/index.js';
import { parseCommand } from './command.js';
import { isProtected } from './path.js';

/** What an approval may add so that the like is not asked again. Always the narrowest thing that helps. */

const allowRule = (
  rule: { toolName: string; ruleContent?: string },
  destination: 'session' | 'localSettings',
): PermissionUpdate => ({ type: 'addRules', rules: [rule], behavior: 'allow', destination });

/** Reading the folder of the path, for this session. */
export function suggestForRead(tool: string, path: string | undefined): PermissionUpdate[] {
  if (path === undefined) return [];
  // Read names a file; the others name the folder they look into.
  const folder = tool === 'Read' ? dirname(path) : path;
  const isExpressible = folder.startsWith('/') && folder !== '/' && !/[*?[\]{}!\\()]/.test(folder);
  return isExpressible ? [allowRule({ toolName: 'Read', ruleContent: `/${folder}/**` }, 'session')] : [];
}

export interface EditPlace {
  mode: PermissionMode;
  path: string;
  /** The folder itself must be opened as well. */
  addsDirectory: boolean;
}

/** Accepting edits for this session; nothing where that would not help. */
export function suggestForEdit({ mode, path, addsDirectory }: EditPlace): PermissionUpdate[] {
  if (isProtected(path)) return [];
  const directories = [dirname(path)].filter((directory) => directory !== '/');
  const isUseless = addsDirectory && directories.length === 0;
  if (isUseless) return [];
  return [
    ...(addsDirectory ? [{ type: 'addDirectories' as const, directories, destination: 'session' as const }] : []),
    ...(mode === 'acceptEdits'
      ? []
      : [{ type: 'setMode' as const, mode: 'acceptEdits' as const, destination: 'session' as const }]),
  ];
}

/** The exact command. None where its text says less than what it runs, or would be read as a pattern. */
export function suggestForCommand(command: string): PermissionUpdate[] {
  const { opaque, dynamic } = parseCommand(command);
  if (opaque || dynamic || /[*\n]/.test(command) || command.trim() !== command) return [];
  return [allowRule({ toolName: 'Bash', ruleContent: command }, 'localSettings')];
}

/** The tool of a server as a whole. For a built-in tool that would be far more than what was asked. */
export function suggestForTool(tool: string): PermissionUpdate[] {
  return tool.startsWith('mcp__') ? [allowRule({ toolName: tool }, 'localSettings')] : [];
}
