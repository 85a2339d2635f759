// Writes docs/errors.md from ERROR_CODES and the notes below; a test fails while it is stale.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * When each code happens, and what helps. The meaning is the text in ERROR_CODES.
 * @type {Record<string, { when: string, help: string }>}
 */
export const ERROR_NOTES = {
  aborted: {
    when: 'The `abortController` of the call fired. It is thrown as `AbortError`, also while the run is starting.',
    help: 'Nothing, if it was intended. The session can be resumed: what was finished is in its log.',
  },
  budget_exceeded: {
    when: 'A call of a model beside the conversation (a page that WebFetch asks about, a search) would pass `maxBudgetUsd`.',
    help: 'Raise the budget. WebFetch then gives the page itself; the turn ends when the budget is spent.',
  },
  budget_unpriced: {
    when: '`maxBudgetUsd` (`--max-budget-usd`) is set and the price table has no line for the model.',
    help: 'Choose a model with a known price, or drop the budget and set `maxTurns` instead.',
  },
  channel_closed: {
    when: 'The other end of a Channel closed while something waited for it, a WebSocket was lost and could not be opened again within 30 s, or a session was used after its close.',
    help: 'Look at the message and `cause`. Then open a new channel and resume the session: its log is whole.',
  },
  checkpoint_not_found: {
    when: '`rewindFiles()` was given a uuid that is no prompt of this session, or one of a turn that ran without `enableFileCheckpointing`.',
    help: 'Give the uuid of a user message of this session. [Checkpoints](checkpoints.md) says what is kept, and for how long.',
  },
  frame_too_large: {
    when: 'One line of the NDJSON stream passed the size cap of the reader.',
    help: 'Raise the cap of the carrier, or send less in one message: large files belong on disk, not in a prompt.',
  },
  invalid_answer: {
    when: 'A callback such as `canUseTool`, or another host answer, returned a value of the wrong shape.',
    help: 'Fix the callback; the message names the field. The call it was about is denied, and the query ends with this error.',
  },
  invalid_config: {
    when: 'An option of `query()` or a flag of the CLI is unknown, has a value that cannot be used, or contradicts another one; a part that works only in-process was given with another carrier; a server refused the token, Host or Origin of a WebSocket.',
    help: 'Correct the option that the message names. `heddle --help` lists the flags. A server says in `status` of `data` how it refused.',
  },
  invalid_frame: {
    when: 'What arrived on a Channel was no JSON, or no frame of the protocol; or what was to be sent is no plain data.',
    help: 'Check that the other side speaks this protocol, and that nothing else prints to its standard output.',
  },
  invalid_settings: {
    when: 'A settings file (or `--settings`) is cut off, is no JSON object, cannot be read, or says something about permissions, hooks or the sandbox that cannot be meant; or one that is to be changed is broken or is being changed by another process.',
    help: 'Correct the file at the line that the message names; `problems` of `data` has all of them. A session never starts without the rules of a broken file. [Settings](settings.md) describes every file.',
  },
  internal: {
    when: 'Something was thrown that Heddle did not foresee.',
    help: 'Report it with the stack and `cause`. The log of the session stays valid.',
  },
  model_auth: {
    when: 'The model API answered 401 or 403.',
    help: 'Check `ANTHROPIC_API_KEY` or `ANTHROPIC_AUTH_TOKEN`, and that `ANTHROPIC_BASE_URL` belongs to it.',
  },
  model_bad_request: {
    when: 'The model API answered 400 for a reason other than length.',
    help: 'Read the message of the API in the error. A custom base URL may not support a feature that was used. The turn leaves the context, so the next prompt is not refused for the same reason.',
  },
  model_connection: {
    when: 'The name did not resolve, the connection was refused or reset, or TLS failed.',
    help: 'Check network, proxy variables and `ANTHROPIC_BASE_URL`. It is tried again by itself before it is reported.',
  },
  model_not_found: {
    when: 'The model API answered 404 for the model.',
    help: 'Check the spelling of `model`, and that the key may use it.',
  },
  model_overloaded: {
    when: 'The model API answered 529, or said so inside the stream.',
    help: 'Wait, or set `fallbackModel`. It is tried again by itself before it is reported.',
  },
  model_prompt_too_long: {
    when: 'The conversation with its tool results no longer fits the context window.',
    help: 'Start a new session, or choose a model with a larger window. The turn that did not fit leaves the context; a shorter prompt may still work.',
  },
  model_rate_limited: {
    when: 'The model API answered 429.',
    help: 'Wait as long as the message says, or run fewer sessions at once. Short waits are made by themselves.',
  },
  model_request_too_large: {
    when: 'The model API answered 413: the request has too many bytes, most often because of images or documents.',
    help: 'Send fewer or smaller attachments. The turn leaves the context, so the session stays usable.',
  },
  model_server: {
    when: 'The model API answered with another 5xx status.',
    help: 'Try later. It is tried again by itself before it is reported.',
  },
  model_stalled: {
    when: 'A model stream was open and silent past its limit.',
    help: 'Check for a proxy that buffers streams. It is tried again by itself before it is reported.',
  },
  model_stream: {
    when: 'The stream ended before its last event, or held events that contradict each other.',
    help: 'Check for a proxy or a compatible API that alters streams. The attempt is discarded and tried again.',
  },
  no_provider: {
    when: 'A run was started without a key, a token or a provider, and without choosing the embedded model.',
    help: 'Set `ANTHROPIC_API_KEY`, pass `options.heddle.provider`, or choose the model `embedded`.',
  },
  not_supported: {
    when: 'An option or a method was used where it cannot work, or that this version does not have yet. The engine refuses such a session before it does anything.',
    help: 'Read the message: it names what was asked. Leave it out if you can do without; [the migration guide](migration.md) lists what is not there yet.',
  },
  process_failed: {
    when: 'The engine in a child process, or another program that Heddle needs, could not be started, ended before it answered, or ended with a failure.',
    help: 'Look at `exitCode`, `signal` and the tail of `stderr` in `data`. For a missing engine set `pathToClaudeCodeExecutable`.',
  },
  replay_miss: {
    when: 'In a test, a request differs from its recording, is not in the cassette, or recordings were not asked for.',
    help: "Read where the two differ. Record again if the change is meant; hide what differs by nature with `mask`; use `match: 'any'` if only the order changed.",
  },
  request_failed: {
    when: 'The other side answered a control request with an error that has no code known here, or an MCP server answered with one.',
    help: 'Read the message: it holds the words of the other side. An `error_code` in `data` is its own code.',
  },
  ripgrep_missing: {
    when: 'Grep or Glob ran, and neither the package nor PATH has a ripgrep for this platform.',
    help: 'Install ripgrep, or install again with optional dependencies.',
  },
  sandbox_unavailable: {
    when: 'The settings enable the sandbox and it cannot run commands: bubblewrap or socat is missing, the system forbids namespaces, it is not Linux, or something in a working directory cannot be protected.',
    help: 'Install what the message names, or mend what it says. Commands never run outside a sandbox that was asked for. [The sandbox](sandbox.md) says what it needs.',
  },
  script_exhausted: {
    when: 'In a test, the scripted model was called more often than its script has answers, or less often.',
    help: 'Correct the script, or the loop that it tests.',
  },
  session_exists: {
    when: '`sessionId` names a session that has a log already.',
    help: 'Use `resume` to go on with it, or choose another id.',
  },
  session_not_found: {
    when: '`resume` names a session that the store does not have.',
    help: 'Check the id and the config folder (`HEDDLE_CONFIG_DIR`). A new conversation is never started in its place. `continue` in a folder without one does start a new one.',
  },
  session_locked: {
    when: 'Kept for stores that lock. The file store does not lock yet, so this version never throws it by itself.',
    help: 'Wait for the other process, or end it. Do not write to one session from two processes.',
  },
  session_unreadable: {
    when: 'The log exists and cannot be read: no permission, a format of a later version, or no conversation in it.',
    help: 'Check the file that the message names. Heddle never rewrites or deletes a log.',
  },
  store_failed: {
    when: 'The store of sessions threw, or did not answer within a minute: while a session was opened, listed or deleted. A write that fails does not throw; the session goes on and says `session_writes_lost` once.',
    help: 'The message says which operation and what is safe. Look at `cause`, mend the store, and resume: what was written before is there.',
  },
  unsupported_request: {
    when: 'A control request arrived whose subtype this side does not answer.',
    help: 'Nothing is broken: the sender gets this error and may do without. Check the versions of both sides.',
  },
};

