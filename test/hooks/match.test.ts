import { describe, expect, it } from 'vitest';
import { compileMatcher, hookNameOf, namesOfTool, namesToMatch, nameToMatch } from '../../src/engine/hooks/match.js';

const onTool = (matcher: string | null | undefined, tool: string): boolean =>
  compileMatcher(matcher, 'PreToolUse').matches(namesOfTool(tool));

describe('matchers of tools', () => {
  it.each([
    [undefined, 'Bash', true],
    [null, 'Bash', true],
    ['', 'Bash', true],
    ['  ', 'Bash', true],
    ['*', 'Bash', true],
    ['.*', 'Bash', true],
    ['Bash', 'Bash', true],
    ['Bash', 'BashOutput', false],
    ['bash', 'Bash', false],
    ['Edit|Write', 'Write', true],
    ['Edit | Write', 'Write', true],
    ['Edit|Write', 'NotebookEdit', false],
    ['Edit|', 'Edit', true],
    ['Edit|', 'Bash', false],
    ['mcp__my-server__do', 'mcp__my-server__do', true],
    ['mcp__my-server__do', 'mcp__my-server__do_more', false],
    ['mcp__github__*', 'mcp__github__create_issue', true],
  ])('%s on %s', (matcher, tool, expected) => {
    expect(onTool(matcher, tool)).toBe(expected);
  });

  it('know old and new names of a tool, both ways', () => {
    expect(onTool('Agent', 'Task')).toBe(true);
    expect(onTool('Task', 'Agent')).toBe(true);
    expect(onTool('FileRead', 'Read')).toBe(true);
    expect(onTool('^KillShell$', 'TaskStop')).toBe(true);
    expect(namesOfTool('Read')).toEqual(['Read', 'FileRead']);
  });
});

describe('matchers of other events', () => {
  it.each([
    ['SessionStart', 'startup|resume', { source: 'resume' }, true],
    ['SessionStart', 'startup', { source: 'compact' }, false],
    ['SessionEnd', 'logout', { reason: 'other' }, false],
    ['PreCompact', 'auto', { trigger: 'auto' }, true],
    ['PostCompact', 'manual', { trigger: 'auto' }, false],
    ['Setup', 'init', { trigger: 'init' }, true],
    ['Notification', 'permission_prompt', { notification_type: 'permission_prompt', message: '' }, true],
    ['SubagentStart', 'Explore', { agent_type: 'Explore' }, true],
    ['SubagentStop', 'Explore', { agent_type: 'Plan' }, false],
    ['ConfigChange', 'user_settings', { source: 'user_settings' }, true],
    ['UserPromptExpansion', 'my-plugin:review', { command_name: 'my-plugin:review' }, true],
    ['InstructionsLoaded', 'session_start', { load_reason: 'nested_traversal' }, false],
    ['StopFailure', 'rate_limit', { error: 'rate_limit' }, true],
    ['UserPromptSubmit', 'ignored', { prompt: 'x' }, true],
    ['Stop', 'ignored', {}, true],
    ['CwdChanged', '(((', {}, true],
  ] as const)('%s with %s', (event, matcher, fields, expected) => {
    const names = namesToMatch(event, nameToMatch(event, fields));
    expect(compileMatcher(matcher, event).matches(names)).toBe(expected);
  });
});

describe('matchers that cannot be used', () => {
  it.each(['(a', 'Bash(git status:*)', 'Edit,Write', '(?!Bash).*', '|'])(
    '%s matches all where it guards, with a problem',
    (matcher) => {
      const { matches, problem } = compileMatcher(matcher, 'PreToolUse');
      expect(matches(['Read'])).toBe(true);
      expect(problem).toContain(JSON.stringify(matcher));
      expect(problem).toContain('runs for everything');
    },
  );

  it('match nothing where nothing is guarded, with a problem', () => {
    const { matches, problem } = compileMatcher('(a', 'PostToolUse');
    expect(matches(['Read'])).toBe(false);
    expect(problem).toContain('does not run');
  });
});

it('hooks are named after the event and what it is about', () => {
  expect(hookNameOf('PreToolUse', 'Bash')).toBe('PreToolUse:Bash');
  expect(hookNameOf('Stop', undefined)).toBe('Stop');
});
