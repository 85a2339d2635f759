/** How a query ends when it does not simply end well; sessions that go on, and sessions that are not there. */
import type { Scenario } from '../scenario.js';
import { say } from '../stage.js';
import { bash } from './answers.js';

const UNKNOWN = '99999999-9999-4999-8999-999999999999';
const TAKEN = '11111111-1111-4111-8111-111111111111';
const AT_ONCE = { 'retry-after': '0' };

export const OUTCOMES: Scenario[] = [
  {
    number: '10',
    name: 'limits: turns and budget',
    script: () => [bash('echo one'), { ...bash('echo two'), usage: { output_tokens: 50_000 } }],
    async drive(stage) {
      await stage.run('Go', { maxTurns: 1 });
      await stage.run('Go', { maxBudgetUsd: 0.5 });
    },
    expected: `
      system/init
      assistant Bash({"command":"echo one"})
      user ok toolu_1 "one"
      result error_max_turns (error) turns=2

      system/init
      assistant Bash({"command":"echo two"})
      user error toolu_2 "This call was not run: the turn ended before its turn came."
      result error_max_budget_usd (error) turns=1`,
  },
  {
    number: '11',
    name: 'the API refuses a request, then a key; the session stays usable (G10)',
    script: () => [
      { status: 400, message: 'messages: bad thing' },
      { status: 401, message: 'invalid x-api-key' },
      'Back.',
    ],
    async drive(stage) {
      const prompt = (async function* () {
        for (const text of ['1', '2', '3']) yield say(text);
      })();
      const messages = await stage.run(prompt);
      for (const message of messages) {
        if (message.type === 'result' && message.subtype === 'success') stage.note(message.result);
      }
    },
    expected: `
      system/init
      assistant "API Error: 400 messages: bad thing"
      result success (error: model_bad_request) turns=1
      system/init
      assistant "Invalid API key · Check ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or apiKeyHelper."
      result success (error: model_auth) turns=1
      system/init
      assistant "Back."
      result success turns=1

      * API Error: 400 messages: bad thing
      * Invalid API key · Check ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or apiKeyHelper.
      * Back.`,
  },
  {
    number: '12',
    name: 'the API is overloaded twice, then answers (G4)',
    script: () => [{ status: 529, headers: AT_ONCE }, { status: 500, headers: AT_ONCE }, 'At last.'],
    prompt: 'Go',
    expected: `
      system/init
      system/api_retry
      system/api_retry
      assistant "At last."
      result success turns=1`,
  },
  {
    number: '15',
    name: 'a session is resumed by its id and continued by its folder',
    script: () => ['One.', 'Two.', 'Three.'],
    async drive(stage) {
      const [first] = await stage.run('1');
      const resume = first && 'session_id' in first ? first.session_id : '';
      const [second] = await stage.run('2', { resume: String(resume) });
      const [third] = await stage.run('3', { continue: true });
      for (const again of [second, third]) {
        stage.note(`the same session: ${again !== undefined && 'session_id' in again && again.session_id === resume}`);
      }
      stage.note(`messages sent: ${stage.api.requests.map(({ body }) => body.messages.length).join(', ')}`);
    },
    expected: `
      system/init
      assistant "One."
      result success turns=1

      system/init
      assistant "Two."
      result success turns=1

      system/init
      assistant "Three."
      result success turns=1

      * the same session: true
      * the same session: true
      * messages sent: 1, 3, 5`,
  },
  {
    number: '16',
    name: 'a session that does not exist (F3)',
    script: () => [],
    options: { resume: UNKNOWN },
    prompt: 'Go on',
    expected: `
      result error_during_execution (error: session_not_found) turns=0

      * the query threw session_not_found: No conversation found with session ID: <uuid>`,
  },
  {
    number: '18',
    name: 'options that the engine refuses (H1)',
    script: () => ['Mine.'],
    async drive(stage) {
      await stage.run('Go', { model: 'a-model-without-price', maxBudgetUsd: 1 });
      await stage.run('Go', { sessionId: TAKEN });
      await stage.run('Go', { sessionId: TAKEN });
    },
    expected: `
      result error_during_execution (error: budget_unpriced) turns=0

      system/init
      assistant "Mine."
      result success turns=1

      result error_during_execution (error: session_exists) turns=0

      * the query threw budget_unpriced: The price of a-model-without-price is not known, so a USD budget cannot be kept.
      * the query threw session_exists: Session ID <uuid> is already in use.`,
  },
];
