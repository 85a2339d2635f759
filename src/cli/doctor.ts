/** `heddle doctor`: what the program needs, whether it is there, and what to do when it is not. */
import { HeddleError } from '../protocol/plain.js';
import { CHECKS } from './doctor-checks.js';
import type { Finding, Patient } from './doctor-finding.js';
import { paintFor } from './paint.js';
import { toVisible } from './visible.js';

export interface DoctorParts extends Patient {
  colour: boolean;
  write: (text: string) => void;
}

/** The exit code: 1 when something that is needed is missing. */
export async function runDoctor(argv: readonly string[], { colour, write, ...patient }: DoctorParts): Promise<number> {
  const unknown = argv.find((word) => word !== '--json');
  if (unknown !== undefined) throw new HeddleError('invalid_config', `error: unknown option '${unknown}'`);
  const findings = await Promise.all(CHECKS.map((check) => examine(check, patient)));
  const isFine = findings.every((finding) => finding.status !== 'fail');
  const summary = summarize(findings);
  if (argv.includes('--json')) write(`${JSON.stringify({ ok: isFine, summary, checks: findings }, null, 2)}\n`);
  else write(`${findings.map((finding) => describe(finding, colour)).join('')}\n${summary}\n`);
  return isFine ? 0 : 1;
}

function summarize(findings: readonly Finding[]): string {
  const count = (status: Finding['status']): number => findings.filter((finding) => finding.status === status).length;
  const hasKey = findings.some(({ name, status }) => name === 'key' && status === 'ok');
  const keys = hasKey ? '' : ' No model can be used until a key is set, except the embedded one.';
  if (count('fail') > 0) return `Not ready: ${count('fail')} of ${findings.length} checks failed.${keys}`;
  if (!hasKey) return `Not ready.${keys}`;
  return count('warn') > 0 ? `Ready, with ${count('warn')} of ${findings.length} checks in doubt.` : 'Ready.';
}

async function examine(check: (typeof CHECKS)[number], patient: Patient): Promise<Finding> {
  try {
    return { name: check.name, ...(await check.run(patient)) };
  } catch (error) {
    const text = `could not be checked: ${error instanceof Error ? error.message : String(error)}`;
    return { name: check.name, status: 'warn', text };
  }
}

function describe({ name, status, text, todo }: Finding, colour: boolean): string {
  const paint = paintFor({ colour });
  const mark = { ok: paint.green('ok  '), warn: paint.yellow('warn'), fail: paint.red('fail') }[status];
  const advice = todo === undefined ? '' : `      ${paint.dim(toVisible(todo))}\n`;
  return `${mark}  ${name.padEnd(12)} ${toVisible(text)}\n${advice}`;
}
