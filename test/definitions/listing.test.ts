import { describe, expect, it } from 'vitest';
import type { SkillFile } from '../../src/engine/definitions/definition.js';
import { describeSkills } from '../../src/engine/definitions/listing.js';

const skill = (name: string, description: string, modelMayCall = true): SkillFile => ({
  name,
  description,
  argumentHint: '',
  allowedTools: [],
  modelMayCall,
  userMayCall: true,
  folder: `/skills/${name}`,
  origin: { scope: 'user' },
});

describe('describeSkills', () => {
  it('names and descriptions in one line each, of those that the model may call', () => {
    const skills = [skill('b', 'Two\n  lines'), skill('a', ''), skill('c', 'hidden', false)];
    expect(describeSkills(skills)).toBe('- a\n- b: Two lines');
    expect(describeSkills([])).toBe('');
  });

  it('cuts the long ones to one length, and leaves the short ones whole', () => {
    const skills = [skill('a', 'x'.repeat(500)), skill('b', 'short'), skill('c', 'y'.repeat(300))];
    const text = describeSkills(skills, { maxChars: 200 });
    expect(text.length).toBeLessThanOrEqual(200);
    const [a = '', b, c = ''] = text.split('\n');
    expect(b).toBe('- b: short');
    expect(a).toMatch(/^- a: x+…$/);
    expect(a.length).toBe(c.length);
    expect(a.length).toBeGreaterThan(80);
  });

  it('500 skills in little room: names, and at last a number; never more than there is room for', () => {
    const skills = Array.from({ length: 500 }, (_, at) =>
      skill(`skill-${String(at).padStart(3, '0')}`, '😀 long '.repeat(50)),
    );
    for (const maxChars of [100_000, 30_000, 14_999, 8_000, 6_000, 1_000, 30]) {
      const text = describeSkills(skills, { maxChars });
      expect(text.length).toBeLessThanOrEqual(maxChars);
      expect(text.isWellFormed()).toBe(true);
    }
    expect(describeSkills(skills, { maxChars: 8_000 }).split('\n')).toHaveLength(500);
    expect(describeSkills(skills, { maxChars: 30 })).toBe('- skill-000\n- and 499 more');
  });
});
