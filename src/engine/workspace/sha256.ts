import type { Hash } from 'node:crypto';

/** Loads Node's module at the first use: it takes milliseconds, and an answer without tools needs no hash. */
export const createSha256 = (): Hash => process.getBuiltinModule('node:crypto').createHash('sha256');
