/** The hooks of a session with all that they reach. */
import { matchesRule } from '../permissions/rule-match.js';
import type { SessionScope } from '../scope.js';
import { createHooks, type Hooks, type LateOutput } from './registry.js';
import type { Post } from './run.js';

const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_ANSWER_TOKENS = 1_000;

export function openHooks(scope: SessionScope, onLate: (late: LateOutput) => void): Hooks {
  const { config, workspace, recorder, clock, logger, childEnv, id } = scope;
  return createHooks({
    runProcess: (spec) => workspace.run(spec),
    async callModel(prompt, { signal, model }) {
      const system =
        'You judge an event of an agent session for a hook. Answer with the JSON object that is asked for.';
      const call = { purpose: 'hook', system, prompt, maxTokens: MAX_ANSWER_TOKENS, signal, ...(model && { model }) };
      const blocks = await scope.callAside(call);
      return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
    },
    post,
    askTool: (name, input, options) => scope.mcp.askTool(name, input, options),
    matchesRule: (rule, call) => matchesRule(scope, rule, call),
    env: childEnv,
    projectDir: config.cwd,
    cwd: () => scope.state.cwd,
    base: () => ({
      session_id: id,
      transcript_path: recorder.log.path ?? '',
      cwd: scope.state.cwd,
      permission_mode: scope.state.mode,
    }),
    clock,
    logger,
    emit: (message) => recorder.emit(message),
    onLate,
    ...(config.includeHookEvents && { includeHookEvents: true }),
  });
}

/** The address stands in settings that a person wrote or trusts, so it may be a private one; it may not lead elsewhere. */
const post: Post = async (url, body, headers, { signal }) => {
  const response = await fetch(url, { method: 'POST', body, headers, signal, redirect: 'manual' });
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_RESPONSE_BYTES) throw new Error('the answer is longer than 1 MB');
    chunks.push(chunk);
  }
  return { status: response.status, body: Buffer.concat(chunks).toString('utf8') };
};
