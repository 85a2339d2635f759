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
/** What the types name because others fill it. */
const CALLED = ['mcp_server'];
const TEAM = ['teammate_name', 'team_name'];
const NOT_FILLED: Partial<Record<HookEvent, string[]>> = {
  PreToolUse: CALLED,
  PostToolUse: CALLED,
  PostToolUseFailure: CALLED,
  PermissionRequest: CALLED,
  PermissionDenied: CALLED,
  Notification: ['title'],
  UserPromptSubmit: ['source', 'session_title'],
  SessionStart: ['session_title', 'context_tokens'],
  Stop: ['session_crons'],
  SubagentStop: ['session_crons'],
  TaskCreated: TEAM,
  TaskCompleted: TEAM,
  InstructionsLoaded: ['globs'],
};

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

  it.each(HOOK_EVENTS)('%s has the fields of its input that are filled', (event) => {
    const isAgents = event.startsWith('Subagent');
    const { [event]: missing = [] } = NOT_FILLED;
    const fields = fieldsOf(HOOK_INPUTS[event]()).filter((field) => {
      const name = field.replace('?', '');
      return !COMMON.includes(name) && !missing.includes(name) && (isAgents || !AGENT.includes(name));
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

/** For each event that something causes, the test that shows what its hooks can do. */
const SHOWN_BY: Partial<Record<HookEvent, string>> = {
  InstructionsLoaded: 'test/hooks/carriers.test.ts',
  PreToolUse: 'test/sdk/hooks.test.ts',
  PostToolUse: 'test/sdk/hooks.test.ts',
  PostToolUseFailure: 'test/sdk/hooks.test.ts',
  Notification: 'test/hooks/session.test.ts',
  UserPromptSubmit: 'test/sdk/hooks.test.ts',
  SessionStart: 'test/sdk/hooks.test.ts',
  SessionEnd: 'test/sdk/hooks.test.ts',
  Stop: 'test/sdk/hooks.test.ts',
  PermissionRequest: 'test/sdk/hooks.test.ts',
  PreCompact: 'test/compaction/manual.test.ts',
  PostCompact: 'test/compaction/manual.test.ts',
  UserPromptExpansion: 'test/commands/files.test.ts',
  SubagentStart: 'test/agents/hooks.test.ts',
  SubagentStop: 'test/agents/hooks.test.ts',
  WorktreeCreate: 'test/agents/worktree.test.ts',
  WorktreeRemove: 'test/agents/worktree.test.ts',
  Setup: 'test/hooks/carriers.test.ts',
  PostToolBatch: 'test/sdk/hooks.test.ts',
  PermissionDenied: 'test/sdk/hooks.test.ts',
  TaskCreated: 'test/sdk/hooks.test.ts',
  TaskCompleted: 'test/sdk/hooks.test.ts',
  ConfigChange: 'test/guard/layers.test.ts',
  CwdChanged: 'test/sdk/hooks.test.ts',
  StopFailure: 'test/hooks/carriers.test.ts',
};

describe('docs/hooks.md', () => {
  const textOf = (name: string): string => readFileSync(join(import.meta.dirname, '../..', name), 'utf8');
  // The formatter fills the columns with spaces.
  const lines = textOf('docs/hooks.md')
    .split('\n')
    .map((line) => line.replace(/ {2,}/g, ' '));
  /** The rows of the table with this head. */
  const rowsOf = (head: string): string[] => {
    const rest = lines.slice(lines.indexOf(head) + 2);
    return rest.slice(
      0,
      rest.findIndex((line) => !line.startsWith('|')),
    );
  };
  const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ') || '-';

  it('says what causes each event, what a block does, and which test shows it', () => {
    const rows = HOOK_EVENTS.map((event) => {
      const { when, gate, block = '-', later } = HOOK_TRIGGERS[event];
      const shown = later === undefined ? `\`${SHOWN_BY[event]}\`` : `comes with ${later}`;
      return `| \`${event}\`${gate ? ' (gate)' : ''} | ${when} | ${block} | ${shown} |`;
    });
    expect(rowsOf('| Event | What causes it | What a block does | Shown by |')).toEqual(rows);
  });

  it('says what each event is told and may answer', () => {
    const rows = HOOK_EVENTS.map((event) => {
      const { matchField, fields, answers } = HOOK_TRIGGERS[event];
      const cells = [matchField === undefined ? '-' : code([matchField]), code(fields), code(answers)];
      return `| \`${event}\` | ${cells.join(' | ')} |`;
    });
    const head = '| Event | Matchers are about | Fields of the input | Fields of `hookSpecificOutput` |';
    expect(rowsOf(head)).toEqual(rows);
  });

  it.each(Object.entries(SHOWN_BY))('%s is in %s', (event, file) => {
    expect(HOOK_TRIGGERS[event as HookEvent].later).toBeUndefined();
    expect(textOf(file)).toMatch(new RegExp(`\\b${event}\\b`));
  });
});
