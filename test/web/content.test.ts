import { describe, expect, it } from 'vitest';
import { toContent } from '../../src/engine/web/content.js';

const bytes = (text: string, encoding: BufferEncoding = 'utf8'): Uint8Array => Buffer.from(text, encoding);

describe('kinds of content', () => {
  it.each([
    ['text/html; charset=utf-8', 'x', 'html'],
    ['TEXT/HTML', 'x', 'html'],
    ['application/xhtml+xml', 'x', 'html'],
    ['text/plain', '<html>', 'text'],
    ['text/markdown', 'x', 'text'],
    ['application/json', '{}', 'text'],
    ['application/ld+json', '{}', 'text'],
    ['application/problem+json;charset=utf-8', '{}', 'text'],
    ['application/xml', '<a/>', 'text'],
    ['application/rss+xml', '<a/>', 'text'],
    ['image/svg+xml', '<svg/>', 'text'],
    ['application/javascript', 'x', 'text'],
    ['application/x-ndjson', 'x', 'text'],
    ['application/yaml', 'x', 'text'],
    ['', 'plain', 'text'],
    ['', ' \n<!DOCTYPE html><p>', 'html'],
    ['', '<!-- x --><html>', 'html'],
    ['application/pdf', '%PDF', 'binary'],
    ['image/png', 'x', 'binary'],
    ['application/octet-stream', 'text', 'binary'],
    ['application/zip', 'x', 'binary'],
    ['text/plain', 'a\0b', 'binary'],
    ['text/html', 'a\0b', 'binary'],
    ['', 'a\0b', 'binary'],
  ])('%s with %j is %s', (type, body, kind) => {
    expect(toContent(bytes(body), type).kind).toBe(kind);
  });
});

describe('encodings', () => {
  const textOf = (body: Uint8Array, type = 'text/html'): string => toContent(body, type).text;

  it('believes the mark at the start before all else', () => {
    expect(textOf(bytes('\ufeffé'), 'text/html; charset=latin1')).toBe('é');
    expect(textOf(bytes('\ufeffé', 'utf16le'), 'text/plain; charset=utf-8')).toBe('é');
    expect(textOf(Uint8Array.of(0xfe, 0xff, 0, 0x41))).toBe('A');
  });

  it('believes the header, then the page', () => {
    expect(textOf(bytes('é', 'latin1'), 'text/html; charset="ISO-8859-1"')).toBe('é');
    expect(textOf(bytes('<meta charset="windows-1251">\xcf', 'latin1'))).toContain('П');
    expect(textOf(bytes('<meta charset=utf-8>é'), 'text/html; charset=utf-8')).toContain('é');
    const old = '<meta http-equiv="Content-Type" content="text/html; charset=shift_jis">\x82\xa0';
    expect(textOf(bytes(old, 'latin1'))).toContain('あ');
    expect(textOf(bytes('<?xml version="1.0" encoding="iso-8859-2"?>\xb1', 'latin1'), 'text/xml')).toContain('ą');
    expect(textOf(bytes('aé', 'utf16le'), 'text/plain; charset=utf-16')).toBe('aé');
  });

  it('does not believe a page that cannot be what it says', () => {
    expect(textOf(bytes('<meta charset="utf-16">é'))).toContain('é');
  });

  it('takes what is not UTF-8 and says nothing as Western', () => {
    expect(textOf(bytes('caf\xe9 \x93x\x94', 'latin1'), 'text/plain')).toBe('café “x”');
    expect(textOf(bytes('café'), 'text/plain')).toBe('café');
  });

  it('survives a wrong or unknown encoding', () => {
    expect(textOf(bytes('caf\xe9', 'latin1'), 'text/plain; charset=utf-8')).toBe('caf\ufffd');
    expect(textOf(bytes('café'), 'text/plain; charset=klingon')).toBe('café');
  });
});
