/** The public door of the wire: how two sides of the protocol reach each other. */
export { createMemoryPair } from './memory.js';
export {
  createLineDecoder,
  DEFAULT_MAX_LINE_BYTES,
  encodeLine,
  type LineDecoder,
  type LineDecoderOptions,
  parseLine,
} from './ndjson.js';
export {
  type AskedOf,
  type Handler,
  type HandlerContext,
  Peer,
  type PeerOptions,
  type SentBy,
  type Side,
} from './peer.js';
export { FrameQueue, MERGE_ABOVE_BYTES } from './queue.js';
export { createStdioChannel, type StdioChannel, type StdioChannelOptions } from './stdio.js';
