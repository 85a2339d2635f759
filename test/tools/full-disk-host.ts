/** Calls Write and Edit in a process that may not write large files, as on a full disk, and prints what came of it. */
import { readdirSync } from 'node:fs';
import { editTool } from '../../src/engine/tools/edit.js';
import { writeTool } from '../../src/engine/tools/write.js';
import { createBench } from './bench.js';

const MUCH = 'much '.repeat(100_000);
const MUCH_MORE = 'more '.repeat(1_000_000);

const bench = createBench();
const kept = bench.write('kept.txt', 'old');
bench.ledger.note(kept, Buffer.from('old'));
const calls = [
  await bench.call(writeTool, { file_path: kept, content: MUCH }),
  await bench.call(writeTool, { file_path: kept, content: MUCH_MORE }),
  await bench.call(editTool, { file_path: kept, old_string: 'old', new_string: MUCH }),
  await bench.call(writeTool, { file_path: 'new.txt', content: MUCH }),
];
const atFailure = { names: readdirSync(bench.folder), kept: bench.text('kept.txt') };
const after = await bench.call(writeTool, { file_path: kept, content: 'little' });
const results = calls.map(({ text, isError }) => ({ text: text.replaceAll(bench.folder, ''), isError }));
process.stdout.write(
  JSON.stringify({ results, atFailure, after: after.isError ?? false, end: bench.text('kept.txt') }),
);
await bench.close();
