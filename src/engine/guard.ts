/** What is in force for a session: settings, rules and trust, as they are now. */
import type { PermissionUpdate, SessionConfig, Workspace } from '../protocol/index.js';
import type { RuleLayer } from './permissions/layers.js';
import type { RuleBook } from './permissions/rules/book.js';
import type { LoadedSettings } from './settings/load.js';
import type { SessionSettings } from './settings/session-settings.js';

type Behavior = 'allow' | 'ask' | 'deny';
type Lists = Record<Behavior, string[]>;

export interface GuardParts {
  config: SessionConfig;
  settings: SessionSettings;
  workspace: Workspace;
  home: string;
  /** Names of tools that are not built in: rules may be about them. */
  ownTools: readonly string[];
}

export class Guard {
  readonly #parts: GuardParts;
  /** Rules that someone gave for this session, and those of the command line. */
  readonly #session: Lists = { allow: [], ask: [], deny: [] };
  readonly #flag: Lists;
  #book: RuleBook | undefined;

  constructor(parts: GuardParts) {
    this.#parts = parts;
    const { allowedTools = [], disallowedTools = [] } = parts.config;
    this.#flag = { allow: [...allowedTools], ask: [], deny: [...disallowedTools] };
    parts.settings.onChange(() => {
      this.#book = undefined;
    });
  }

  get settings(): LoadedSettings {
    return this.#parts.settings.loaded;
  }

  get trusted(): boolean {
    return this.settings.trusted;
  }

  get home(): string {
    return this.#parts.home;
  }

  /** Reads settings files that have changed. */
  refresh(): Promise<void> {
    return this.#parts.settings.refresh();
  }

  /** All rules in force; settings files that have changed are read first. */
  async rules(): Promise<RuleBook> {
    await this.refresh();
    this.#book ??= await this.#compile();
    return this.#book;
  }

  /** Takes over what an answer says about rules. What is meant for a settings file is written there first. */
  async update(updates: readonly PermissionUpdate[]): Promise<void> {
    const { toRuleText, writeRuleUpdates } = await import('./settings/rule-updates.js');
    await writeRuleUpdates(this.settings.files, updates);
    for (const update of updates) {
      if (!('rules' in update) || this.#isRead(update)) continue;
      const list = (update.destination === 'cliArg' ? this.#flag : this.#session)[update.behavior];
      const rules = update.rules.map(toRuleText);
      const isOwn = update.destination === 'session' || update.destination === 'cliArg';
      if (update.type === 'removeRules') list.splice(0, Infinity, ...list.filter((rule) => !rules.includes(rule)));
      else if (update.type === 'replaceRules' && isOwn) list.splice(0, Infinity, ...rules);
      else list.push(...rules.filter((rule) => !list.includes(rule)));
    }
    this.#book = undefined;
  }

  /** Whether what was written to a file counts from there; otherwise it must hold for this session all the same. */
  #isRead({ destination, behavior }: Extract<PermissionUpdate, { rules: unknown }>): boolean {
    const source = ({ userSettings: 'user', projectSettings: 'project', localSettings: 'local' } as const)[
      destination as 'userSettings'
    ];
    if (source === undefined || !(this.#parts.config.settingSources ?? []).includes(source)) return false;
    return source === 'user' || this.trusted || behavior !== 'allow';
  }

  async #compile(): Promise<RuleBook> {
    const { compileRules } = await import('./permissions/rules/book.js');
    const { workspace, home, ownTools: tools } = this.#parts;
    const { files, ruleLayers, managedOnly } = this.settings;
    const base = files.projectRoot;
    // Where policy alone may allow, what others allow does not count.
    const own = (name: 'session' | 'flag', { allow, ...rest }: Lists): RuleLayer => ({
      name,
      base,
      ...rest,
      ...(!managedOnly.rules && { allow }),
    });
    const layers = [...ruleLayers, own('session', this.#session), own('flag', this.#flag)];
    const book = compileRules(layers, { home, tools });
    const links = new Map<string, string>();
    for (const folder of book.folders) {
      const real = await workspace.realPath(folder);
      if (real !== folder) links.set(folder, real);
    }
    return links.size === 0 ? book : compileRules(layers, { home, tools, links });
  }
}
