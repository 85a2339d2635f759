import sharp from 'sharp';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readTool } from '../../src/engine/tools/read.js';
import { type Bench, createBench } from './bench.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.close());

const read = (path: string) => bench.call(readTool, { file_path: path });

const refusal = async (content: string | Uint8Array): Promise<string> => {
  const { text, isError } = await read(bench.write('n.ipynb', content));
  expect(isError).toBe(true);
  return text;
};

const writeCells = (cells: object[], metadata: object = {}): string =>
  bench.write('n.ipynb', JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 }));

const code = (outputs: object[], more: object = {}): object => ({
  cell_type: 'code',
  id: 'c1',
  execution_count: 3,
  metadata: {},
  outputs,
  source: ['a = 1\n', 'a'],
  ...more,
});

const stream = (text: unknown): object => ({ output_type: 'stream', name: 'stdout', text });
const drawPng = () =>
  sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
const display = (data: object): object => ({ output_type: 'display_data', data, metadata: {} });

describe('Read of notebooks', () => {
  it('gives cells with their ids, types and outputs', async () => {
    const path = writeCells([
      code([stream(['one\n', 'two\n']), { output_type: 'execute_result', data: { 'text/plain': '1' } }]),
      { cell_type: 'markdown', id: 'intro', metadata: {}, source: '# Title' },
      { cell_type: 'raw', metadata: {}, source: [] },
    ]);
    const { content, structured, isError } = await read(path);
    expect(isError).toBeUndefined();
    expect(content).toBe(
      [
        '<cell id="c1">a = 1\na</cell id="c1">',
        '<output>\none\ntwo\n</output>',
        '<output>\n1\n</output>',
        '<cell id="intro"><cell_type>markdown</cell_type># Title</cell id="intro">',
        '<cell id="cell-2"><cell_type>raw</cell_type></cell id="cell-2">',
      ].join('\n'),
    );
    expect(structured).toEqual({
      type: 'notebook',
      file: {
        filePath: path,
        cells: [
          {
            cellType: 'code',
            source: 'a = 1\na',
            cell_id: 'c1',
            language: 'python',
            execution_count: 3,
            outputs: [
              { output_type: 'stream', text: 'one\ntwo' },
              { output_type: 'execute_result', text: '1' },
            ],
          },
          { cellType: 'markdown', source: '# Title', cell_id: 'intro' },
          { cellType: 'raw', source: '', cell_id: 'cell-2' },
        ],
      },
    });
    expect(bench.ledger.compare(path, Buffer.from(bench.text('n.ipynb')))).toBe('current');
  });

  it('names another language than Python', async () => {
    const path = writeCells([code([])], { kernelspec: { language: 'R' } });
    expect((await read(path)).content).toBe('<cell id="c1"><language>R</language>a = 1\na</cell id="c1">');
  });

  it('shows errors without the colours of a terminal', async () => {
    const traceback = ['\u001b[31mZeroDivisionError\u001b[0m', 'line 1', 'division by zero'];
    const path = writeCells([
      code([{ output_type: 'error', ename: 'E', evalue: 'v', traceback }]),
      code([{ output_type: 'error', ename: 'E', evalue: 'v', traceback: [] }]),
    ]);
    const { text } = await read(path);
    expect(text).toContain('<output>\nZeroDivisionError\nline 1\ndivision by zero\n</output>');
    expect(text).toContain('<output>\nE: v\n</output>');
  });

  it('takes terminal codes out in linear time', async () => {
    const link = '\u001b]8;;http://host\u0007link\u001b]8;;\u001b\\ [x]';
    const hostile = ['\u001b]8;;', '\u001b[1;', '\u001b]'].map((start) => stream(start.repeat(500_000)));
    const { text } = await read(writeCells([code([stream(link)]), code(hostile)]));
    expect(text).toContain('<output>\nlink [x]\n</output>');
  });

  it('shows images between the texts', async () => {
    const png = (await drawPng()).toString('base64');
    const path = writeCells([
      code([display({ 'image/png': [`${png.slice(0, 20)}\n`, png.slice(20)], 'text/plain': '<Figure>' })]),
      code([display({ 'image/png': 'bm90IGFuIGltYWdl' }), display({ 'text/html': '<b>x</b>' })], { id: 'c2' }),
    ]);
    const { content, structured } = await read(path);
    expect(content).toEqual([
      { type: 'text', text: '<cell id="c1">a = 1\na</cell id="c1">' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
      {
        type: 'text',
        text:
          '<cell id="c2">a = 1\na</cell id="c2">\n<output>\n[An image is left out: it is damaged.]\n</output>\n' +
          '<output>\n[An output of type text/html is not shown.]\n</output>',
      },
    ]);
    expect(structured).toMatchObject({
      file: { cells: [{ outputs: [{ image: { image_data: png, media_type: 'image/png' } }] }, {}] },
    });
  });

  it('shows ten images, and no broken one', async () => {
    const bytes = await drawPng();
    const image = display({ 'image/png': bytes.toString('base64') });
    const broken = display({ 'image/png': bytes.subarray(0, 40).toString('base64') });
    const { content } = await read(writeCells([code([broken, ...Array.from({ length: 12 }, () => image)])]));
    const blocks = content as { type: string }[];
    expect(blocks.filter(({ type }) => type === 'image')).toHaveLength(10);
    expect(JSON.stringify(blocks[0])).toContain('cannot be shown');
    expect(JSON.stringify(blocks.at(-1))).toContain('[An image is left out: the notebook has many.]');
  });

  it('shortens long outputs in their midst', async () => {
    const path = writeCells([
      code([stream(`start${'x'.repeat(50_000)}end`), stream('more'), stream('and more')]),
      code([stream('short')]),
    ]);
    const { text } = await read(path);
    expect(text).toMatch(/<output>\nstartx+\n\[\.\.\. 40,008 characters are left out \.\.\.\]\nx+end\n<\/output>/);
    expect(text).toContain('<output>\n[2 more outputs are left out.]\n</output>');
    expect(text).toContain('<output>\nshort\n</output>');
    expect(text.length).toBeLessThan(11_000);
    const many = writeCells(Array.from({ length: 100 }, () => code([stream('x'.repeat(20_000))])));
    expect((await read(many)).text.length).toBeLessThan(230_000);
  });

  it('says that there are no cells, or nothing at all', async () => {
    expect((await read(writeCells([]))).text).toBe(
      '<system-reminder>Warning: the notebook has no cells.</system-reminder>',
    );
    expect((await read(bench.write('e.ipynb', ''))).text).toContain('the contents are empty');
  });

  it('takes what is odd but harmless', async () => {
    const path = writeCells([
      { source: 'x', outputs: 'none' },
      { cell_type: 'code', outputs: [1, {}, { data: {} }], source: 5 },
    ]);
    expect((await read(path)).text).toBe(
      '<cell id="cell-0">x</cell id="cell-0">\n<cell id="cell-1"></cell id="cell-1">',
    );
  });
});

describe('Read refuses a notebook', () => {
  it('that is not JSON, and says where', async () => {
    expect(await refusal('# text')).toMatch(
      /n\.ipynb is not a notebook: it is not valid JSON \(Unexpected token.*\)\. Look at it with Bash/,
    );
    expect(await refusal('{\n "cells": [\n  {"source": [}\n ]\n}')).toContain('Unexpected token');
    expect(await refusal('{\n "cells": [')).toContain('Unexpected end of JSON input');
    expect(await refusal('{\n "cells": [\n<<<<<<< HEAD\n {}\n=======\n ]}')).toContain(
      'line 3 is the mark of a merge conflict',
    );
    expect(await refusal(Buffer.from('{"cells": ["\xe9"]}', 'latin1'))).toContain('it is not valid UTF-8');
  });

  it('that has no cells', async () => {
    expect(await refusal('[]')).toContain('its JSON is not an object');
    expect(await refusal('{"cells": {}}')).toContain('it has no list of cells.');
    expect(await refusal('{"worksheets": []}')).toContain('it has no list of cells (its format is older than 4)');
    expect(await refusal('{"cells": [{}, 7]}')).toContain('cell 1 of its list is not an object');
  });

  it('that is too large', async () => {
    expect(await refusal(Buffer.alloc(17 * 1024 * 1024, ' '))).toContain('(17MB) is too large: at most 16MB');
    expect(await refusal(`{"cells": [${'{},'.repeat(20_000)}{}]}`)).toContain('n.ipynb has 20001 cells');
    const source = 'x'.repeat(3_000_000);
    expect(await refusal(JSON.stringify({ cells: [{ cell_type: 'code', source }] }))).toContain('hold too much text');
  });
});
