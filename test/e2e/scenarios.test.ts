/** One suite of scenarios over every carrier. A scenario looks the same from outside, however far the engine is. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../cli/run-cli.js';
import type { Recorded } from './record.js';
import { block, play, type Scenario } from './scenario.js';
import { SCENARIOS } from './scenarios/index.js';
import { CARRIERS } from './stage.js';

beforeAll(ensureBuilt, 120_000);

/** The engine in this process is what the others are compared with. */
const references = new Map<Scenario, Promise<Recorded>>();
function referenceOf(scenario: Scenario): Promise<Recorded> {
  const known = references.get(scenario) ?? play(scenario, 'memory');
  references.set(scenario, known);
  return known;
}

describe.each(SCENARIOS)('scenario $number: $name', (scenario) => {
  it.each(CARRIERS)('over %s', async (carrier) => {
    const [reference, recorded] = await Promise.all([
      referenceOf(scenario),
      carrier === 'memory' ? referenceOf(scenario) : play(scenario, carrier),
    ]);
    expect(recorded.outline).toBe(block(scenario.expected));
    expect(recorded.messages).toEqual(reference.messages);
    expect(recorded.requests).toEqual(reference.requests);
  });
});
