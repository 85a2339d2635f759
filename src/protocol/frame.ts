/** Frame: anything that crosses a channel. No schema library here, so that carriers can look at frames early. */
import type { ControlCancelRequest, ControlRequest, ControlResponse } from './control.js';
import type { KeepAlive, Message, UpdateEnvironmentVariables } from './message.js';

/** A frame of a kind we do not know. It passes unchanged. */
export interface UnknownFrame {
  type: string;
  [field: string]: unknown;
}

export type ControlFrame = ControlRequest | ControlResponse | ControlCancelRequest;

export type Frame = Message | ControlFrame | KeepAlive | UpdateEnvironmentVariables | UnknownFrame;

export const isControlRequest = (frame: Frame): frame is ControlRequest => frame.type === 'control_request';
export const isControlResponse = (frame: Frame): frame is ControlResponse => frame.type === 'control_response';
export const isControlCancelRequest = (frame: Frame): frame is ControlCancelRequest =>
  frame.type === 'control_cancel_request';
export const isKeepAlive = (frame: Frame): frame is KeepAlive => frame.type === 'keep_alive';

export const isControlFrame = (frame: Frame): frame is ControlFrame =>
  isControlRequest(frame) || isControlResponse(frame) || isControlCancelRequest(frame);
