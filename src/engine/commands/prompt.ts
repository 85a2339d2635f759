/** A message of the user as the conversation gets it. Types only. */
import type { UserContentBlock, UserMessage } from '../../protocol/index.js';
import type { Ending } from '../outcome.js';
import type { ForkedSkill } from './fork-skill.js';

export interface Prompt {
  /** Undefined: it does not get into the conversation, for nobody has let it through. */
  content: UserMessage['message']['content'] | undefined;
  /** The parts of it in which `@file` means a file. */
  mentionable: string[];
  /** What it mentions, to stand before it. */
  before?: UserContentBlock[];
  /** For the model, after it. */
  after: string[];
  /** It is for an agent of its own. */
  fork?: { file: ForkedSkill; header: string } | undefined;
  /** The turn is over with it: the model is not asked. */
  ending?: Ending;
}
