import type { PermissionRuleObject } from '../../protocol/index.js';

/** Where rules come from, in the order in which the one that decided is reported. */
export const RULE_LAYERS = ['managed', 'session', 'flag', 'local', 'project', 'user'] as const;
export type RuleLayerName = (typeof RULE_LAYERS)[number];

/** A rule as it was written: `Tool(specifier)` or an object. */
export type WrittenRule = string | PermissionRuleObject;

/** The rules of one layer. A layer that nobody trusts yet has no `allow`: it may only tighten. */
export interface RuleLayer {
  name: RuleLayerName;
  /** The folder that `./x` and `/x` in path rules start from, links not resolved. */
  base: string;
  allow?: readonly WrittenRule[];
  ask?: readonly WrittenRule[];
  deny?: readonly WrittenRule[];
  /** A bare name in it is that tool and nothing more: it comes from `disallowedTools`. */
  namesTools?: boolean;
}
