import type { SessionConfig } from '../protocol/index.js';

/** Whoever may write no settings is a client of a server: it sits elsewhere, and does not read them either. */
export const isElsewhere = (config: Pick<SessionConfig, 'settingsWrites'>): boolean => config.settingsWrites === 'none';
