import type { SkillInput, WholeTool } from '../../protocol/index.js';
import type { ToolParts } from './parts.js';
import { inputSchemaOf, parseToolInput } from './tool-input.js';

/** The text of a skill is what it is called for: more of it than of other results goes to the model. */
const LIMITS = { text: 100_000, field: 10_000, structured: 10_000 };

/** Gives the model the text of a skill. The call itself changes nothing: lines that the skill runs are judged one by one. */
export function createSkillTool({ skills }: Pick<ToolParts, 'skills'>): WholeTool<SkillInput> {
  return {
    name: 'Skill',
    description: 'Gives the instructions of a skill. Call it before a task that a listed skill is for.',
    inputSchema: inputSchemaOf('Skill'),
    limits: LIMITS,
    async parse(input) {
      const { skill, ...rest } = await parseToolInput('Skill', input);
      return { ...rest, skill: skills.nameOf(skill) };
    },
    isReadOnly: ({ skill }) => !skills.grants(skill),
    run: ({ skill, args = '' }, context) => skills.call({ name: skill, args }, context),
  };
}
