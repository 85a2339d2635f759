import { HeddleError } from '../protocol/plain.js';

/** What a getter makes anew each time it is asked has no end. */
export class EndlessSchema extends HeddleError {
  constructor(name: string) {
    super('invalid_config', `The schema of ${name} has no end, or is nested too deep.`, {
      hint: 'Name what refers to itself once, and refer to that: a getter must not make a new schema each time.',
    });
  }
}

export const JSON_TYPES = 'A model answers in JSON: use strings, numbers, booleans, null, objects and lists.';
