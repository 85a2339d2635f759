/** Whom `heddle doctor` examines, and what it finds. */
import type { Environment } from './environment.js';

export interface Patient {
  environment: Environment;
  cwd: string;
}

export interface Finding {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  text: string;
  /** What to do about it. */
  todo?: string;
}

export type Outcome = Omit<Finding, 'name'>;
