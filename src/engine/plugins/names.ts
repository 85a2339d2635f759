/** What plugins and their servers may be called. */

const MAX_NAME = 64;
const KEBAB = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const USABLE = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}._-]*$/u;

/** They would be taken for something else where names are shown with what they belong to. */
const RESERVED = new Set(
  'builtin claude constructor flag heddle local managed mcp plugin plugins project prototype user'.split(' '),
);

export interface NameFault {
  severity: 'error' | 'warning';
  text: string;
}

/** An error means that nothing may be called so. */
export function findNameFault(name: string): NameFault | undefined {
  const error = (text: string): NameFault => ({ severity: 'error', text });
  if (name === '') return error('a plugin needs a name; write one such as "my-plugin"');
  if (name.length > MAX_NAME)
    return error(`a name may have ${MAX_NAME} characters at most, and this has ${name.length}`);
  const shown = JSON.stringify(name);
  if (!USABLE.test(name)) {
    return error(
      `${shown} is no name for a plugin; use lower-case letters, digits and hyphens: "${suggestName(name)}"`,
    );
  }
  if (RESERVED.has(name.toLowerCase())) return error(`${shown} is reserved; choose another name`);
  if (KEBAB.test(name)) return undefined;
  const text = `${shown} works; lower-case letters, digits and hyphens are better: "${suggestName(name)}"`;
  return { severity: 'warning', text };
}

const suggestName = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_NAME) || 'my-plugin';

/** Names that differ only in letter case, or in how a letter is written, are the same to people. */
export const foldName = (name: string): string => name.normalize('NFKC').toLowerCase();

const SERVER = /^[\p{L}\p{N}][\p{L}\p{N}\p{M} ._@/:-]*$/u;

export const isServerName = (name: string): boolean => name.length <= MAX_NAME && SERVER.test(name);

/**
 * What a session calls the server of a plugin; its tools are then `mcp__plugin_<plugin>_<server>__<tool>`. Two underlines
 * divide such a name, so there are none in its parts.
 */
export const pluginServerName = (plugin: string, server: string): string =>
  `plugin_${clean(plugin)}_${clean(server)}`.replace(/_{2,}/g, '_').replace(/_$/, '');

const clean = (name: string): string => name.replace(/[^a-zA-Z0-9_-]/g, '_');
