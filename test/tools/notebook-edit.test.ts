import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { notebookEditTool } from '../../src/engine/tools/notebook-edit.js';
import { readTool } from '../../src/engine/tools/read.js';
import { type Bench, createBench } from './bench.js';

let bench: Bench;
beforeEach(() => {
  bench = createBench();
});
afterEach(() => bench.close());

/** As Jupyter writes it: one blank per level, keys sorted, a newline at the end. The numbers would not survive a parse. */
const NOTEBOOK = `{
 "cells": [
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "c1",
   "metadata": {
    "mine": [
     true
    ]
   },
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "1\\n"
     ]
    }
   ],
   "source": [
    "a = 1\\n",
    "a"
   ]
  },
  {
   "cell_type": "markdown",
   "id": "c2",
   "metadata": {},
   "source": [
    "# \\"]}, caf\\u00e9 \\\\"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "id": "c3",
   "metadata": {"scale": 1.0, "big": 12345678901234567890},
   "outputs": [],
   "source": []
  }
 ],
 "metadata": {
  "language_info": {
   "name": "python"
  },
  "10": 1.50,
  "9": 1e2
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`;

/** A notebook that has been read. */
async function known(content: string | Uint8Array = NOTEBOOK, name = 'n.ipynb'): Promise<string> {
  const path = bench.write(name, content);
  expect((await bench.call(readTool, { file_path: path })).isError).toBeUndefined();
  return path;
}

const edit = (input: object) => bench.call(notebookEditTool, { notebook_path: bench.path('n.ipynb'), ...input });
const text = (): string => bench.text('n.ipynb');

const refusal = async (input: object): Promise<string> => {
  const { text: reason, isError } = await edit(input);
  expect(isError).toBe(true);
  return reason;
};

