/** The public door of the wire: how two sides of the protocol reach each other. */
export { acceptWebSockets, type AcceptOptions, type WebSocketAcceptor } from './accept.js';
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
export { createProcessChannel, type ProcessChannelOptions, type SpawnedProcess } from './process.js';
export { FrameQueue, MERGE_ABOVE_BYTES } from './queue.js';
export { type EngineProcessOptions, spawnEngineProcess, type SpawnOptions } from './spawn.js';
export { createStdioChannel, type StdioChannel, type StdioChannelOptions } from './stdio.js';
export { fromTransport, type Transport, type TransportOptions } from './transport.js';
export { connectWebSocket, type WebSocketOptions } from './websocket.js';
