import type { HostOptions } from './host.js';

/** Loaded by those who speak to a client; a program that answers one prompt needs no wire. */
export const serveHost = async (options: HostOptions): Promise<number> =>
  (await import('./host.js')).serveHost(options);
