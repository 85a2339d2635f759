import type { SessionScope } from '../scope.js';
import { toNotice } from './show.js';

/** A warning about hooks that only whoever takes up their answers can give. */
export function warnOfHook({ recorder, logger, clock, id: sessionId }: SessionScope, content: string): void {
  logger('warn', content);
  recorder.emit(toNotice({ level: 'warning', content, tag: 'hook_warning' }, { clock, sessionId }));
}
