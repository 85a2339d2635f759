/** `heddle mcp test`: starts or reaches servers as a session does, and says what they offer. */
import type { ResolvedServer } from '../engine/index.js';
import { systemClock, toHeddleError } from '../protocol/plain.js';
import { readNumber } from './mcp-add.js';
import {
  type CommandInput,
  findUsable,
  type Loaded,
  loadServers,
  type McpParts,
  tellProblems,
  textOf,
} from './mcp-parts.js';
import { toVisible, toVisibleJson, toVisibleLine } from './visible.js';

interface TestResult {
  name: string;
  ok: boolean;
  status: 'connected' | 'failed' | 'needs-auth';
  ms: number;
  server?: string;
  protocol?: string;
  tools?: string[];
  /** Tools that a session would not have, and why. */
  leftOut?: string[];
  prompts?: string[];
  resources?: number;
  error?: string;
}

const TIMEOUT_MS = 30_000;

export async function test({ words, values }: CommandInput, parts: McpParts): Promise<number> {
  const timeoutMs = readNumber(textOf(values, 'timeout'), '--timeout') ?? TIMEOUT_MS;
  const loaded = await loadServers(parts);
  const usable = [...loaded.servers].filter(([, { blocked }]) => blocked === undefined);
  const wanted = words.length === 0 ? usable : words.map((name) => [name, findUsable(loaded, name)] as const);
  const results = await Promise.all(
    wanted.map(([name, server]) => testOne({ name, server, loaded, parts, timeoutMs })),
  );
  if (values.json === true) parts.stdout.write(`${toVisibleJson(results)}\n`);
  else if (results.length === 0) parts.stdout.write('There is no server that may run.\n');
  else for (const result of results) parts.stdout.write(describe(result));
  if (words.length === 0) await tellProblems(loaded, parts);
  return results.every(({ ok }) => ok) ? 0 : 1;
}

interface OneTest {
  name: string;
  server: ResolvedServer;
  loaded: Loaded;
  parts: McpParts;
  timeoutMs: number;
}

async function testOne({ name, server, loaded, parts, timeoutMs }: OneTest): Promise<TestResult> {
  const {
    childEnvironment,
    connectRemote,
    createAuthStore,
    createLocalWorkspace,
    describeOffer,
    hasAddress,
    sessionAuthFor,
  } = await import('../engine/index.js');
  const { env, projectRoot, settings } = loaded;
  const { config } = server;
  const clock = systemClock;
  const logger = () => {};
  const workspace = createLocalWorkspace({ clock, logger, env });
  const childEnv = childEnvironment(
    { env },
    { untrusted: !settings.trusted, configured: Object.keys(settings.value.env ?? {}) },
  );
  const startedAt = clock.monotonic();
  const abort = new AbortController();
  const cancel = clock.after(timeoutMs, () => abort.abort());
  const auth = sessionAuthFor(config, { store: createAuthStore({ configDir: parts.configDir }), env });
  const took = () => Math.round(clock.monotonic() - startedAt);
  try {
    const link = await connectRemote(name, config, {
      clock,
      logger,
      workspace,
      env: hasAddress(config) ? env : childEnv,
      cwd: projectRoot,
      requests: {},
      signal: abort.signal,
      auth,
    });
    const { serverInfo, protocolVersion, resources } = link;
    const { tools, prompts, leftOut } = describeOffer(name, link);
    const result: TestResult = {
      name,
      ok: true,
      status: 'connected',
      ms: took(),
      ...(serverInfo && { server: `${serverInfo.name} ${serverInfo.version}` }),
      ...(protocolVersion !== undefined && { protocol: protocolVersion }),
      tools,
      ...(leftOut.length > 0 && { leftOut }),
      prompts,
      resources: resources.length,
    };
    await link.close();
    return result;
  } catch (thrown) {
    const { message, data } = toHeddleError(thrown);
    const needsAuth = data?.needsAuth === true;
    const late = abort.signal.aborted ? `It did not answer within ${timeoutMs} ms.` : message;
    return { name, ok: false, status: needsAuth ? 'needs-auth' : 'failed', ms: took(), error: late };
  } finally {
    cancel();
    await workspace.close();
  }
}

function describe({
  name,
  ok,
  status,
  ms,
  server,
  protocol,
  tools = [],
  leftOut = [],
  prompts = [],
  resources = 0,
  error,
}: TestResult) {
  const title = `${toVisibleLine(name)}: ${status} (${ms} ms)`;
  if (!ok) return `${title}\n  ${toVisible(error ?? '').replaceAll('\n', '\n  ')}\n`;
  const lines = [
    toVisibleLine(`${server ?? 'a server without a name'}, protocol ${protocol ?? 'unknown'}`),
    toVisibleLine(`${tools.length} tools${tools.length > 0 ? `: ${tools.join(', ')}` : ''}`),
    ...leftOut.map((fault) => toVisibleLine(`left out: ${fault}`)),
    ...(prompts.length > 0 ? [toVisibleLine(`${prompts.length} prompts: ${prompts.join(', ')}`)] : []),
    ...(resources > 0 ? [`${resources} resources`] : []),
  ];
  return `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}
