/** What the Skill tool needs of its session. Types only. */
import type { ToolContext } from '../../protocol/index.js';
import type { EngineOutput } from '../tools/engine-output.js';

export interface SkillCalls {
  /** False: there is no place that skills could come from, so the tool does not exist. */
  readonly isOffered: boolean;
  /** The name that rules are about, however the model wrote it. */
  nameOf(written: string): string;
  /** Whether the skill allows tools for the rest of the turn: then somebody must agree to it. */
  grants(name: string): boolean;
  /** The text of the skill, or the answer of the agent that it runs in. Throws an error for the model when it cannot be had. */
  call(
    input: { name: string; args: string },
    options: Pick<ToolContext, 'signal' | 'toolUseId'>,
  ): Promise<EngineOutput>;
}
