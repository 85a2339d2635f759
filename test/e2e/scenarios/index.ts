import type { Scenario } from '../scenario.js';
import { ANSWERS } from './answers.js';
import { OUTCOMES } from './outcomes.js';
import { PERMISSIONS } from './permissions.js';
import { STEERING } from './steering.js';

export const SCENARIOS: readonly Scenario[] = [...ANSWERS, ...PERMISSIONS, ...STEERING, ...OUTCOMES].toSorted((a, b) =>
  a.number.localeCompare(b.number),
);
