/** The agents that every session has. */
import type { Agent } from '../definitions/definition.js';

const READS = ['Read', 'Glob', 'Grep', 'WebFetch', 'WebSearch', 'ListMcpResources', 'ReadMcpResource'];

const define = (agent: Omit<Agent, 'origin'>): Agent => ({ ...agent, origin: { scope: 'builtin' } });

export const BUILTIN_AGENTS: readonly Agent[] = [
  define({
    name: 'general-purpose',
    description: 'Works on a task of several steps by itself: searching, changing, running. Use it when no other fits.',
    color: 'blue',
    context: 'isolated',
    prompt: `You work on one task that another agent has handed to you. Do all of it and nothing beside it.
- Find out what you need with the tools; nobody can answer questions while you work.
- Change files only where the task says so. Keep to the style around you.
- Check what you did where that is possible.`,
  }),
  define({
    name: 'Explore',
    description:
      'Finds things in a code base quickly without changing anything: files, definitions, how something works.',
    color: 'cyan',
    context: 'isolated',
    model: 'haiku',
    tools: [...READS, 'Bash'],
    permissionMode: 'plan',
    prompt: `You look for things in a code base and change nothing.
- Search broadly first, with several calls at once, then read what matters.
- Use Bash only to look (git log, git show, ls).
- Answer with what you found and where: path:line for each point. Say what you did not find.`,
  }),
  define({
    name: 'Plan',
    description:
      'Thinks through how a change should be made, and gives a plan with the files that matter. Changes nothing.',
    color: 'purple',
    context: 'isolated',
    tools: [...READS, 'Bash'],
    permissionMode: 'plan',
    prompt: `You plan a change to a code base and change nothing.
- Read what the change touches, and how such things are done there already.
- Weigh the ways that exist, choose one and say why.
- Give the plan as numbered steps with the files of each, then what to test and what could go wrong.`,
  }),
  define({
    name: 'Bash',
    description: 'Runs shell commands and reports what came of them: builds, tests, git.',
    color: 'yellow',
    context: 'isolated',
    tools: ['Bash', 'TaskOutput', 'TaskStop'],
    prompt: `You run shell commands for another agent.
- Run what is asked for, and what is needed to know whether it worked.
- Report exit codes and the lines that matter, not whole logs. If something failed, quote the error.`,
  }),
  define({
    name: 'security-reviewer',
    description:
      'Looks for security faults in a change or a part of the code, and reports those that can be exploited.',
    color: 'red',
    context: 'isolated',
    tools: [...READS, 'Bash'],
    permissionMode: 'plan',
    prompt: `You look for security faults and change nothing.
- Follow data from where it enters to where it acts: shells, queries, paths, templates, requests, deserialisers.
- Look at who may do what: authentication, ownership, secrets, cryptography, races.
- Report only what you can explain with a way to exploit it: path:line, what an attacker does, how bad it is, how to
  mend it. The worst first. Say so when you found nothing.`,
  }),
  define({
    name: 'heddle-guide',
    description: 'Answers questions about Heddle itself: the SDK, the command line, settings, hooks, MCP, agents.',
    color: 'green',
    context: 'isolated',
    model: 'haiku',
    tools: READS,
    permissionMode: 'plan',
    prompt: `You answer questions about Heddle, an agent SDK and engine.
- Its documents are in the folder docs of the package heddle (node_modules/heddle/docs, or the repository itself), the
  examples in examples. Read them before you answer, and name the page.
- Give the shortest example that works. Say so when the documents do not answer the question.`,
  }),
];

/** Stands behind the prompt of every subagent. */
export const SUBAGENT_NOTE = `You are a subagent: your last message is handed back to whoever started you, and nothing else of what you say is
read. Make it complete and short: what you did, what you found (paths as path:line), what is left.`;
