/** What a person reads when the model call has failed for good. Pure. */
import type { HeddleError } from '../../protocol/plain.js';
import type { AssistantError } from '../../protocol/index.js';
import type { ModelErrorData } from './api-error.js';

export interface ModelErrorExplanation {
  /** The text of the synthetic assistant message and of the result. */
  text: string;
  /** The value of `assistant.error`. */
  assistantError: AssistantError;
  terminalReason: 'api_error' | 'prompt_too_long';
  apiErrorStatus?: number;
}

const TEMPORARY = 'This is a failure on the server side and usually temporary: try again in a moment.';

export function explainModelError(error: HeddleError, { model }: { model: string }): ModelErrorExplanation {
  const data = error.data as ModelErrorData;
  const apiErrorStatus = data.status;
  const said = data.message ?? error.message;
  const explain = (text: string, assistantError: AssistantError): ModelErrorExplanation => ({
    text,
    assistantError,
    terminalReason: error.code === 'model_prompt_too_long' ? 'prompt_too_long' : 'api_error',
    apiErrorStatus,
  });

  if (data.type === 'billing_error' || apiErrorStatus === 402 || /credit balance is too low/i.test(said)) {
    return explain(`The account of this key cannot pay for the request · ${said}`, 'billing_error');
  }
  switch (error.code) {
    case 'model_bad_request':
      return explain(`API Error: ${apiErrorStatus ?? 400} ${said}`, 'unknown');
    case 'model_prompt_too_long':
      return explain(
        'Prompt is too long · Send less at once, or compact the conversation with /compact. Calls that this turn has made stay made, and known; the rest of the turn is left out of the conversation.',
        'invalid_request',
      );
    case 'model_request_too_large':
      return explain('Request too large · Send fewer or smaller files and images at once.', 'invalid_request');
    case 'model_auth':
      return explain(explainAuth(said, apiErrorStatus), 'authentication_failed');
    case 'model_not_found':
      return explain(
        `There is an issue with the selected model (${model}). It may not exist, or this key may not use it. Choose another with --model.`,
        'model_not_found',
      );
    case 'model_rate_limited':
      return explain(`API Error: Request rejected (429) · ${said}`, 'rate_limit');
    case 'model_overloaded':
      return explain(`API Error: 529 Overloaded. ${TEMPORARY}${gateway(data)}`, 'server_error');
    case 'model_server':
      return explain(
        `API Error: ${apiErrorStatus ?? 500} ${sentence(said)} ${TEMPORARY}${gateway(data)}`,
        'server_error',
      );
    case 'model_connection':
      return explain(`API Error: ${error.message} ${error.hint}`, 'server_error');
    case 'model_stream':
    case 'model_stalled':
      return explain(`API Error: ${error.message} ${TEMPORARY}${gateway(data)}`, 'server_error');
    default:
      return explain(`${error.message} ${error.hint}`, 'unknown');
  }
}

function explainAuth(said: string, status: number | undefined): string {
  if (status === 401) return 'Invalid API key · Check ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or apiKeyHelper.';
  if (status === undefined) return `Failed to authenticate. ${said}`;
  return `Failed to authenticate. API Error: ${status} ${said}`;
}

const gateway = ({ endpoint }: ModelErrorData): string =>
  endpoint === undefined ? '' : ` If it stays, look at ${endpoint}.`;

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);