describe('NotebookEdit', () => {
  it('replaces the source of a cell, clears its outputs, and leaves every other byte', async () => {
    const path = await known();
    const { content, structured } = await edit({ cell_id: 'c1', new_source: 'b = "2"\n\nb\n' });
    const expected = NOTEBOOK.replace('"execution_count": 3', '"execution_count": null')
      .replace(/"outputs": \[\n[^]*?\n {3}\]/, '"outputs": []')
      .replace('"a = 1\\n",\n    "a"', '"b = \\"2\\"\\n",\n    "\\n",\n    "b\\n"');
    expect(text()).toBe(expected);
    expect(content).toBe('Updated cell c1 with b = "2"\n\nb\n');
    expect(structured).toEqual({
      new_source: 'b = "2"\n\nb\n',
      old_source: 'a = 1\na',
      cell_type: 'code',
      language: 'python',
      edit_mode: 'replace',
      cell_id: 'c1',
      error: '',
      notebook_path: path,
      original_file: NOTEBOOK,
      updated_file: expected,
    });
  });

  it('may go on from what it wrote', async () => {
    await known();
    expect((await edit({ cell_id: 'c3', new_source: '1' })).isError).toBeUndefined();
    expect((await edit({ cell_id: 'c3', new_source: '2' })).text).toBe('Updated cell c3 with 2');
    expect(JSON.parse(text()).cells[2].source).toEqual(['2']);
  });

  it('inserts after a cell, or at the start', async () => {
    bench.clock = { ...bench.clock, uuid: () => '00000000-0000-4000-8000-0000deadbeef' };
    await known();
    const first = await edit({ edit_mode: 'insert', cell_type: 'markdown', new_source: '# First' });
    expect(first.text).toBe('Inserted cell deadbeef with # First');
    expect(first.structured).toMatchObject({ cell_id: 'deadbeef', cell_type: 'markdown', edit_mode: 'insert' });
    expect(first.structured).not.toHaveProperty('old_source');
    const markdown =
      '  {\n   "cell_type": "markdown",\n   "id": "deadbeef",\n   "metadata": {},\n   "source": [\n    "# First"\n   ]\n  },\n';
    const started = NOTEBOOK.replace(' "cells": [\n', ` "cells": [\n${markdown}`);
    expect(text()).toBe(started);

    bench.clock = { ...bench.clock, uuid: () => '00000000-0000-4000-8000-00000000cafe' };
    await edit({ edit_mode: 'insert', cell_id: 'c3', cell_type: 'code', new_source: 'x\ny' });
    const code =
      ',\n  {\n   "cell_type": "code",\n   "execution_count": null,\n   "id": "0000cafe",\n   "metadata": {},\n' +
      '   "outputs": [],\n   "source": [\n    "x\\n",\n    "y"\n   ]\n  }';
    expect(text()).toBe(started.replace('"source": []\n  }', `"source": []\n  }${code}`));
  });

  it('inserts into the midst, and into a notebook without cells', async () => {
    await known();
    await edit({ edit_mode: 'insert', cell_id: 'c1', cell_type: 'code', new_source: 'x' });
    expect(JSON.parse(text()).cells.map((cell: { id: string }) => cell.id)).toEqual([
      'c1',
      expect.stringMatching(/^[0-9a-f]{8}$/),
      'c2',
      'c3',
    ]);
    await known('{\n  "cells": [],\n  "nbformat": 4\n}');
    await edit({ edit_mode: 'insert', cell_type: 'markdown', new_source: '' });
    expect(text()).toBe(
      '{\n  "cells": [\n    {\n      "cell_type": "markdown",\n      "metadata": {},\n      "source": []\n    }\n  ],\n  "nbformat": 4\n}',
    );
  });

  it('deletes a cell with its comma', async () => {
    await known();
    expect((await edit({ edit_mode: 'delete', cell_id: 'c2', new_source: '' })).text).toBe('Deleted cell c2');
    expect(JSON.parse(text()).cells).toHaveLength(2);
    const { structured } = await edit({ edit_mode: 'delete', cell_id: 'c3', new_source: 'ignored' });
    expect(structured).toMatchObject({ new_source: '', old_source: '', cell_type: 'code', edit_mode: 'delete' });
    const rest = JSON.parse(NOTEBOOK);
    expect(JSON.parse(text())).toEqual({ ...rest, cells: [rest.cells[0]] });
    await edit({ edit_mode: 'delete', cell_id: 'c1', new_source: '' });
    expect(text()).toBe(NOTEBOOK.replace(/"cells": \[[^]*\n \],/, '"cells": [],'));
  });

  it('changes the type of a cell, with what belongs to it', async () => {
    const attached = { cell_type: 'markdown', attachments: {}, metadata: { keep: 1 }, source: 'text' };
    await known(JSON.stringify({ nbformat: 4, nbformat_minor: 5, cells: [attached] }));
    await edit({ cell_id: 'cell-0', cell_type: 'code', new_source: 'x' });
    const code = { cell_type: 'code', metadata: { keep: 1 }, source: 'x', execution_count: null, outputs: [] };
    expect(JSON.parse(text()).cells).toEqual([code]);
    await edit({ cell_id: 'cell-0', cell_type: 'markdown', new_source: 'y' });
    expect(JSON.parse(text()).cells).toEqual([{ cell_type: 'markdown', metadata: { keep: 1 }, source: 'y' }]);
  });

  it('finds cells by their place where the format knows no ids, and gives none', async () => {
    const cell = { cell_type: 'markdown', metadata: {}, source: 'a\nb' };
    await known(`{"nbformat":4,"nbformat_minor":4,"cells":[${JSON.stringify(cell)}]}`);
    expect((await edit({ cell_id: 'cell-0', new_source: 'x\ny' })).text).toBe('Updated cell cell-0 with x\ny');
    const { text: told } = await edit({
      edit_mode: 'insert',
      cell_id: 'cell-0',
      cell_type: 'markdown',
      new_source: 'z',
    });
    expect(told).toBe('Inserted cell cell-1 with z');
    expect(text()).toBe(
      '{"nbformat":4,"nbformat_minor":4,"cells":[{"cell_type":"markdown","metadata":{},"source":"x\\ny"},' +
        '{"cell_type":"markdown","metadata":{},"source":"z"}]}',
    );
  });

  it('takes an id over a place', async () => {
    const cells = ['cell-1', 'other'].map((id) => ({ cell_type: 'markdown', id, source: '' }));
    await known(JSON.stringify({ nbformat: 4, nbformat_minor: 5, cells }));
    await edit({ cell_id: 'cell-1', new_source: 'x' });
    await edit({ cell_id: 'cell-0', new_source: 'y' });
    expect(JSON.parse(text()).cells.map((cell: { source: string }) => cell.source)).toEqual(['y', '']);
  });

  it('keeps the numbers of the changed cell as they are spelled', async () => {
    await known();
    await edit({ cell_id: 'c3', new_source: 'x' });
    expect(text()).toContain('"scale": 1.0,\n    "big": 12345678901234567890\n');
    expect(text()).toContain('"10": 1.50,\n  "9": 1e2\n');
  });

  it('keeps tabs, CRLF, BOM and mode', async () => {
    const path = await known(
      `\ufeff${NOTEBOOK.replace(/^ +/gm, (blanks) => '\t'.repeat(blanks.length)).replaceAll('\n', '\r\n')}`,
    );
    chmodSync(path, 0o640);
    await edit({ cell_id: 'c2', new_source: 'x\ny' });
    expect(text()).toContain('\r\n\t\t\t"source": [\r\n\t\t\t\t"x\\n",\r\n\t\t\t\t"y"\r\n\t\t\t]\r\n\t\t},\r\n');
    expect(text()).not.toMatch(/[^\r]\n/);
    expect(text().startsWith('\ufeff{')).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  it('writes where a link led when it was judged', async () => {
    await known(NOTEBOOK, 'real.ipynb');
    symlinkSync(bench.path('real.ipynb'), bench.path('link.ipynb'));
    await edit({ notebook_path: bench.path('link.ipynb'), cell_id: 'c3', new_source: '1' });
    expect(bench.text('real.ipynb')).toContain('"1"');
  });

  it('says that it writes', async () => {
    const input = await notebookEditTool.parse({ notebook_path: 'sub/n.ipynb', new_source: '' });
    expect(notebookEditTool.accesses?.(input, { cwd: '/folder' })).toEqual([
      { path: '/folder/sub/n.ipynb', access: 'write' },
    ]);
    expect(notebookEditTool.isReadOnly(input, { cwd: '/folder' })).toBe(false);
    expect(notebookEditTool.edits).toBe(true);
  });
});

describe('NotebookEdit refuses', () => {
  it('what has not been read, or has changed since', async () => {
    const path = bench.write('n.ipynb', NOTEBOOK);
    expect(await refusal({ cell_id: 'c1', new_source: '' })).toContain('File has not been read yet.');
    await known();
    writeFileSync(path, NOTEBOOK.replace('a = 1', 'a = 2'));
    expect(await refusal({ cell_id: 'c1', new_source: '' })).toContain('File has been modified since read');
  });

  it('what changes, or becomes a link, between the check and the write', async () => {
    const path = await known();
    const context = bench.context();
    const input = await notebookEditTool.parse({ notebook_path: path, cell_id: 'c1', new_source: 'x' });
    expect(await notebookEditTool.enforce?.(input, context)).toBeUndefined();
    writeFileSync(path, `${NOTEBOOK} `);
    await expect(notebookEditTool.run(input, context)).rejects.toThrow('File has been modified since read');
    bench.judged.set(path, path);
    const outside = bench.write('outside.ipynb', NOTEBOOK);
    rmSync(path);
    symlinkSync(outside, path);
    await expect(notebookEditTool.run(input, context)).rejects.toThrow('ELOOP');
    rmSync(path);
    await expect(notebookEditTool.run(input, context)).rejects.toThrow('File does not exist.');
    expect(readFileSync(outside, 'utf8')).toBe(NOTEBOOK);
  });

  it('an unknown cell, and names those there are', async () => {
    await known();
    for (const cell_id of ['c9', 'cell-3', 'cell--1', '']) {
      expect(await refusal({ cell_id, new_source: '' })).toBe(
        `There is no cell with the id "${cell_id}". The cells are: c1, c2, c3.`,
      );
    }
    expect(await refusal({ edit_mode: 'insert', cell_type: 'code', cell_id: 'c9', new_source: '' })).toContain(
      'There is no cell with the id "c9".',
    );
    expect(await refusal({ new_source: '' })).toBe('edit_mode replace needs cell_id. The cells are: c1, c2, c3.');
    expect(await refusal({ edit_mode: 'delete', new_source: '' })).toContain('edit_mode delete needs cell_id.');
    const cells = Array.from({ length: 60 }, () => ({ cell_type: 'code', source: '' }));
    await known(JSON.stringify({ cells }));
    expect(await refusal({ cell_id: 'x', new_source: '' })).toMatch(/cell-48, cell-49 and 10 more\.$/);
    await known('{"cells":[]}');
    expect(await refusal({ cell_id: 'x', new_source: '' })).toContain('The notebook has no cells.');
  });

  it('an id that several cells have, and says how to name one of them', async () => {
    const cells = ['twin', 'other', 'twin', 'cell-0'].map((id) => ({ cell_type: 'markdown', id, source: id }));
    await known(JSON.stringify({ nbformat: 4, nbformat_minor: 5, cells }));
    const told = '2 cells have the id "twin". Name the one you mean by its place: cell-0, cell-2.';
    expect(await refusal({ cell_id: 'twin', new_source: 'x' })).toBe(told);
    expect(await refusal({ cell_id: 'twin', edit_mode: 'delete', new_source: '' })).toBe(told);
    expect(await refusal({ cell_id: 'twin', edit_mode: 'insert', cell_type: 'code', new_source: '' })).toBe(told);
    await edit({ cell_id: 'cell-2', new_source: 'second' });
    expect(JSON.parse(text()).cells.map((cell: { source: string }) => cell.source)).toEqual([
      'twin',
      'other',
      'second',
      'cell-0',
    ]);
  });

  it('no cell for being called what another is, if its place says which', async () => {
    const cells = ['cell-1', undefined].map((id) => ({ cell_type: 'markdown', id, source: '' }));
    await known(JSON.stringify({ nbformat: 4, nbformat_minor: 5, cells }));
    await edit({ cell_id: 'cell-1', new_source: 'second' });
    await edit({ cell_id: 'cell-0', new_source: 'first' });
    expect(JSON.parse(text()).cells.map((cell: { source: string }) => cell.source)).toEqual(['first', 'second']);
  });

  it('an insert without a type', async () => {
    await known();
    expect(await refusal({ edit_mode: 'insert', cell_id: 'c1', new_source: '' })).toBe(
      'edit_mode insert needs cell_type: code or markdown.',
    );
  });

  it('what is no notebook, or none that can be read', async () => {
    const call = (notebook_path: string) => refusal({ notebook_path, cell_id: 'c1', new_source: '' });
    expect(await call(bench.write('a.py', ''))).toContain('a.py is not a notebook (.ipynb). Use Edit for other files.');
    expect(await call(bench.path('none.ipynb'))).toContain('File does not exist.');
    execFileSync('mkfifo', [bench.path('pipe.ipynb')]);
    expect(await call(bench.path('pipe.ipynb'))).toContain('is a device, pipe or socket');
    bench.write('folder.ipynb/a', '');
    expect(await call(bench.path('folder.ipynb'))).toContain('EISDIR: illegal operation on a directory, edit');
    const broken = bench.write('broken.ipynb', '{"cells": [');
    bench.ledger.note(broken, readFileSync(broken));
    expect(await call(broken)).toContain('broken.ipynb is not a notebook: it is not valid JSON');
    expect(bench.text('broken.ipynb')).toBe('{"cells": [');
  });

  it('wrong input, saying which field and why', async () => {
    expect((await bench.call(notebookEditTool, { notebook_path: 'n.ipynb' })).text).toContain(
      'The required parameter `new_source` is missing',
    );
    expect(await refusal({ edit_mode: 'move', new_source: '' })).toContain('The parameter `edit_mode` is not valid');
    expect(await refusal({ notebook_path: 'a\0.ipynb', cell_id: 'c1', new_source: '' })).toMatch(/NUL|null bytes/);
  });
});
