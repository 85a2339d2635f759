/** The hooks of a plugin: `hooks/hooks.json`, and what its manifest names or holds. */
import type { HookCommand, HookMatcherSettings } from '../../protocol/index.js';
import { HOOK_EVENTS } from '../../protocol/plain.js';
import type { DefinitionProblem } from '../definitions/definition.js';
import { checkSettings } from '../settings/check.js';
import { isTable } from '../settings/table.js';
import { findLost } from './inside.js';
import { type JsonPart, partAt, problemAt } from './json-part.js';
import type { PluginHooks } from './plugin.js';
import { expandCommand, expandValue, isHarmlessToShells } from './root-variable.js';

export interface ReadHooks {
  hooks: PluginHooks;
  problems: DefinitionProblem[];
}

/** Files carry a description beside `hooks`; a bare table of events is fine, too. */
function unwrap(part: JsonPart): JsonPart {
  const { value } = part;
  if (!isTable(value)) return part;
  if (value.hooks !== undefined) return partAt(part, '.hooks', value.hooks);
  const { description: _, $schema: __, ...events } = value;
  return partAt(part, '', events);
}

/** What is broken is left out, hook by hook, and reported. `root` is the plugin's. */
export async function readHooks(given: JsonPart, root: string): Promise<ReadHooks> {
  const part = unwrap(given);
  const { value } = part;
  const refuse = (text: string): ReadHooks => ({ hooks: {}, problems: [problemAt(part, '', { text })] });
  if (!isTable(value)) return refuse('hooks must be an object of events: { "PreToolUse": [ ... ] }');
  if (Object.keys(value).length === 0) return { hooks: {}, problems: [] };
  const shellRoot = process.platform === 'win32' ? root.replaceAll('\\', '/') : root;
  if (!isHarmlessToShells(shellRoot)) {
    const text = `its hooks are not used: the path of the plugin, ${JSON.stringify(root)}, has characters that a shell obeys`;
    return refuse(`${text}; move the plugin`);
  }
  const table = withoutNull(value);
  const findings = await checkSettings({ hooks: table }, 'user');
  const { HookMatcherSettings } = await import('../../protocol/index.js');
  const broken = new Set(findings.filter(({ severity }) => severity === 'error').map(({ path }) => path));
  const hooks: Record<string, HookMatcherSettings[]> = {};
  const lost: DefinitionProblem[] = [];
  for (const [event, matchers] of Object.entries(table)) {
    if (!(HOOK_EVENTS as readonly string[]).includes(event) || !Array.isArray(matchers)) continue;
    const kept = matchers.flatMap((matcher: unknown, at): HookMatcherSettings[] => {
      if (!isTable(matcher) || !Array.isArray(matcher.hooks)) return [];
      const usable = matcher.hooks.flatMap((hook: HookCommand, index): HookCommand[] => {
        const place = `.${event}[${at}].hooks[${index}]`;
        const { success } = HookMatcherSettings().safeParse({ ...matcher, hooks: [hook] });
        if (!success || broken.has(`hooks${place}`)) return [];
        for (const text of findLost(root, hook.command ?? '')) {
          lost.push(problemAt(part, place, { severity: 'warning', text: `hooks${place}: ${text}` }));
        }
        return [expandHook(hook, shellRoot)];
      });
      return usable.length === 0 ? [] : [{ ...matcher, hooks: usable }];
    });
    if (kept.length > 0) hooks[event] = kept;
  }
  const problems = findings.map(({ path, severity, text }) =>
    problemAt(part, path.slice('hooks'.length), { severity, text: `${path}: ${text}` }),
  );
  return { hooks, problems: [...problems, ...lost] };
}

/** People write `"matcher": null` for none. */
function withoutNull(events: Record<string, unknown>): Record<string, unknown> {
  const drop = (matcher: unknown): unknown => {
    if (!isTable(matcher) || matcher.matcher !== null) return matcher;
    const { matcher: _, ...rest } = matcher;
    return rest;
  };
  return Object.fromEntries(
    Object.entries(events).map(([event, matchers]) => [event, Array.isArray(matchers) ? matchers.map(drop) : matchers]),
  );
}

function expandHook(hook: HookCommand, root: string): HookCommand {
  const { command, prompt } = hook;
  return {
    ...hook,
    ...(command !== undefined && { command: expandCommand(command, root) }),
    ...(prompt !== undefined && { prompt: expandValue(prompt, root) as string }),
  };
}

/** Several sources in one, in their order. */
export function mergeHooks(all: readonly PluginHooks[]): PluginHooks {
  const merged: Record<string, HookMatcherSettings[]> = {};
  for (const hooks of all) {
    for (const [event, matchers] of Object.entries(hooks)) merged[event] = [...(merged[event] ?? []), ...matchers];
  }
  return merged;
}
