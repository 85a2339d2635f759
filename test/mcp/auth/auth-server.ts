/** A small authorization server and the MCP server that it guards, on loopback. */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AuthServerOptions {
  /** Clients that were registered by hand; then no others are taken. */
  clients?: Record<string, { secret?: string; redirects: string[] }>;
  /** What the person at the browser says. */
  answer?: 'yes' | 'no';
  /** Seconds that an access token is said to last. */
  expiresIn?: number;
  /** Changes answers of the authorization server. */
  tamper?: (path: string, body: Record<string, unknown>) => Record<string, unknown> | string;
}

export async function startAuthServer(options: AuthServerOptions = {}) {
  const clients = new Map(Object.entries(options.clients ?? {}));
  const codes = new Map<string, { challenge: string; redirect: string; client: string; resource: string | null }>();
  let access = new Set<string>();
  let refresh = new Set<string>();
  const spent = new Set<string>();
  const seen: string[] = [];
  let base = '';

  const grant = () => {
    const [token, again] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    access.add(token);
    refresh.add(again);
    const { expiresIn = 3600 } = options;
    return { access_token: token, refresh_token: again, token_type: 'Bearer', expires_in: expiresIn, scope: 'read' };
  };

  const routes: Record<string, (request: Asked) => Answer> = {
    '/.well-known/oauth-protected-resource/mcp': () => ({
      body: { resource: `${base}/mcp`, authorization_servers: [base], scopes_supported: ['read'] },
    }),
    '/.well-known/oauth-authorization-server': () => ({
      body: {
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        ...(options.clients === undefined && { registration_endpoint: `${base}/register` }),
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none', 'client_secret_post'],
        authorization_response_iss_parameter_supported: true,
      },
    }),
    '/register': ({ json }) => {
      const id = `client-${clients.size + 1}`;
      clients.set(id, { redirects: json.redirect_uris as string[] });
      return { status: 201, body: { ...json, client_id: id } };
    },
    '/authorize': ({ query }) => {
      const redirect = query.get('redirect_uri') ?? '';
      const client = query.get('client_id') ?? '';
      if (!clients.get(client)?.redirects.includes(redirect)) return fault('invalid_redirect_uri');
      if (query.get('code_challenge_method') !== 'S256') return fault('no_proof_key');
      const back = new URL(redirect);
      back.searchParams.set('state', query.get('state') ?? '');
      back.searchParams.set('iss', base);
      if (options.answer === 'no') back.searchParams.set('error', 'access_denied');
      else {
        const code = randomUUID();
        const challenge = query.get('code_challenge') ?? '';
        codes.set(code, { challenge, redirect, client, resource: query.get('resource') });
        back.searchParams.set('code', code);
      }
      return { status: 302, headers: { location: back.href }, body: {} };
    },
    '/token': ({ form }) => {
      const client = form.get('client_id') ?? '';
      if (clients.get(client)?.secret !== (form.get('client_secret') ?? undefined)) return fault('invalid_client', 401);
      if (form.get('grant_type') === 'refresh_token') {
        const token = form.get('refresh_token') ?? '';
        if (spent.has(token)) [access, refresh] = [new Set(), new Set()];
        spent.add(token);
        return refresh.delete(token) ? { body: grant() } : fault('invalid_grant');
      }
      const code = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const proof = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const isRight = code?.challenge === proof && code.redirect === form.get('redirect_uri') && code.client === client;
      return isRight && code.resource === `${base}/mcp` ? { body: grant() } : fault('invalid_grant');
    },
    '/mcp': ({ method, bearer, json }) => {
      if (!access.has(bearer)) {
        const metadata = `${base}/.well-known/oauth-protected-resource/mcp`;
        const challenge = `Bearer resource_metadata="${metadata}", scope="read"`;
        return { status: 401, headers: { 'www-authenticate': challenge }, body: {} };
      }
      if (method !== 'POST') return { status: 405, body: {} };
      if (json.id === undefined) return { status: 202, body: undefined };
      const serverInfo = { name: 'guarded', version: '1' };
      const greeting = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo };
      const result = json.method === 'initialize' ? greeting : { tools: [] };
      return { body: { jsonrpc: '2.0', id: json.id, result } };
    },
  };

  const server = createServer((request, response) => {
    void read(request).then((asked) => {
      const { path, method, form } = asked;
      seen.push(`${method} ${path}${form.has('grant_type') ? ` ${form.get('grant_type')}` : ''}`);
      const answer = Object.hasOwn(routes, path) ? routes[path]?.(asked) : undefined;
      const { body } = answer ?? {};
      const changed = options.tamper && body ? options.tamper(path, body) : body;
      send(response, answer ?? { status: 404, body: {} }, changed);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url: `${base}/mcp`,
    base,
    /** What was asked, in order. */
    seen,
    clients,
    /** Access tokens are worth nothing any more. */
    expire: () => access.clear(),
    /** Neither are refresh tokens. */
    revoke: () => [access, refresh].forEach((tokens) => tokens.clear()),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Asked {
  path: string;
  method: string;
  query: URLSearchParams;
  form: URLSearchParams;
  json: Record<string, unknown>;
  bearer: string;
}

interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body: Record<string, unknown> | undefined;
}

const fault = (error: string, status = 400): Answer => ({ status, body: { error } });

async function read(request: IncomingMessage): Promise<Asked> {
  let text = '';
  for await (const part of request) text += String(part);
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
  const isJson = request.headers['content-type']?.includes('json') === true;
  return {
    path: pathname,
    method: request.method ?? '',
    query: searchParams,
    form: new URLSearchParams(isJson ? '' : text),
    json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
    bearer: /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '',
  };
}

function send(response: ServerResponse, { status = 200, headers = {} }: Answer, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body));
}

/** A person who says yes: their browser follows every redirect. */
export const browse = async (page: URL): Promise<string> => (await fetch(page)).text();
