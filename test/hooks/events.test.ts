import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { HOOK_TRIGGERS } from '../../src/engine/hooks/events.js';
import { HOOK_INPUTS } from '../../src/protocol/hook.js';
import { HOOK_SPECIFIC_OUTPUTS } from '../../src/protocol/hook-output.js';
import { HOOK_EVENTS, type HookEvent } from '../../src/protocol/names.js';

const COMMON = ['hook_event_name', 'session_id', 'transcript_path', 'cwd', 'prompt_id', 'permission_mode', 'effort'];
const AGENT = ['agent_id', 'agent_type'];

const fieldsOf = (schema: z.ZodType): string[] => {
  const { shape } = schema as z.ZodObject;
  return Object.entries(shape).map(([name, field]) =>
    field.safeParse(undefined).success && !isUnknown(field) ? `${name}?` : name,
  );
};

/** A field of any type has no missing value of its own. */
const isUnknown = (field: z.core.$ZodType): boolean => (field as z.ZodType).def.type === 'unknown';

describe('the table of events', () => {
  it('has every event and no other', () => {
    expect(Object.keys(HOOK_TRIGGERS)).toEqual([...HOOK_EVENTS]);
  });

  it.each(HOOK_EVENTS)('%s has the fields of its input', (event) => {
    const isAgents = event.startsWith('Subagent');
    const fields = fieldsOf(HOOK_INPUTS[event]()).filter((field) => {
      const name = field.replace('?', '');
      return !COMMON.includes(name) && (isAgents || !AGENT.includes(name));
    });
    expect([...HOOK_TRIGGERS[event].fields].toSorted()).toEqual(fields.toSorted());
  });

  it.each(HOOK_EVENTS)('%s answers with the fields of its output', (event) => {
    const schema = (HOOK_SPECIFIC_OUTPUTS as Partial<Record<HookEvent, () => z.ZodType>>)[event];
    const fields = schema === undefined ? [] : fieldsOf(schema()).map((field) => field.replace('?', ''));
    expect([...HOOK_TRIGGERS[event].answers].toSorted()).toEqual(
      fields.filter((name) => name !== 'hookEventName').toSorted(),
    );
  });

  it.each(HOOK_EVENTS)('%s matches by a field it has', (event) => {
    const { matchField, fields, when } = HOOK_TRIGGERS[event];
    if (matchField !== undefined) expect(fields.map((field) => field.replace('?', ''))).toContain(matchField);
    expect(when).toMatch(/^[A-Z].+\.$/);
  });

  it('the gates are those the design names, and what is like them', () => {
    const gates = HOOK_EVENTS.filter((event) => HOOK_TRIGGERS[event].gate);
    expect(gates).toEqual([
      'PreToolUse',
      'UserPromptSubmit',
      'Stop',
      'SubagentStop',
      'PermissionRequest',
      'UserPromptExpansion',
    ]);
  });
});

describe('docs/hooks.md', () => {
  const document = readFileSync(join(import.meta.dirname, '../../docs/hooks.md'), 'utf8');
  const rows = HOOK_EVENTS.map((event) => {
    const { when, matchField, gate, block, fields, answers } = HOOK_TRIGGERS[event];
    const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ') || '-';
    const cells = [
      `\`${event}\`${gate ? ' (gate)' : ''}`,
      when,
      matchField === undefined ? '-' : `\`${matchField}\``,
      code(fields),
      code(answers),
      block === undefined ? '-' : block,
    ];
    return `| ${cells.join(' | ')} |`;
  });

  it('shows the table as it is', () => {
    // The formatter fills the columns with spaces.
    const lines = document.split('\n').map((line) => line.replace(/ {2,}/g, ' '));
    expect(lines.filter((line) => /^\| `[A-Z]\w+`(?: \(gate\))? \|/.test(line))).toEqual(rows);
  });
});
