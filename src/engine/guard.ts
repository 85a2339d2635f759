/** What is in force for a session: settings, rules and trust, as they are now. */
import type { PermissionUpdate, SessionConfig, Workspace } from '../protocol/index.js';
import { createOpenFolders, type OpenFolders } from './open-folders.js';
import type { RuleLayer } from './permissions/layers.js';
import type { RuleBook } from './permissions/rules/book.js';
import type { LoadedSettings } from './settings/load.js';
import { createSettingsNews, type SettingsNotice } from './settings/notice.js';
import type { SessionSettings } from './settings/session-settings.js';

type Behavior = 'allow' | 'ask' | 'deny';
type Lists = Record<Behavior, string[]>;

export interface GuardParts {
  /** As the session was called: without what settings add. */
  config: SessionConfig;
  settings: SessionSettings;
  workspace: Workspace;
  home: string;
  /** Names of tools that are not built in: rules may be about them. */
  ownTools: readonly string[];
  /** Takes what settings files give to tell, from the first `tellNews` on. */
  onNotice: (notice: SettingsNotice) => void;
  /** What the opening of the session gave to tell: comes first, once. */
  notices?: readonly SettingsNotice[];
}

/** What one session or agent has beside the rules of all. */
export interface ScopeRules {
  /** What is allowed until the turn is over. */
  turn?: readonly string[] | undefined;
  /** What it is denied, with what the session was called with: definitions of agents deny, too. */
  deny?: readonly string[] | undefined;
}

/** Compiled at once; more are made anew. */
const MAX_BOOKS = 32;

export class Guard {
  readonly #parts: GuardParts;
  readonly #folders: OpenFolders;
  readonly #news = createSettingsNews();
  readonly #notices: SettingsNotice[];
  #isTelling = false;
  /** Rules that someone gave for this session, and those of the command line. */
  readonly #session: Lists = { allow: [], ask: [], deny: [] };
  readonly #flag: Lists;
  #book: RuleBook | undefined;
  /** Those with more than all have in common, by what that is; they count as long as the common one does. */
  #wider: { base: RuleBook; books: Map<string, RuleBook> } | undefined;

