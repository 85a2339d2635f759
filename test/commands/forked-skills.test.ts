import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Question } from '../../src/engine/index.js';
import { ofSubtype } from '../agents/kit.js';
import { resultText } from '../engine/kit.js';
import { type Files, sent, skill, startWith } from './kit.js';

const call = (id: string, name: string, args?: string) => ({
  toolUse: { id, name: 'Skill', input: { skill: name, ...(args !== undefined && { args }) } },
});
const bash = (id: string, command: string) => ({ toolUse: { id, name: 'Bash', input: { command } } });
const forked = (body: string, more = ''): Files => ({
  'skills/probe/SKILL.md': skill('Probes', body, `context: fork\n${more}`),
});
const REVIEWER = {
  'agents/reviewer.md': '---\nname: reviewer\ndescription: d\ntools: Read, Bash\n---\nYou are the reviewer.',
};
const system = (request: { body: { system?: unknown } } | undefined): string => JSON.stringify(request?.body.system);

describe('a skill with context: fork', () => {
  it('runs in an agent when the model calls it: its text is the prompt, its answer the result', async () => {
    const run = await startWith(forked('Look at $1.'), [call('s', 'probe', 'roofs'), 'Roofs are fine.', 'Done.']);
    expect(await run.ask('go')).toMatchObject({ result: 'Done.' });
    expect(sent(run.model.requests[1])).toContain('Look at roofs.');
    expect(sent(run.model.requests[1])).not.toContain('"go"');
    expect(resultText(run.messages, 's')).toMatch(/^Roofs are fine\.\n?agentId: a[0-9a-f]{16}/);
    expect(sent(run.model.requests[2])).not.toContain('Look at roofs.');
    expect(ofSubtype(run.messages, 'task_started')).toMatchObject([
      { tool_use_id: 's', subagent_type: 'general-purpose', description: 'Skill probe', is_backgrounded: false },
    ]);
  });

  it('called by a person gives its answer as the result, and the conversation knows it', async () => {
    const run = await startWith(forked('Look at $1, see @note.txt. !`echo printed`'), ['Roofs are fine.', 'Next.']);
    writeFileSync(join(run.cwd, 'note.txt'), 'NOTED');
    expect(await run.ask('/probe roofs')).toMatchObject({
      subtype: 'success',
      is_error: false,
      result: 'Roofs are fine.',
      terminal_reason: 'completed',
    });
    expect(run.model.requests).toHaveLength(1);
    const prompt = sent(run.model.requests[0]);
    for (const text of ['Look at roofs', 'printed', 'NOTED']) expect(prompt).toContain(text);
    expect(run.messages.filter((message) => message.type === 'assistant')).toMatchObject([
      { local_command_source: 'probe', message: { content: [{ text: 'Roofs are fine.' }] } },
    ]);
    await run.ask('and now?');
    expect(sent(run.model.requests[1])).toMatch(/<command-name>\/probe<\/command-name>.*Roofs are fine\./);
    expect(sent(run.model.requests[1])).not.toContain('Look at roofs');
  });

  it('runs in the agent that it names, in whatever case, never in the background', async () => {
    const agents = {
      'agents/reviewer.md': REVIEWER['agents/reviewer.md'].replace('tools', 'background: true\ntools'),
    };
    const run = await startWith({ ...forked('Look.', 'agent: Reviewer\n'), ...agents }, [
      call('s', 'probe'),
      'Seen.',
      'Done.',
      'Seen again.',
    ]);
    await run.ask('go');
    expect(system(run.model.requests[1])).toContain('You are the reviewer.');
    expect(resultText(run.messages, 's')).toContain('Seen.');
    expect(await run.ask('/probe')).toMatchObject({ result: 'Seen again.' });
    expect(system(run.model.requests[3])).toContain('You are the reviewer.');
  });

  it('with an agent that is not there is an error that says which there are', async () => {
    const run = await startWith(forked('Look.', 'agent: nosuch\n'), [call('s', 'probe'), 'Done.']);
    await run.ask('go');
    expect(resultText(run.messages, 's')).toMatch(
      /The skill "probe" wants the agent "nosuch", which is not there\. Available: .*general-purpose/,
    );
    expect(await run.ask('/probe')).toMatchObject({
      is_error: true,
      result: expect.stringContaining('"nosuch", which is not there'),
    });
    expect(run.model.requests).toHaveLength(2);
  });

  it('its model counts in the agent alone', async () => {
    const run = await startWith(forked('Look.', 'model: claude-haiku-4-5\n'), [call('s', 'probe'), 'a', 'b', 'c', 'd']);
    await run.ask('go');
    await run.ask('/probe');
    await run.ask('more');
    const models = run.model.requests.map(({ body }) => body.model);
    const [main] = models;
    expect(main).not.toContain('haiku');
    expect(models).toEqual([main, 'claude-haiku-4-5', main, 'claude-haiku-4-5', main]);
  });

  it('what it allows counts in the agent alone, and somebody must agree to it', async () => {
    const asked: Question[] = [];
    const run = await startWith(
      forked('Mark. !`touch zero`', 'allowed-tools: Bash(touch:*)\n'),
      [
        call('s', 'probe'),
        bash('b1', 'touch one'),
        'marked',
        bash('b2', 'touch two'),
        'Done.',
        bash('b3', 'touch three'),
        'c',
      ],
      {
        ask: async (question) => {
          asked.push(question);
          return question.tool_name === 'Skill' ? { behavior: 'allow' } : { behavior: 'deny', message: 'no' };
        },
      },
    );
    await run.ask('go');
    expect(asked.map(({ tool_name, tool_use_id }) => [tool_name, tool_use_id])).toEqual([
      ['Skill', 's'],
      ['Bash', 'b2'],
    ]);
    await run.ask('/probe');
    expect(asked).toHaveLength(2);
    expect(['zero', 'one', 'two', 'three'].map((name) => existsSync(join(run.cwd, name)))).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect(run.session.scope.state.turnRules).toBeUndefined();
  });

  it.each([
    ['a rule', { disallowedTools: ['Task(reviewer)'] }, /reviewer|denied/i],
    ['no tool Task', { disallowedTools: ['Task'] }, /without the tool Task/],
    ['a list of tools without it', { tools: ['Skill', 'Read'] }, /without the tool Task/],
  ])('starts no agent that may not be started: %s', async (_, config, why) => {
    const files = { ...forked('Look.', 'agent: reviewer\n'), ...REVIEWER };
    const run = await startWith(files, [call('s', 'probe'), 'Done.'], { config });
    await run.ask('go');
    expect(resultText(run.messages, 's')).toMatch(why);
    expect(await run.ask('/probe')).toMatchObject({ is_error: true, result: expect.stringMatching(why) });
    expect(run.model.requests).toHaveLength(2);
    expect(ofSubtype(run.messages, 'task_started')).toEqual([]);
  });

  it('skills that call one another end with the depth of agents', async () => {
    const files = {
      'skills/ping/SKILL.md': skill('Ping', 'Ping.', 'context: fork\n'),
      'skills/pong/SKILL.md': skill('Pong', 'Pong.', 'context: fork\n'),
    };
    const names = ['ping', 'pong', 'ping', 'pong', 'ping'];
    const run = await startWith(files, [...names.map((name, at) => call(`s${at}`, name)), 'e', 'd', 'c', 'b', 'Done.']);
    expect(await run.ask('go')).toMatchObject({ result: 'Done.' });
    expect(resultText(run.messages, 's4')).toContain('Agents may start agents 4 deep');
    expect(ofSubtype(run.messages, 'task_started').map(({ spawn_depth }) => spawn_depth)).toEqual([1, 2, 3, 4]);
  });

  it('an interrupt, and a denial that interrupts, end the turn', async () => {
    const stop = async () => ({ behavior: 'deny', message: 'Stop', interrupt: true });
    const interrupted = { subtype: 'error_during_execution', terminal_reason: 'aborted_tools', is_error: false };
    const lines = { 'skills/lines/SKILL.md': skill('Lines', '!`touch zero`') };
    const run = await startWith(
      { ...forked('Look.'), ...lines },
      [call('s', 'probe'), bash('b1', 'touch one'), bash('b2', 'touch two'), call('l', 'lines'), 'Next.'],
      { ask: stop },
    );
    expect(await run.ask('go')).toMatchObject(interrupted);
    expect(await run.ask('/probe')).toMatchObject(interrupted);
    expect(await run.ask('a line of a skill')).toMatchObject(interrupted);
    expect(run.model.requests).toHaveLength(4);
    expect(await run.ask('on')).toMatchObject({ result: 'Next.' });

    const begun = Promise.withResolvers<void>();
    const hung = await startWith(forked('Look.'), [
      () => {
        begun.resolve();
        return { text: 'half', waitFor: new Promise(() => {}) };
      },
    ]);
    const asked = hung.ask('/probe');
    await begun.promise;
    hung.session.interrupt();
    expect(await asked).toMatchObject(interrupted);
  });

  it('who is owed a structured answer gets one: the model turns the answer into it', async () => {
    const jsonSchema = { type: 'object', properties: { fine: { type: 'boolean' } }, required: ['fine'] };
    const run = await startWith(
      forked('Look.'),
      ['Roofs are fine.', { toolUse: { id: 'o', name: 'StructuredOutput', input: { fine: true } } }],
      { config: { jsonSchema } },
    );
    expect(await run.ask('/probe')).toMatchObject({ structured_output: { fine: true } });
    expect(sent(run.model.requests[1])).toContain('Roofs are fine.');
  });

  it('UserPromptExpansion hooks see its text and can keep it back', async () => {
    const command = `grep -q 'Look at roofs' && echo '{"decision":"block","reason":"No roofs."}'`;
    const settings = JSON.stringify({ hooks: { UserPromptExpansion: [{ hooks: [{ type: 'command', command }] }] } });
    const run = await startWith(forked('Look at $1.'), [], { config: { settings } });
    expect(await run.ask('/probe roofs')).toMatchObject({ result: expect.stringContaining('No roofs.') });
  });
});

describe('what is wrong with context and agent', () => {
  it.each([
    ['context: forkish\n', /:3: .*"context" must be fork or inline, and is "forkish"; inline counts/],
    ['context: [fork]\n', /:3: .*"context" must be text/],
    ['agent: reviewer\n', /:3: .*"agent" counts only beside "context: fork"/],
    ['context: inline\n', undefined],
  ])('%j is told with file and line, and the skill works inline', async (more, problem) => {
    const files = { 'skills/probe/SKILL.md': skill('Probes', 'Look at $1.', more) };
    const run = await startWith(files, [call('s', 'probe', 'roofs'), 'Done.']);
    await run.ask('go');
    expect(resultText(run.messages, 's')).toMatch(/^Launching skill: probe[^]*Look at roofs\.$/);
    const told = ofSubtype(run.messages, 'informational').map(({ content }) => content);
    if (problem === undefined) expect(told).toEqual([]);
    else expect(told).toEqual([expect.stringMatching(problem)]);
    expect(ofSubtype(run.messages, 'task_started')).toEqual([]);
  });
});
