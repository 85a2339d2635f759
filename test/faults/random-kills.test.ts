import { expect, it } from 'vitest';
import { runKilledAgents } from '../soak/killed-agents.js';

it('F1, C6, B3: 20 random kills of an agent that writes files lose nothing and repeat nothing', async () => {
  expect(await runKilledAgents(20, 20_260_302)).toEqual([]);
});
