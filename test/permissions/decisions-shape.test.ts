import { describe, expect, it } from 'vitest';
import { judgeCase } from '../../src/engine/permissions/check.js';

const judge = (given: object) => judgeCase({ id: 'c', ...given });
const call = { tool: 'Bash', command: 'ls' };

const afterwards = (next: unknown): object => JSON.parse(`{"input": {"then": ${JSON.stringify(next)}}}`);

describe('D4 a case that is no case is an error', () => {
  it.each([
    [{ setup: { allow: [5] }, input: call }, /^setup\.allow\[0\] must be a rule, not 5/],
    [{ setup: { deny: ['Bash', null] }, input: call }, /^setup\.deny\[1\] must be a rule, not null/],
    [{ setup: { managed: [[]] }, input: call }, /^setup\.managed\[0\] must be a rule/],
    [{ setup: { user: { permissions: { ask: [true] } } }, input: call }, /^setup\.user\.permissions\.ask\[0\] must/],
    [{ input: { tool: 5 } }, /^input\.tool must be the name of a tool, not 5/],
    [{ input: { tool: ' ', command: 'ls' } }, /^input\.tool must be the name of a tool/],
    [afterwards({ tool: {} }), /^input\.then\.tool must be the name/],
    [afterwards(5), /^input\.then must be an object/],
    [{ input: {} }, /^input\.tool is missing/],
    [{}, /^input\.tool is missing/],
    [{ input: { command: 'ls' } }, /^input\.tool is missing/],
    [{ input: { tool_name: 'Bash', input: { command: 'ls' } } }, /^input\.tool is missing/],
  ])('%j', (given, reason) => {
    expect(judge(given)).toMatchObject({ verdict: 'error', reason: expect.stringMatching(reason) });
  });

  it.each([
    { event: 'tools/list', tools: ['Bash'] },
    { hook: 'it times out', tool: 'Bash', command: 'ls' },
    { sequence: ['one', 'two'] },
    { project_settings: { hooks: {} } },
    { http: { method: 'GET', path: '/' } },
  ])('%j happens: it is staged', (input) => {
    expect(judge({ input })).toMatchObject({ verdict: 'ask', reason: expect.stringContaining('staged') });
  });

  it('a rule that cannot be read asks', () => {
    expect(judge({ setup: { deny: ['Bash(('] }, input: call })).toMatchObject({ verdict: 'ask' });
    expect(judge({ setup: { deny: [{ tool: 'Bash', command: 'ls' }] }, input: call })).toMatchObject({
      verdict: 'deny',
    });
  });
});
