import { relative } from 'node:path';
import { UNSEEN } from '../../protocol/plain.js';
import type { RuleLayerName } from './layers.js';
import { isWithinRoots } from './path.js';
import type { Decision } from './policy.js';
import { EDIT_TOOLS, READ_TOOLS } from './rules/rule-index.js';

const LAYERS: Readonly<Record<RuleLayerName, string>> = {
  managed: 'managed policy',
  session: 'this session',
  flag: 'command line or options',
  local: 'local project settings',
  project: 'project settings',
  user: 'user settings',
};

const VERDICTS: Readonly<Record<Decision['verdict'], string>> = {
  allow: 'Allowed',
  deny: 'Denied',
  ask: 'Needs approval',
};

const MAX_SEGMENTS = 60;

/** A decision in words: the same in the permission card, in the log and in `permissions check`. */
export function explainDecision(decision: Decision): string {
  const { verdict, reason, rule, layer, segments = [], blockedPath, exclusions = [] } = decision;
  const lines = [`${VERDICTS[verdict]}: ${reason.replace(/\.?$/, '.')}`];
  if (rule !== undefined) lines.push(`Rule: ${rule}${layer === undefined ? '' : ` (${LAYERS[layer]})`}`);
  if (blockedPath !== undefined) lines.push(`Path: ${blockedPath}`);
  if (exclusions.length > 0) lines.push(`Left out of the search: ${exclusions.join(', ')}`);
  if (segments.length > 0) lines.push(`Runs: ${segments.slice(0, MAX_SEGMENTS).join(' ; ')}`);
  if (segments.length > MAX_SEGMENTS) lines.push(`and ${segments.length - MAX_SEGMENTS} more`);
  return lines.map(showHidden).join('\n');
}

/** What does not show, or would begin another line, as its number. */
const showHidden = (text: string): string =>
  text.replace(HIDDEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
const HIDDEN = new RegExp(`${UNSEEN.source}|[\\n\\t]`, 'gu');

/** What a call is about, for whoever is asked: what the model says of it, or the file. */
export function describeCall(call: {
  tool: string;
  input: Record<string, unknown>;
  places: readonly { path: string }[];
  cwd: string;
}): string | undefined {
  if (typeof call.input.description === 'string') return call.input.description;
  const path = READ_TOOLS.has(call.tool) || EDIT_TOOLS.has(call.tool) ? call.places[0]?.path : undefined;
  if (path === undefined) return undefined;
  return isWithinRoots(path, [call.cwd]) ? relative(call.cwd, path) || '.' : path;
}