  constructor(parts: GuardParts) {
    this.#parts = parts;
    this.#notices = [...(parts.notices ?? [])];
    const { settings, workspace, home } = parts;
    const { cwd, allowedTools = [], disallowedTools = [], additionalDirectories: called = [] } = parts.config;
    this.#flag = { allow: [...allowedTools], ask: [], deny: [...disallowedTools] };
    this.#folders = createOpenFolders({ cwd, home, workspace, called, ofSettings: () => settings.loaded.directories });
    settings.onChange(() => {
      this.#book = undefined;
      if (this.#isTelling) this.tellNews();
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

  /** Folders beside the working directory that are open now, as they were named. */
  get directories(): readonly string[] {
    return this.#folders.named;
  }

  /** Folders that tools may use without asking, links resolved, the working directory first. */
  roots(): Promise<string[]> {
    return this.#folders.roots();
  }

  /** What settings files give to tell and nobody was told yet: problems, what is mended, what waits for trust. */
  takeNews(): SettingsNotice[] {
    return [...this.#notices.splice(0), ...this.#news.take(this.settings)];
  }

  /** Tells the news, and from now on those of every change. */
  tellNews(): void {
    this.#isTelling = true;
    for (const notice of this.takeNews()) this.#parts.onNotice(notice);
  }

  /** Tells what else concerns what is configured. */
  tell(notices: readonly SettingsNotice[]): void {
    for (const notice of notices) this.#parts.onNotice(notice);
  }

  /** Reads settings files that have changed. */
  refresh(): Promise<void> {
    return this.#parts.settings.refresh();
  }

  /** See `SessionSettings`. */
  apply(...[given, ready]: Parameters<SessionSettings['apply']>): Promise<void> {
    return this.#parts.settings.apply(given, ready);
  }

  /** All rules in force; settings files that have changed are read first. */
  async rules({ turn = [], deny = [] }: ScopeRules = {}): Promise<RuleBook> {
    await this.refresh();
    const base = (this.#book ??= await this.#compile(this.layers));
    const more = { turn, deny: this.beside(deny) };
    if (more.turn.length + more.deny.length === 0) return base;
    if (this.#wider?.base !== base || this.#wider.books.size >= MAX_BOOKS) this.#wider = { base, books: new Map() };
    const { books } = this.#wider;
    const key = JSON.stringify(more);
    const book = books.get(key) ?? (await this.#compile(this.#layersWith(more)));
    books.set(key, book);
    return book;
  }

  /** Rules that allow these uses of tools, and nothing else. */
  async only(allow: readonly string[]): Promise<RuleBook> {
    return this.#compile([{ name: 'flag', base: this.settings.files.projectRoot, allow }]);
  }

  /** Those of these denials that the session was not called with: the definition of an agent brings them. */
  beside(deny: readonly string[] = []): string[] {
    const { disallowedTools: called = [] } = this.#parts.config;
    return deny.filter((rule) => !called.includes(rule));
  }

  /** The rules as they were written, layer by layer. */
  get layers(): RuleLayer[] {
    return this.#layersWith();
  }

  /** Takes over what an answer says about rules and folders. What is meant for a settings file is written there first. */
  async update(updates: readonly PermissionUpdate[]): Promise<void> {
    const { changeList, describeIdle, writeRuleUpdates } = await import('./settings/rule-updates.js');
    const { doubts } = await writeRuleUpdates(this.settings.files, updates, { tools: this.#parts.ownTools });
    for (const [at, update] of updates.entries()) {
      const isKept = this.#isRead(update);
      if (update.type === 'addDirectories') await this.#folders.open(update.directories, { isKept });
      if (update.type === 'removeDirectories') await this.#folders.close(update.directories, { isKept });
      if (!('rules' in update) || isKept) continue;
      const list = (update.destination === 'cliArg' ? this.#flag : this.#session)[update.behavior];
      if (!changeList(list, update)) doubts.push(describeIdle(at, 'the session'));
    }
    for (const content of doubts) this.#parts.onNotice({ level: 'warning', content });
    this.#book = undefined;
  }

  /** Whether what was written to a file counts from there; otherwise it must hold for this session all the same. */
  #isRead(update: PermissionUpdate): boolean {
    const { destination } = update;
    const source = ({ userSettings: 'user', projectSettings: 'project', localSettings: 'local' } as const)[
      destination as 'userSettings'
    ];
    if (source === undefined || !(this.#parts.config.settingSources ?? []).includes(source)) return false;
    return source === 'user' || this.trusted || ('rules' in update && update.behavior !== 'allow');
  }

  #layersWith({ turn = [], deny = [] }: ScopeRules = {}): RuleLayer[] {
    const { files, ruleLayers, managedOnly } = this.settings;
    const base = files.projectRoot;
    // Where policy alone may allow, what others allow does not count.
    const own = (name: 'session' | 'flag', { allow, ...rest }: Lists): RuleLayer => ({
      name,
      base,
      ...rest,
      ...(!managedOnly.rules && { allow }),
      ...(name === 'flag' && { namesTools: true }),
    });
    const session = { ...this.#session, allow: [...this.#session.allow, ...turn] };
    const flag = { ...this.#flag, deny: [...this.#flag.deny, ...deny] };
    return [...ruleLayers, own('session', session), own('flag', flag)];
  }

  async #compile(layers: readonly RuleLayer[]): Promise<RuleBook> {
    const { compileRules } = await import('./permissions/rules/book.js');
    const { workspace, home, ownTools: tools } = this.#parts;
    const { platform } = process;
    const book = compileRules(layers, { home, tools, platform });
    const links = new Map<string, string>();
    for (const folder of book.folders) {
      // Where links cannot be followed, by permissions or because they go round, the rule is about what it names.
      const real = await workspace.realPath(folder).catch(() => folder);
      if (real !== folder) links.set(folder, real);
    }
    return links.size === 0 ? book : compileRules(layers, { home, tools, platform, links });
  }
}
