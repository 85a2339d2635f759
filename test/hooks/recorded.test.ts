import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HookBase } from '../../src/engine/hooks/registry.js';
import { blockingText, contextText, denialText, promptBlocked, stopFeedback } from '../../src/engine/hooks/texts.js';
import { toReminder } from '../../src/engine/reminder.js';
import type { HookMatcherConfig } from '../../src/protocol/index.js';
import type { HookEvent } from '../../src/protocol/plain.js';
import { type Line, recordings } from '../protocol/recordings.js';
import { createHookBench, type HookBench, quiet } from './kit.js';

let bench: HookBench;
beforeEach(() => {
  bench = createHookBench();
});
afterEach(() => bench.close());

interface Asked {
  callback_id: string;
  input: Record<string, unknown> & { hook_event_name: HookEvent };
  tool_use_id: string;
}

const lines = recordings.find(({ name }) => name === '0.2/hooks_block.jsonl')?.lines ?? [];
const request = ({ frame }: Line) =>
  frame.request as { subtype?: string; hooks?: Record<string, HookMatcherConfig[]> } | undefined;
const asked = lines
  .filter((line) => request(line)?.subtype === 'hook_callback')
  .map((line) => request(line) as unknown as Asked);
const answers = lines
  .filter(({ dir, frame }) => dir === 'to-cli' && frame.type === 'control_response')
  .map(({ frame }) => frame.response as { response: unknown });

describe('a recorded exchange', () => {
  it('is repeated: the same questions lead to the same verdicts', async () => {
    expect(asked).toHaveLength(9);
    const callbacks = lines.map(request).find((found) => found?.subtype === 'initialize')?.hooks ?? {};
    const questions: unknown[] = [];
    let base: HookBase | undefined;
    const hookAnswers = answers.filter(({ response }) => !(response as { behavior?: string }).behavior);
    const hooks = bench.create({
      callbacks,
      askCallback: async (callback_id, input, tool_use_id) => {
        questions.push({ callback_id, input, tool_use_id });
        return hookAnswers[questions.length - 1]?.response;
      },
      base: () => base as HookBase,
    });
    const verdicts: string[] = [];
    for (const { input, tool_use_id } of asked) {
      const { session_id, transcript_path, cwd, permission_mode, hook_event_name: event, ...fields } = input;
      base = { session_id, transcript_path, cwd, permission_mode } as HookBase;
      const verdict = await hooks.fire(event, fields, {
        signal: quiet,
        toolUseId: tool_use_id,
      });
      const { decision, updatedInput, block, additionalContext } = verdict;
      verdicts.push(JSON.stringify({ event, decision, updatedInput, block: block?.reason, additionalContext }));
    }
    expect(questions).toEqual(
      asked.map(({ callback_id, input, tool_use_id }) => ({ callback_id, input, tool_use_id })),
    );
    expect(verdicts.map((text) => JSON.parse(text) as unknown)).toEqual([
      { event: 'UserPromptSubmit', additionalContext: ['EXTRA-CTX'] },
      { event: 'PreToolUse', decision: 'deny', additionalContext: [] },
      {
        event: 'PreToolUse',
        decision: 'allow',
        updatedInput: { command: 'echo HOOKED', description: 'x' },
        additionalContext: ['PRE-CTX'],
      },
      { event: 'PostToolUse', additionalContext: ['POST-CTX-Bash'] },
      { event: 'PreToolUse', decision: 'ask', additionalContext: [] },
      { event: 'PostToolUse', additionalContext: ['POST-CTX-Bash'] },
      { event: 'PostToolUse', block: 'POST-BLOCK-REASON', additionalContext: ['POST-CTX-Read'] },
      { event: 'Stop', block: 'keep going please', additionalContext: [] },
      { event: 'Stop', additionalContext: [] },
    ]);
  });
});

describe('texts', () => {
  it('are those that clients and models know', () => {
    expect(toReminder(contextText('PreToolUse:Bash', 'X'))).toBe(
      '<system-reminder>\nPreToolUse:Bash hook additional context: X\n</system-reminder>',
    );
    expect(blockingText('PostToolUse:Read', { source: 'callback', reason: 'X' })).toBe(
      'PostToolUse:Read hook blocking error from command: "callback": X',
    );
    expect(stopFeedback('Stop', 'keep going please')).toBe('Stop hook feedback:\nkeep going please');
    expect(promptBlocked('UserPromptSubmit', { reason: 'no', prompt: 'hi' })).toBe(
      'UserPromptSubmit operation blocked by hook:\nno\n\nOriginal prompt: hi',
    );
    expect(denialText('PreToolUse:Bash', { reason: 'hook says no' })).toBe('hook says no');
    expect(denialText('PreToolUse:Bash', { reason: 'no', command: 'check.sh' })).toBe(
      'PreToolUse:Bash hook error: [check.sh]: no',
    );
  });
});
