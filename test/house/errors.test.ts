import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERROR_NOTES, renderErrors } from '../../scripts/generate-errors.js';
import { ERROR_CODES } from '../../src/protocol/error.js';
import { root } from './tree.js';

describe('docs/errors.md', () => {
  it('is current (H1): otherwise run `node scripts/generate-errors.js`', () => {
    expect(readFileSync(join(root, 'docs/errors.md'), 'utf8')).toBe(renderErrors(ERROR_CODES));
  });

  it('has a note on every code and on nothing else', () => {
    expect(Object.keys(ERROR_NOTES).toSorted()).toEqual(Object.keys(ERROR_CODES).toSorted());
  });

  it('cannot be made while a code has no note', () => {
    expect(() => renderErrors({ ...ERROR_CODES, unheard_of: 'x' })).toThrow('no note on unheard_of');
  });
});
