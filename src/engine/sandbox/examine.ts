/** Whether commands could run in a sandbox on this machine, for whoever wants to know before a session does. */

export interface SandboxExamination {
  /** bubblewrap, where it was found. */
  program?: string;
  /** socat, which rules for the network need. */
  socat?: string;
  /** Undefined when it works. */
  problem?: { text: string; todo: string };
}

/** Never throws. What it takes is loaded with the first call. */
export async function examineSandbox(env: Readonly<Record<string, string>>): Promise<SandboxExamination> {
  if (process.platform !== 'linux') {
    const text = `the sandbox does not work on ${process.platform}`;
    return { problem: { text, todo: 'Commands cannot run in a sandbox here: it needs Linux.' } };
  }
  const { findProgram, tryProgram } = await import('./bubblewrap.js');
  const search = { path: env.PATH ?? '', writable: [] };
  const [program, socat] = await Promise.all([findProgram('bwrap', search), findProgram('socat', search)]);
  const found = { ...(program !== undefined && { program }), ...(socat !== undefined && { socat }) };
  if (program === undefined) {
    const todo = 'Install bubblewrap, and socat for rules about the network, if commands are to run in a sandbox.';
    return { ...found, problem: { text: 'bwrap was not found', todo } };
  }
  const failure = await tryProgram(program, env);
  if (failure === undefined) return found;
  return { ...found, problem: { text: `bwrap does not work: ${failure.text}`, todo: failure.todo } };
}
