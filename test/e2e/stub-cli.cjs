#!/usr/bin/env node
// The least that an engine on stdio may be. STUB names how it behaves; STUB_LOG, if set, gets what it was started with.
const { appendFileSync } = require('node:fs');
const { createInterface } = require('node:readline');

const print = (frame) => process.stdout.write(`${JSON.stringify(frame)}\n`);
const log = (value) => process.env.STUB_LOG && appendFileSync(process.env.STUB_LOG, `${JSON.stringify(value)}\n`);

const answer = (id, response) =>
  print({ type: 'control_response', response: { subtype: 'success', request_id: id, response } });
const init = (fields = {}) => print({ type: 'system', subtype: 'init', session_id: 'stub', ...fields });
const result = (fields = {}) => print({ ...RESULT, ...fields });

const RESULT = {
  type: 'result',
  subtype: 'success',
  is_error: false,
  duration_ms: 1,
  duration_api_ms: 1,
  num_turns: 1,
  result: 'stub',
  session_id: 'stub',
  total_cost_usd: 0,
  usage: { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  modelUsage: {},
  permission_denials: [],
  uuid: '00000000-0000-4000-8000-000000000000',
};

const MODELS = [{ value: 'stub', displayName: 'Stub', description: 'Says stub.' }];

/** What is done with `initialize` and with each message; the rest is as `plain` has it. */
const BEHAVIOURS = {
  plain: {},
  'never answers initialize': { initialize: () => {} },
  'refuses initialize': {
    initialize: (id) =>
      print({ type: 'control_response', response: { subtype: 'error', request_id: id, error: 'not today' } }),
  },
  'answers initialize with nothing': { initialize: (id) => answer(id, {}) },
  'answers initialize without a body': { initialize: (id) => answer(id, undefined) },
  'gives only a result': { user: () => result() },
  'gives a bare result': { user: () => print({ type: 'result' }) },
  'gives a thin result': { user: () => print({ type: 'result', subtype: 'success', is_error: false, result: 'thin' }) },
  'prints a line that is no JSON': { user: () => process.stdout.write('Welcome!\n') },
  'exits with 3 after a result': { end: () => process.exit(3) },
  'exits with 1 after an error result': {
    user: () => result({ is_error: true, result: 'API Error: 500' }),
    end: () => process.exit(1),
  },
  'exits with 0 before its result': {
    user: () => {
      init();
      process.exit(0);
    },
  },
  'prints frames of later versions': {
    user: () => {
      print({ type: 'keep_alive' });
      print({ type: 'control_cancel_request', request_id: 'nobody' });
      print({ type: 'control_response', response: { subtype: 'success', request_id: 'nobody' } });
      init({ later: { field: [1] } });
      print({ type: 'from_the_future', text: 'hello' });
      print({ type: 'system', subtype: 'from_the_future' });
      result({ subtype: 'error_from_the_future' });
    },
  },
  'asks what nobody knows': {
    user: () => print({ type: 'control_request', request_id: 'odd', request: { subtype: 'from_the_future' } }),
    control_response: ({ response }) => result({ result: `${response.subtype}: ${response.error}` }),
  },
  'asks for permission': {
    user: () =>
      print({
        type: 'control_request',
        request_id: 'q',
        request: { subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'ls' }, tool_use_id: 't' },
      }),
    control_response: ({ response }) => result({ result: JSON.stringify(response) }),
  },
  'adds a turn of its own': {
    user: ({ message }) => {
      if (message.content === '2') return void setTimeout(() => result({ result: '2' }), 50);
      result({ result: '1' });
      result({ result: 'a task ended', origin: { kind: 'task-notification' } });
    },
    end: () => result({ result: 'the input has ended' }),
  },
};

const { initialize, user, control_response, end } = {
  initialize: (id) => answer(id, { commands: [], models: MODELS, account: {} }),
  user: () => {
    init();
    result();
  },
  control_response: () => {},
  end: () => process.exit(0),
  ...BEHAVIOURS[process.env.STUB],
};

log({ argv: process.argv.slice(2), env: process.env, cwd: process.cwd() });
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const frame = JSON.parse(line);
    log(frame);
    if (frame.type === 'user') user(frame);
    if (frame.type === 'control_response') control_response(frame);
    if (frame.type !== 'control_request') return;
    if (frame.request.subtype === 'initialize') initialize(frame.request_id);
    else answer(frame.request_id, {});
  })
  .on('close', end);
