import { describe, expect, it } from 'vitest';
import { parseJsonc } from '../../src/engine/settings/jsonc.js';

const faultsOf = async (text: string): Promise<string[]> =>
  (await parseJsonc(text)).faults.map((fault) => `${fault.line}:${fault.column} ${fault.path} ${fault.text}`);

describe('parseJsonc', () => {
  it('takes comments and trailing commas', async () => {
    const { value, faults } = await parseJsonc('// a\n{ /* b */ "x": [1, 2,], "y": {"z": null,}, }\n// c');
    expect(faults).toEqual([]);
    expect(value).toEqual({ x: [1, 2], y: { z: null } });
  });

  it.each([
    ['', '1:1 (root) the file is empty; write {} or delete it'],
    [' \n\t', '1:1 (root) the file is empty; write {} or delete it'],
    ['// only words', '1:14 (root) the file ends too early: a value is expected'],
    ['{ "permissions": { "deny": ["Read(./.env)"', '1:43 (root) the file ends too early: "]" is expected'],
    ['{\n  "a": 1\n', '3:1 (root) the file ends too early: "}" is expected'],
    ['{"a": "b', '1:7 (root) the file ends too early: a string is not closed'],
    ['{ /* never', '1:3 (root) the file ends too early: a comment is not closed'],
    ['{"a": 1 "b": 2}', '1:9 (root) "," is expected'],
    ['{\n  a: 1\n}', '2:3 (root) this is no JSON value'],
    ['{"a": tru}', '1:7 (root) this is no JSON value'],
    ['{"a" 1}', '1:6 (root) ":" is expected after a key'],
    ['{} x', '1:4 (root) this is no JSON value'],
    ['{"a": 1}}', '1:9 (root) there is more after the end of the value'],
    ['{"a": "x\ny"}', '1:7 (root) a string is not closed'],
    ['{"a": "\\q"}', '1:7 (root) this is no escape'],
    ['{"a": 1,\n "a": 2}', '2:2 a "a" stands here twice; only one would count'],
    ['{"p": {"__proto__": 1}}', '1:8 p.__proto__ "__proto__" is no key that can be used'],
  ])('%j', async (text, fault) => {
    expect(await faultsOf(text)).toEqual([fault]);
  });

  it('nests deeper than anyone can follow', async () => {
    expect(await faultsOf('['.repeat(400_000))).toEqual(['1:1 (root) it is nested too deeply']);
    expect(await faultsOf('{"a":'.repeat(200_000))).toEqual(['1:1 (root) it is nested too deeply']);
  });

  it('never gives a value that is not JSON, whatever is cut off', async () => {
    const whole = '{ "permissions": { "deny": ["Read(./.env)", {"tool": "Bash"}], /* c */ "n": -1.5e3 } }';
    for (let length = 0; length < whole.length; length += 1) {
      const { value, faults } = await parseJsonc(whole.slice(0, length));
      expect([length, value, faults.length]).toEqual([length, undefined, 1]);
    }
  });

  it('says where each part stands', async () => {
    const { placeOf } = await parseJsonc('{\n  "a": {\n    "b-c": [1,\n      2]\n  }\n}');
    expect(placeOf('a')).toEqual({ line: 2, column: 3 });
    expect(placeOf('a["b-c"][1]')).toEqual({ line: 4, column: 7 });
    expect(placeOf('a["b-c"][7].x')).toEqual({ line: 3, column: 5 });
    expect(placeOf('nothing.here')).toEqual({ line: 1, column: 1 });
  });
});
