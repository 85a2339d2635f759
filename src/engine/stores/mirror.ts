/** Loaded by those who keep a copy elsewhere. */
export const loadMirrorStore = (): Promise<typeof import('./mirror-store.js')> => import('./mirror-store.js');