/**
 * @param {Readonly<Record<string, string>>} codes what each code means
 * @returns {string} the whole page
 */
export function renderErrors(codes) {
  const sections = Object.keys(codes)
    .toSorted()
    .map((code) => {
      const note = ERROR_NOTES[code];
      if (note === undefined) throw new Error(`ERROR_NOTES in scripts/generate-errors.js has no note on ${code}`);
      return `## ${code}\n\n${codes[code]}\n\n- **When:** ${note.when}\n- **What to do:** ${note.help}\n`;
    });
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

const INTRODUCTION = `# Errors

<!-- Generated by scripts/generate-errors.js from src/protocol/error.ts. Do not edit. -->

Whatever Heddle throws is a \`HeddleError\`: \`code\` is one of the words below, \`message\` says what failed and where,
\`hint\` what to do, \`retryable\` whether the same thing may work if tried again, \`cause\` what was thrown beneath, and
\`data\` holds the facts of the case. The list is closed: a new code is a change of the protocol.

Failures inside a run are not thrown. A failed tool call is an error result that the model sees; a failed model call
ends the turn with a \`result\` message whose \`is_error\` is true and which has the code in \`error_code\`. Thrown is what the
program itself must mend: an option, a session that cannot be opened, a callback's wrong answer, a lost carrier, an abort.
`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { ERROR_CODES } = await import('../dist/protocol/index.js');
  writeFileSync(new URL('../docs/errors.md', import.meta.url), renderErrors(ERROR_CODES));
}
