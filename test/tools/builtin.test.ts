import { describe, expect, it } from 'vitest';
import { createBuiltinTools } from '../../src/engine/tools/builtin.js';

describe('createBuiltinTools', () => {
  const tools = createBuiltinTools();

  it('gives the six first tools', () => {
    expect(tools.map((tool) => tool.name)).toEqual(['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'Write']);
    expect(tools.filter((tool) => tool.edits === true).map((tool) => tool.name)).toEqual(['Edit', 'Write']);
  });

  it('describes them in less than 2 KB', () => {
    expect(Buffer.byteLength(tools.map((tool) => tool.description).join(''))).toBeLessThan(2_048);
  });

  it('has the schema of every one', () => {
    expect(tools.filter((tool) => tool.inputSchema.properties === undefined).map((tool) => tool.name)).toEqual([]);
  });
});
