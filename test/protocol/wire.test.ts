import { describe, expect, it } from 'vitest';
import {
  checkFrame,
  checkParams,
  checkResult,
  isControlRequest,
  isControlResponse,
  schemaOf,
} from '../../src/protocol/index.js';
import { recordings } from './recordings.js';

describe('recorded exchanges of the existing clients', () => {
  it('are there', () => {
    expect(recordings).toHaveLength(26);
    expect(recordings.flatMap(({ lines }) => lines).length).toBeGreaterThan(400);
  });

  it.each(recordings)('$name: every frame passes the check, both ways', ({ lines }) => {
    const subtypes = new Map<string, string>();
    const kinds = new Set<string>();
    for (const { frame } of lines) {
      const before = JSON.stringify(frame);
      const checked = checkFrame(frame);
      expect(checked).toBe(frame);
      expect(schemaOf(frame)).toBeTypeOf('function');
      kinds.add(frame.type);
      if (isControlRequest(checked)) {
        const { subtype, ...params } = checked.request;
        subtypes.set(checked.request_id, subtype);
        expect(checkParams(subtype, params)).toBe(params);
      }
      if (isControlResponse(checked) && checked.response.subtype === 'success') {
        const subtype = subtypes.get(checked.response.request_id);
        expect(subtype).toBeDefined();
        const { response } = checked.response;
        expect(checkResult(subtype ?? '', response)).toBe(response);
      }
      expect(JSON.stringify(frame)).toBe(before);
    }
    expect(kinds).toContain('control_response');
    expect(kinds).toContain('result');
  });
});
