/** Calls the file tools on large files in a process of little memory, and prints what came of it. */
import { editTool } from '../../src/engine/tools/edit.js';
import { readTool } from '../../src/engine/tools/read.js';
import { writeTool } from '../../src/engine/tools/write.js';
import type { ToolOutput } from '../../src/protocol/index.js';
import { createBench } from './bench.js';

const MB = 1_000_000;
const bench = createBench();

const known = (name: string, content: string | Uint8Array): string => {
  const path = bench.write(name, content);
  bench.ledger.note(path, Buffer.from(content));
  return path;
};
const report = ({ text, isError, structured }: ToolOutput & { text: string }) => ({
  text: text.replaceAll(bench.folder, ''),
  isError: isError ?? false,
  size: JSON.stringify(structured ?? null).length,
});
const edit = async (file_path: string, old_string: string, new_string: string) =>
  report(await bench.call(editTool, { file_path, old_string, new_string, replace_all: true }));

const lines = known('lines', `X\n${'ab\n'.repeat(10 * MB)}X\n`);
const crlf = known('crlf', `a\r\nb\r\n${'a\r\n'.repeat(10 * MB)}a\nb\n`);
const empty = known('empty', '\n'.repeat(30 * MB));
const quotes = known('quotes', Buffer.alloc(30 * MB, 0x93).fill(0x94, 30 * MB - 1));
const long = known('long', 'line\n'.repeat(6 * MB));
const results = {
  bothEnds: await edit(lines, 'X', 'Y'),
  everywhere: await edit(lines, 'ab', 'cd'),
  crlf: await edit(crlf, 'a\nb', 'c\nd'),
  notThere: await edit(empty, 'something', 'else'),
  readQuotes: report(await bench.call(readTool, { file_path: quotes, limit: 5 })),
  quotes: await edit(quotes, '“”', '„'),
  replaced: report(await bench.call(writeTool, { file_path: long, content: 'hello' })),
};
const ends = (name: string): string[] => [bench.text(name).slice(0, 4), bench.text(name).slice(-4)];
process.stdout.write(
  JSON.stringify({ ...results, ends: { lines: ends('lines'), crlf: ends('crlf'), long: ends('long') } }),
);
await bench.close();
