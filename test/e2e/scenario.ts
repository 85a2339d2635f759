/** One row of the table of scenarios, and how it is played. */
import type { Options } from '../../src/sdk/index.js';
import type { FakeAnswer, ScriptStep } from '../../src/testing/index.js';
import { type Recorded, record } from './record.js';
import { type CarrierName, createStage, type Prompt, type Stage } from './stage.js';

export interface Scenario {
  number: string;
  name: string;
  /** What the model API answers, request by request. An answer may wait for what `drive` calls `release`. */
  script: (released: Promise<void>) => readonly ScriptStep<FakeAnswer>[];
  /** Files of the project. */
  files?: Readonly<Record<string, string>>;
  options?: Options;
  prompt?: Prompt;
  /** What is done in place of running `prompt` with `options` to the end. */
  drive?(stage: Stage, release: () => void): Promise<void>;
  /** The outline of what happens, over every carrier. */
  expected: string;
}

export async function play(scenario: Scenario, carrier: CarrierName): Promise<Recorded> {
  const { script, files, options, prompt = '' } = scenario;
  const gate = Promise.withResolvers<void>();
  const stage = await createStage({ carrier, script: script(gate.promise), ...(files && { files }) });
  try {
    if (scenario.drive === undefined) await stage.run(prompt, options);
    else await scenario.drive(stage, gate.resolve);
    stage.api.assertDone();
    return record(stage);
  } finally {
    await stage.close();
  }
}

/** A text as it stands in a program: without the blank lines around it and without its indentation. */
export function block(text: string): string {
  const lines = text.replace(/^[ \t]*\n|\s+$/g, '').split('\n');
  const filled = lines.filter((line) => line.trim() !== '');
  const indent = Math.min(...filled.map((line) => line.length - line.trimStart().length));
  return lines.map((line) => line.slice(indent)).join('\n');
}
