import { describe, expect, it } from 'vitest';
import { describeContextUsage } from '../../src/engine/context-usage/describe.js';

describe('/context', () => {
  it('is a table that people and programs can read', () => {
    const text = describeContextUsage({
      categories: [
        { name: 'Messages', tokens: 20_000, kind: 'used' },
        { name: 'Tools on demand', tokens: 900, kind: 'deferred', isDeferred: true },
        { name: 'Free space', tokens: 180_000, kind: 'free' },
      ],
      totalTokens: 20_000,
      maxTokens: 200_000,
      percentage: 10,
      model: 'a-model',
      autoCompactThreshold: 167_000,
      mcpTools: [{ name: 'mcp__a__b', serverName: 'a', tokens: 12, isLoaded: false }],
      memoryFiles: [{ path: 'odd|name\n.md', type: 'project', tokens: 1_500_000 }],
    });
    expect(text).toBe(`## Context usage

Model: a-model
Tokens: 20.0k of 200.0k (10 %)
The conversation is summed up from 167.0k on.

| Category | Tokens | Share |
| --- | ---: | ---: |
| Messages | 20.0k | 10.0 % |
| Tools on demand (not loaded) | 900 |  |
| Free space | 180.0k | 90.0 % |

### MCP tools

| Tool | Server | Tokens |
| --- | --- | ---: |
| mcp__a__b (not loaded) | a | 12 |

### Memory files

| File | Of | Tokens |
| --- | --- | ---: |
| odd\\|name .md | project | 1.50M |`);
  });

  it('shows the first of many', () => {
    const skillFrontmatter = Array.from({ length: 500 }, (_, n) => ({ name: `skill-${n}`, source: 'user', tokens: 9 }));
    const skills = { totalSkills: 500, includedSkills: 500, tokens: 4_500, skillFrontmatter };
    const text = describeContextUsage({ categories: [], totalTokens: 0, maxTokens: 0, percentage: 0, skills });
    expect(text).toContain('| skill-29 |');
    expect(text).not.toContain('| skill-30 |');
    expect(text).toContain('... and 470 more');
  });
});
