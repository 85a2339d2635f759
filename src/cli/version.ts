/** Kept equal to package.json by a test; the engine's own constant would cost loading the engine. */
export const VERSION = '0.1.0';
