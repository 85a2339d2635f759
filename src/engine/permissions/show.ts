import { cutText } from '../tools/bound.js';

const MAX_SHOWN = 2_000;

/** A command in a reason, which the model has sent itself: its beginning, where it is long. */
export const showCommand = (command: string): string =>
  command.length <= MAX_SHOWN
    ? command
    : `${cutText(command, MAX_SHOWN)}\u2026 (${command.length - MAX_SHOWN} more characters)`;

/** A reason may name words of a command, or a path. */
export const showReason = (reason: string): string =>
  reason.length <= 2 * MAX_SHOWN ? reason : `${cutText(reason, 2 * MAX_SHOWN)}\u2026`;
