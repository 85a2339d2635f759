/** What the model is told of the sandbox, and when a command fails in a way that may be its doing: pure. */

export interface SandboxFacts {
  /** What commands may write beside the working directories; as settings write it. */
  allowed: readonly string[];
  /** As settings write them. */
  hidden: readonly string[];
  /** Undefined: no network at all. */
  domains?: readonly string[];
  /** Commands that run outside; as settings write them. */
  excluded: readonly string[];
  /** A command may be run outside if a person agrees. */
  mayLeave: boolean;
}

/** A command that ran in the sandbox and failed. */
export interface Failure {
  output: string;
  /** What of it came before the command itself began. */
  stray?: string;
  exitCode: number;
  /** All folders that it could write. */
  writable: readonly string[];
}

const WRITING = /read-only file system|\bEROFS\b|device or resource busy|\bEBUSY\b/i;
const NETWORK =
  /network is unreachable|could not resolve|name resolution|\bENETUNREACH\b|\bENOTFOUND\b|\bEAI_AGAIN\b|no route to host|unable to resolve/i;
const PROXY = /\b403\b.*(?:proxy|CONNECT|tunnel)|(?:proxy|CONNECT|tunnel).*\b403\b|blocked by the sandbox/i;
const PRIVILEGE = /no new privileges/i;
const READING = /permission denied|\bEACCES\b/i;

/** Undefined when nothing suggests that the sandbox is why. */
export function toHint(facts: SandboxFacts, failure: Failure): string | undefined {
  if (failure.exitCode === 0) return undefined;
  const reason = findReason(facts, failure);
  if (reason === undefined) return undefined;
  const way = facts.mayLeave
    ? 'If it must be done, call Bash with dangerouslyDisableSandbox: true; a person is asked.'
    : 'Commands cannot leave the sandbox.';
  return `Sandbox: ${reason} ${way}`;
}

function findReason(facts: SandboxFacts, failure: Failure): string | undefined {
  if (/^bwrap: /m.test(failure.stray ?? '')) return 'It could not be set up for this command, which did not run.';
  const suspect = findSuspect(facts, failure);
  return suspect === undefined ? undefined : `${suspect} This may be why the command failed.`;
}

function findSuspect(facts: SandboxFacts, { output, writable }: Failure): string | undefined {
  if (WRITING.test(output)) return describeWriting(writable.join(', '));
  if (PROXY.test(output) || NETWORK.test(output)) return describeNetwork(facts);
  if (PRIVILEGE.test(output)) return 'Commands cannot gain privileges (sudo).';
  return READING.test(output) && facts.hidden.length > 0 ? describeHidden(facts) : undefined;
}

const describeWriting = (places: string): string =>
  `Commands may write only in ${places} and $TMPDIR (/tmp is their own), ` +
  'and there not to settings, hooks and the configuration of git.';

/** A project that nobody trusts may hide places, too: what could be a sentence of its own is counted, not shown. */
const describeHidden = ({ hidden }: SandboxFacts): string =>
  `Commands cannot read ${showList(hidden, (entry) => PLAIN_PATH.test(entry))}.`;

const describeNetwork = ({ domains }: SandboxFacts): string =>
  domains === undefined
    ? 'Commands have no network, but for servers that they start themselves.'
    : `Commands reach only ${showList(domains)}, through the proxy that HTTP_PROXY and HTTPS_PROXY name.`;

/**
 * A paragraph for the model. It stays the same while a session lives and names no folder of the project, so that the prompt
 * cache holds.
 */
export function describeSandbox(facts: SandboxFacts): string {
  const { allowed, hidden, excluded, mayLeave } = facts;
  return [
    'Commands run in a sandbox.',
    describeWriting(allowed.length === 0 ? 'the working directories' : `the working directories, ${showList(allowed)}`),
    ...(hidden.length === 0 ? [] : [describeHidden(facts)]),
    describeNetwork(facts),
    'What a command starts ends with it.',
    ...(excluded.length === 0 ? [] : [`Outside, when nothing else is on the line, run: ${showList(excluded)}.`]),
    ...(mayLeave ? [] : ['No other command can leave it.']),
  ].join(' ');
}

const MAX_SHOWN = 8;
/** A path without spaces. */
const PLAIN_PATH = /^[\w@%+=:,.~/*?[\]-]{1,80}$/;

function showList(entries: readonly string[], isShown: (entry: string) => boolean = () => true): string {
  const shown = entries.filter(isShown).slice(0, MAX_SHOWN);
  const others = entries.length - shown.length;
  if (others === 0) return shown.join(', ');
  return shown.length === 0 ? 'what settings hide' : `${shown.join(', ')} and ${others} more`;
}
