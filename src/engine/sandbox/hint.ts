/** What the model is told when a command fails in a way that may be the sandbox's doing: pure. */

export interface SandboxFacts {
  /** Folders that may be written. */
  writable: readonly string[];
  /** As settings write them. */
  hidden: readonly string[];
  /** Undefined: no network at all. */
  domains?: readonly string[];
  /** A command may be run outside if a person agrees. */
  mayLeave: boolean;
}

const WRITING = /read-only file system|\bEROFS\b|device or resource busy|\bEBUSY\b/i;
const NETWORK =
  /network is unreachable|could not resolve|name resolution|\bENETUNREACH\b|\bENOTFOUND\b|\bEAI_AGAIN\b|no route to host|unable to resolve/i;
const PROXY = /\b403\b.*(?:proxy|CONNECT|tunnel)|(?:proxy|CONNECT|tunnel).*\b403\b|blocked by the sandbox/i;
const PRIVILEGE = /no new privileges/i;
const READING = /permission denied|\bEACCES\b/i;

/** Undefined when nothing suggests that the sandbox is why. */
export function toHint(facts: SandboxFacts, output: string, exitCode: number): string | undefined {
  if (exitCode === 0) return undefined;
  const reason = findReason(facts, output);
  if (reason === undefined) return undefined;
  const way = facts.mayLeave
    ? 'If it must be done, call Bash with dangerouslyDisableSandbox: true; a person is asked.'
    : 'Commands cannot leave the sandbox.';
  return `Sandbox: ${reason} ${way}`;
}

function findReason(facts: SandboxFacts, output: string): string | undefined {
  if (/^bwrap: /m.test(output)) return 'It could not be set up for this command, which did not run.';
  const suspect = findSuspect(facts, output);
  return suspect === undefined ? undefined : `${suspect} This may be why the command failed.`;
}

function findSuspect(facts: SandboxFacts, output: string): string | undefined {
  if (WRITING.test(output)) return describeWriting(facts);
  if (PROXY.test(output) || NETWORK.test(output)) return describeNetwork(facts);
  if (PRIVILEGE.test(output)) return 'Commands cannot gain privileges (sudo).';
  return READING.test(output) && facts.hidden.length > 0 ? describeHidden(facts) : undefined;
}

const describeWriting = ({ writable }: SandboxFacts): string =>
  `Commands may write only in ${writable.join(', ')} and $TMPDIR (/tmp is their own), ` +
  'and there not to settings, hooks and the configuration of git.';

const describeHidden = ({ hidden }: SandboxFacts): string => `Commands cannot read ${hidden.join(', ')}.`;

const describeNetwork = ({ domains }: SandboxFacts): string =>
  domains === undefined
    ? 'Commands have no network, but for servers that they start themselves.'
    : `Commands reach only ${domains.join(', ')}, through the proxy that HTTP_PROXY and HTTPS_PROXY name.`;

/** One paragraph for the model and for people. */
export function describeSandbox(facts: SandboxFacts): string {
  const hidden = facts.hidden.length === 0 ? [] : [describeHidden(facts)];
  const ending = 'What a command starts ends with it.';
  return ['Bash runs commands in a sandbox.', describeWriting(facts), ...hidden, describeNetwork(facts), ending].join(
    ' ',
  );
}
