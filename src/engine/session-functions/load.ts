/** The functions of sessions. A session that runs needs none of them, so they are loaded when the first is wanted. */
export type SessionFunctions = typeof import('./functions.js');

export const loadSessionFunctions = (): Promise<SessionFunctions> => import('./functions.js');
