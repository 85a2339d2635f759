/** What of the servers of a session somebody may use. Types only. */
export interface ServerBounds {
  permits: (toolName: string) => boolean;
  /** Whether a server may be asked for anything: its resources, its prompts, what it says of itself. */
  reaches: (server: string) => boolean;
  /** A rule forbids everything of the server. */
  isDenied?: (server: string) => Promise<boolean>;
}
