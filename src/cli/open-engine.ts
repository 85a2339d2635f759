import { createEngine, createFileStore, type Engine, systemClock } from '../engine/core.js';
import type { Logger } from '../protocol/index.js';

/** The engine of this program: its sessions are files. Imported by name, so that only what it needs is loaded. */
export const openEngine = (options: { configDir: string; logger: Logger | undefined }): Engine =>
  createEngine({
    clock: systemClock,
    store: createFileStore({ configDir: options.configDir }),
    ...(options.logger && { logger: options.logger }),
  });
