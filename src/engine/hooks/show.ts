/** What the consumer is told about hooks. */
import type {
  Clock,
  HookProgressMessage,
  HookResponseMessage,
  HookStartedMessage,
  InformationalMessage,
} from '../../protocol/index.js';
import type { HookEvent } from '../../protocol/plain.js';
import { cutText } from './texts.js';

export type HookMessage = HookStartedMessage | HookProgressMessage | HookResponseMessage | InformationalMessage;

/** More of what a hook printed does not go into a message. */
const MAX_SHOWN = 30_000;
const PROGRESS_MS = 1_000;

export interface Shown {
  stdout: string;
  stderr: string;
  output: string;
}

/** The life of one hook as messages. */
export interface HookShow {
  /** Looks once a second whether there is something new to show. */
  watch(printed: () => Shown): void;
  end(end: Shown & { outcome: 'success' | 'error' | 'cancelled'; exitCode?: number }): void;
}

const SILENT: HookShow = { watch: () => {}, end: () => {} };

export interface ShowOptions {
  visible: boolean;
  event: HookEvent;
  hookName: string;
  sessionId: string;
  clock: Clock;
  emit: (message: HookMessage) => void;
}

export function showHook(options: ShowOptions): HookShow {
  if (!options.visible) return SILENT;
  const { clock, emit, event, hookName, sessionId } = options;
  const hookId = clock.uuid();
  let cancelTick = () => {};
  const common = () => ({
    type: 'system' as const,
    hook_id: hookId,
    hook_name: hookName,
    hook_event: event,
    uuid: clock.uuid(),
    session_id: sessionId,
  });
  const cut = ({ stdout, stderr, output }: Shown): Shown => ({
    stdout: cutText(stdout, MAX_SHOWN),
    stderr: cutText(stderr, MAX_SHOWN),
    output: cutText(output, MAX_SHOWN),
  });

  emit({ ...common(), subtype: 'hook_started' });
  return {
    watch(printed) {
      let seen = 0;
      const tick = (): void => {
        cancelTick = clock.after(
          PROGRESS_MS,
          () => {
            const now = printed();
            if (now.output.length > seen) emit({ ...common(), subtype: 'hook_progress', ...cut(now) });
            seen = now.output.length;
            tick();
          },
          { background: true },
        );
      };
      tick();
    },
    end({ outcome, exitCode, ...printed }) {
      cancelTick();
      const exit = exitCode === undefined ? {} : { exit_code: exitCode };
      emit({ ...common(), subtype: 'hook_response', ...cut(printed), ...exit, outcome });
    },
  };
}

/** Something the person should read about a hook. */
export function toNotice(
  facts: { level: 'notice' | 'warning' | 'error'; content: string; tag?: string },
  options: { clock: Clock; sessionId: string },
): InformationalMessage {
  const { level, content, tag } = facts;
  const uuid = options.clock.uuid();
  const message = { type: 'system' as const, subtype: 'informational' as const, level, content: cutText(content) };
  return { ...message, ...(tag !== undefined && { tag }), uuid, session_id: options.sessionId };
}
