import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generate, stale } from '../../scripts/generate.js';
import * as protocol from '../../src/protocol/index.js';
import { messages, toolInputs } from './examples.js';
import { accepts } from './json-schema.js';
import { recordings } from './recordings.js';

const root = join(import.meta.dirname, '../..');
const files: Record<string, string> = generate(protocol);

const schemaIn = (path: string) => JSON.parse(files[path] ?? '') as { $defs: Record<string, Record<string, unknown>> };

describe('generated files (H8)', () => {
  it('are current; if not: npm run generate', () => {
    expect(stale(root, files)).toEqual([]);
  });

  it('come out the same every time', () => {
    expect(generate(protocol)).toEqual(files);
  });

  it('are called stale when one differs or is missing', () => {
    const copy = mkdtempSync(join(tmpdir(), 'heddle-generated-'));
    try {
      for (const [path, text] of Object.entries(files)) {
        if (path === 'docs/protocol.md') continue;
        mkdirSync(dirname(join(copy, path)), { recursive: true });
        writeFileSync(join(copy, path), path === 'schema/control.json' ? `${text} ` : text);
      }
      expect(stale(copy, files)).toEqual(['schema/control.json', 'docs/protocol.md']);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  it('hold every reference they make', () => {
    for (const [path, text] of Object.entries(files).filter(([name]) => name.startsWith('schema/'))) {
      const names = Object.keys((JSON.parse(text) as { $defs: object }).$defs);
      const missing = [...text.matchAll(/"\$ref": "#\/\$defs\/([^"]+)"/g)].map(([, name]) => name ?? '');
      expect(
        missing.filter((name) => !names.includes(name)),
        path,
      ).toEqual([]);
      expect(missing.length, path).toBeGreaterThan(0);
    }
  });

  it('describe every message, request, hook, tool and setting in the reference', () => {
    const page = files['docs/protocol.md'] ?? '';
    const headings = new Set([...page.matchAll(/^### `(.+)`$/gm)].map(([, title]) => title));
    const wanted = [
      ...Object.keys(protocol.SYSTEM_MESSAGES),
      ...Object.keys(protocol.REQUESTS),
      ...Object.keys(protocol.HOOK_INPUTS),
      ...Object.keys(protocol.TOOL_INPUTS),
    ];
    expect(wanted.filter((title) => !headings.has(title))).toEqual([]);
    const settings = Object.keys(protocol.Settings().shape);
    expect(settings.filter((key) => !page.includes(`\`${key}?\``))).toEqual([]);
    expect(page).not.toMatch(/undefined|\[object/);
  });

  it('accept what was recorded, and refuse what the check refuses', () => {
    const [message, control] = [schemaIn('schema/messages.json'), schemaIn('schema/control.json')];
    const judge = (frame: { type: string }) => {
      const schema = frame.type.startsWith('control_') ? control : message;
      return accepts(schema, frame, schema.$defs);
    };
    for (const { frame } of recordings.flatMap(({ lines }) => lines)) expect(judge(frame), frame.type).toBe(true);
    for (const [name, example] of Object.entries(messages)) {
      const frame = example as { type: string };
      expect(judge({ ...frame, new_field: 1 } as { type: string }), name).toBe(true);
      for (const field of Object.keys(frame).filter((key) => key !== 'type' && key !== 'subtype')) {
        expect(judge({ ...frame, [field]: Symbol('wrong') }), `${name}.${field}`).toBe(false);
      }
    }
    expect(judge({ type: 'from_the_future' })).toBe(true);
  });

  it('accept the inputs of tools by the name of the tool', () => {
    const schema = schemaIn('schema/tool-inputs.json');
    expect(accepts(schema, toolInputs, schema.$defs)).toBe(true);
    expect(accepts(schema, { Read: { file_path: 5 } }, schema.$defs)).toBe(false);
    expect(accepts(schema, { Read: { file_path: '/a', bogus: 1 } }, schema.$defs)).toBe(false);
  });

  it('D3 refuse in an editor what loading a settings file refuses', () => {
    const schema = schemaIn('schema/settings.json');
    const judge = (value: object) => accepts(schema, value, schema.$defs);
    const hook = (more: object) => ({ hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [more] }] } });
    const rule = (one: unknown) => ({ permissions: { deny: [one] } });
    const taken = [
      hook({ type: 'command', command: './a', timeout: 5, onFailure: 'deny' }),
      hook({ type: 'http', url: 'https://a.example/' }),
      { hooks: { FileChanged: [] } },
      rule('Bash(rm:*)'),
      rule({ tool: 'Bash', command: 'rm' }),
    ];
    const refused = [
      { hooks: { PreTooluse: [] } },
      hook({ type: 'comand', command: './a' }),
      hook({ type: 'command' }),
      hook({ type: 'command', command: ' ' }),
      hook({ type: 'http', url: 'a' }),
      hook({ type: 'prompt' }),
      hook({ type: 'command', command: './a', timeout: 0 }),
      hook({ type: 'command', command: './a', onFailure: 'block' }),
      rule('Bash(rm'),
      rule(''),
      rule({ command: 'rm' }),
      rule({ tool: 'Bash', comand: 'rm' }),
    ];
    expect(taken.filter((value) => !judge(value))).toEqual([]);
    expect(refused.filter(judge)).toEqual([]);
  });
});
