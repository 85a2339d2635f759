/** The public door of the server: an engine for clients on WebSockets. */
export { type ConfigFor, createServer, type RunningServer, type ServerOptions } from './server.js';
