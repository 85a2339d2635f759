/** A question of a server, put to the person. */
import type { ParamsOf, ResultOf } from '../../protocol/index.js';
import { HeddleError } from '../../protocol/plain.js';
import type { SessionScope } from '../scope.js';
import type { ServerRequests } from './link.js';

type Request = Parameters<NonNullable<ServerRequests['elicit']>>[0] & { server: string };
type Answer = Awaited<ReturnType<NonNullable<ServerRequests['elicit']>>>;

/** Where nobody can be asked, or the answer is none, the person has declined. Throws for an answer that does not fit the form. */
export async function elicit(
  { forms, clock, logger }: SessionScope,
  { server, message, mode, schema, url, id }: Request,
  { signal }: { signal: AbortSignal },
): Promise<Answer> {
  // Nothing but the web is shown to a person as a page to visit.
  if (mode === 'url' && !/^https?:$/.test(URL.parse(url ?? '')?.protocol ?? '')) return { action: 'decline' };
  const params: ParamsOf<'elicitation'> = {
    mcp_server_name: server,
    message,
    mode,
    ...(schema && { requested_schema: schema }),
    ...(url !== undefined && { url }),
    ...(id !== undefined && { elicitation_id: id }),
  };
  const reply = await forms.ask({ id: clock.uuid(), ...params }, { signal });
  if (signal.aborted) return { action: 'cancel' };
  if (reply.kind === 'failed') logger('warn', `MCP server ${server} got no answer: ${reply.error.message}`);
  if (reply.kind !== 'answer') return { action: 'decline' };
  const answer = readAnswer(reply.value);
  if (answer.action !== 'accept') return answer;
  // A page that was visited has nothing to say here.
  if (mode === 'url') return { action: 'accept' };
  const content = pickFields(schema, answer.content);
  const problems = await findProblems(schema, content);
  if (problems.length === 0) return { action: 'accept', content };
  const text = `The answer does not fit the form, and was not sent: ${problems.join(' ')}`;
  logger('warn', `MCP server ${server}: ${text}`);
  throw new HeddleError('invalid_answer', text);
}

function readAnswer(value: unknown): Answer {
  const { action, content } = (value ?? {}) as Partial<ResultOf<'elicitation'>>;
  if (action === 'cancel') return { action };
  if (action !== 'accept') return { action: 'decline' };
  return { action, ...(typeof content === 'object' && content !== null && { content }) };
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Nothing goes out that the form does not ask for. */
function pickFields({ properties }: Fields = {}, content: Fields = {}): Fields {
  const known = isFields(properties) ? properties : {};
  return Object.fromEntries(Object.entries(content).filter(([name]) => Object.hasOwn(known, name)));
}

/** Forms are flat: each field is looked at by its own schema, and what has a default may be left out. */
async function findProblems({ properties, required }: Fields = {}, content: Fields): Promise<string[]> {
  const fields = isFields(properties) ? properties : {};
  const hasDefault = (name: unknown): boolean => {
    const field = typeof name === 'string' && Object.hasOwn(fields, name) ? fields[name] : undefined;
    return isFields(field) && field.default !== undefined;
  };
  const needed = Array.isArray(required)
    ? required.filter((name) => typeof name === 'string' && !hasDefault(name))
    : [];
  const { checkAgainst } = await import('../tools/json-schema.js');
  try {
    return await checkAgainst({ type: 'object', properties: fields, required: needed }, content);
  } catch (thrown) {
    return [`Its form cannot be used: ${thrown instanceof Error ? thrown.message : String(thrown)}`];
  }
}
