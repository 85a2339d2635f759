/** Messages that wait for their turn. */
import type { ParamsOf, ResultOf } from '../../protocol/index.js';
import type { Session } from '../session.js';

/** One that has begun is not taken back: that is what interrupt is for. */
export const cancelMessage = (
  session: Session,
  { message_uuid }: ParamsOf<'cancel_async_message'>,
): ResultOf<'cancel_async_message'> => ({ cancelled: session.withdraw(message_uuid) });
