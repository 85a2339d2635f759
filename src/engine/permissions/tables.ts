import { DANGERS, type DangerSpec } from './programs/danger-table.js';
import type { EffectTables } from './programs/effects.js';
import { GIT_READ_ONLY } from './programs/git-table.js';
import { READ_ONLY } from './programs/readonly-table.js';
import { WRITERS } from './programs/writer-table.js';
import { WRAPPERS, type WrapperSpec } from './shell/wrapper-table.js';

/** All that is known of programs, as data. */
export interface CommandTables extends EffectTables {
  wrappers: Readonly<Record<string, WrapperSpec>>;
  dangers: Readonly<Record<string, DangerSpec>>;
}

export const COMMAND_TABLES: CommandTables = {
  wrappers: WRAPPERS,
  dangers: DANGERS,
  programs: READ_ONLY,
  git: GIT_READ_ONLY,
  writers: WRITERS,
};
