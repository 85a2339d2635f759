import type { ToolOutput } from '../../protocol/index.js';

/** What tools of the engine give beside what every tool may. */
export interface EngineOutput extends ToolOutput {
  /** Someone who denied a call that was made on the way wants the turn to end. */
  interrupt?: boolean;
}
