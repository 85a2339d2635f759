import type { TaskInput, ToolContext, ToolOutput } from '../../protocol/index.js';
import { toEndOutput, wholeText } from '../agents/end-output.js';
import type { ReadyAgent, SessionAgents } from '../agents/session-agents.js';
import type { OutputFile } from '../sessions/kept-output.js';
import type { Tasks } from '../tasks.js';
import { cutText } from './bound.js';
import type { EngineOutput } from './engine-output.js';

export interface AgentToolParts {
  agents: SessionAgents;
  tasks: Tasks;
  openOutput: (name: string) => OutputFile;
}

/** Characters of an answer that come with the notice of its end. */
const MAX_TOLD = 30_000;

export async function runAgent(input: TaskInput, context: ToolContext, parts: AgentToolParts): Promise<ToolOutput> {
  const { toolUseId, signal } = context;
  const agent = await parts.agents.open(input, { toolUseId, signal });
  if (!agent.isBackground) return waitFor({ agent, mayResume: parts.agents.tree.store !== undefined }, input, signal);
  try {
    return launch(parts, { agent, input }, context);
  } catch (thrown) {
    await agent.drop();
    throw thrown;
  }
}

async function waitFor(
  { agent, mayResume }: { agent: ReadyAgent; mayResume: boolean },
  { prompt }: TaskInput,
  signal: AbortSignal,
): Promise<EngineOutput> {
  const { id, type } = agent.identity;
  const outcome = await agent.run(signal);
  const { status, totalTokens, toolUses, durationMs } = outcome;
  const told = toEndOutput(id, outcome, { mayResume });
  if (status !== 'completed') return told;
  return {
    ...told,
    structured: {
      status,
      prompt,
      agentId: id,
      agentType: type,
      content: [{ type: 'text', text: wholeText(outcome) }],
      totalDurationMs: durationMs,
      totalTokens,
      totalToolUseCount: toolUses,
    },
  };
}

/** In the background it outlives the call and the turn. */
function launch(
  { tasks, openOutput }: AgentToolParts,
  { agent, input: { prompt } }: { agent: ReadyAgent; input: TaskInput },
  { toolUseId, clock }: Pick<ToolContext, 'toolUseId' | 'clock'>,
): ToolOutput {
  const { id, description, type, depth, color } = agent.identity;
  // An agent may be gone on with, and has then another answer.
  const file = openOutput(`${id}-${clock.uuid().slice(0, 8)}.output`);
  tasks.start({
    id,
    type: 'local_agent',
    description,
    toolUseId,
    outputPath: file.path,
    agent: { type, prompt, depth, ...(color && { color }) },
    soFar: () => agent.soFar(),
    async run(signal) {
      const { status, text, note, totalTokens, toolUses, durationMs } = await agent.run(signal);
      file.write(Buffer.from(wholeText({ text, note })));
      file.close();
      const usage = { total_tokens: totalTokens, tool_uses: toolUses, duration_ms: durationMs };
      const told = text.length <= MAX_TOLD ? text : `${cutText(text, MAX_TOLD)}\n[The rest is in ${file.path}]`;
      const result = wholeText({ text: told, note });
      return { status, summary: `Agent "${description}" ${ENDS[status]}`, result, usage };
    },
  });
  return {
    content:
      `Agent started in the background. agentId: ${id}. You are told when it is done; go on with other work meanwhile. ` +
      `Its answer will be in ${file.path}; TaskOutput waits for it, TaskStop ends it.`,
    structured: {
      isAsync: true,
      status: 'async_launched',
      agentId: id,
      agentType: type,
      description,
      prompt,
      outputFile: file.path,
    },
  };
}

const ENDS = { completed: 'completed', failed: 'failed', stopped: 'was stopped' } as const;
