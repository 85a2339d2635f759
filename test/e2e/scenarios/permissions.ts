/** The permission callback. */
import { readdirSync } from 'node:fs';
import type { PermissionResult } from '../../../src/protocol/index.js';
import type { Scenario } from '../scenario.js';
import { bash } from './answers.js';

const ANSWERS: PermissionResult[] = [
  { behavior: 'allow' },
  { behavior: 'deny', message: 'Not that one.' },
  { behavior: 'allow', updatedInput: { command: 'touch changed' } },
];

export const PERMISSIONS: Scenario[] = [
  {
    number: '05',
    name: 'a call is allowed, denied, and allowed with another input (C2)',
    script: () => [bash('touch allowed'), bash('touch denied'), bash('touch original'), 'Done.'],
    async drive(stage) {
      let asked = 0;
      await stage.run('Go', {
        canUseTool: async (name, input, { toolUseID, suggestions = [], decisionReason }) => {
          stage.note(`${toolUseID}: ${name} ${JSON.stringify(input)}: ${decisionReason}`);
          stage.note(`  one could ${suggestions.map(({ type }) => type).join(' or ')}`);
          const answer = ANSWERS[asked] as PermissionResult;
          asked += 1;
          return answer;
        },
      });
      stage.note(`files: ${readdirSync(stage.cwd).toSorted().join(', ')}`);
    },
    expected: `
      system/init
      assistant Bash({"command":"touch allowed"})
      user ok toolu_1 "(Bash completed with no output)"
      assistant Bash({"command":"touch denied"})
      user error toolu_2 "Not that one."
      assistant Bash({"command":"touch original"})
      user ok toolu_3 "(Bash completed with no output)"
      assistant "Done."
      result success turns=4

      * toolu_1: Bash {"command":"touch allowed"}: Writing to <root>/project/allowed needs approval
      *   one could setMode
      * toolu_2: Bash {"command":"touch denied"}: Writing to <root>/project/denied needs approval
      *   one could setMode
      * toolu_3: Bash {"command":"touch original"}: Writing to <root>/project/original needs approval
      *   one could setMode
      * files: allowed, changed`,
  },
  {
    number: '06',
    name: 'several questions at once, answered in reverse order (C5)',
    script: () => [
      { toolUse: ['one', 'two', 'three'].map((name) => ({ name: 'Bash', input: { command: `touch ${name}` } })) },
      'Done.',
    ],
    async drive(stage) {
      const open: { id: string; answer: (result: PermissionResult) => void }[] = [];
      await stage.run('Go', {
        canUseTool: (_, __, { toolUseID }) =>
          new Promise((answer) => {
            open.push({ id: toolUseID, answer });
            if (open.length < 3) return;
            open.sort((a, b) => a.id.localeCompare(b.id));
            stage.note(`open: ${open.map(({ id }) => id).join(', ')}`);
            for (const question of open.toReversed()) {
              const isSecond = question.id === 'toolu_2';
              question.answer(isSecond ? { behavior: 'deny', message: 'Not two.' } : { behavior: 'allow' });
            }
          }),
      });
      stage.note(`files: ${readdirSync(stage.cwd).toSorted().join(', ')}`);
    },
    expected: `
      system/init
      assistant Bash({"command":"touch one"})
      assistant Bash({"command":"touch two"})
      assistant Bash({"command":"touch three"})
      user error toolu_2 "Not two."
      user ok toolu_1 "(Bash completed with no output)"
      user ok toolu_3 "(Bash completed with no output)"
      assistant "Done."
      result success turns=2

      * open: toolu_1, toolu_2, toolu_3
      * files: one, three`,
  },
  {
    number: '17',
    name: 'a callback that throws denies (C3)',
    script: () => [bash('touch never'), 'I see.'],
    async drive(stage) {
      await stage.run('Go', {
        canUseTool: async () => {
          throw new Error('the answering machine is broken');
        },
      });
      stage.note(`files: ${readdirSync(stage.cwd).length}`);
    },
    expected: `
      system/init
      assistant Bash({"command":"touch never"})
      system/informational
      system/permission_denied
      user error toolu_1 "Tool permission request failed: the answering machine is broken"
      assistant "I see."
      result success turns=2

      * files: 0`,
  },
  {
    number: '21',
    name: 'a question that nobody answers in time is denied, and withdrawn (C3)',
    script: () => [bash('touch never'), 'I see.'],
    async drive(stage) {
      const withdrawn = Promise.withResolvers<void>();
      await stage.run('Go', {
        maxQuestionSeconds: 0.2,
        canUseTool: (_, __, { signal, cwd, explanation }) => {
          stage.note(`in ${cwd}: ${explanation?.replaceAll('\n', ' ')}`);
          signal.addEventListener('abort', () => withdrawn.resolve());
          return new Promise(() => {});
        },
      });
      await withdrawn.promise;
      stage.note(`files: ${readdirSync(stage.cwd).length}`);
    },
    expected: `
      system/init
      assistant Bash({"command":"touch never"})
      system/informational
      system/permission_denied
      user error toolu_1 "Tool permission request failed: Nobody answered within 0.2 s."
      assistant "I see."
      result success turns=2

      * in <root>/project: Needs approval: Writing to <root>/project/never needs approval. Path: <root>/project/never Runs: touch never
      * files: 0`,
  },
];
