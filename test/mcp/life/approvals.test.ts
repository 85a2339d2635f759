import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createToolApprovals } from '../../../src/engine/mcp/tool-approvals.js';
import { systemClock } from '../../../src/protocol/plain.js';
import { removeFolder } from '../../remove-folder.js';

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-approvals-'));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

function open(configDir: string) {
  const warnings: string[] = [];
  const approvals = createToolApprovals({
    configDir,
    clock: systemClock,
    logger: (_, text) => void warnings.push(text),
  });
  return { ...approvals, warnings };
}

const kept = { kept: true };
const passing = { kept: false };
const fmt = (hash: string) => ({ name: 'mcp__srv__fmt', hash: `sha256:${hash}` });

describe('what a rule allows of a tool', () => {
  it('holds for what the tool was when it was first allowed, in later sessions too', async () => {
    const folder = scratch();
    expect(await open(folder).stillHolds(fmt('old'), kept)).toBe(true);
    const later = open(folder);
    expect(await later.stillHolds(fmt('new'), kept)).toBe(false);
    expect(await later.stillHolds(fmt('old'), kept)).toBe(true);
    expect(statSync(join(folder, 'mcp-tools.json')).mode & 0o777).toBe(0o600);
  });

  it('holds for another one, too, once someone has said always to it', async () => {
    const folder = scratch();
    await open(folder).stillHolds(fmt('old'), kept);
    const now = open(folder);
    expect(await now.stillHolds(fmt('new'), kept)).toBe(false);
    await now.approve(fmt('new'), kept);
    expect(await now.stillHolds(fmt('new'), kept)).toBe(true);
    const later = open(folder);
    expect(await later.stillHolds(fmt('new'), kept)).toBe(true);
    expect(await open(folder).stillHolds(fmt('old'), kept)).toBe(true);
    expect(await open(folder).stillHolds(fmt('third'), kept)).toBe(false);
  });

  it('a rule of the call lasts as long as the session, and so does what it is tied to', async () => {
    const folder = scratch();
    const now = open(folder);
    expect(await now.stillHolds(fmt('old'), passing)).toBe(true);
    expect(await now.stillHolds(fmt('new'), passing)).toBe(false);
    await now.approve(fmt('new'), passing);
    expect(await now.stillHolds(fmt('new'), passing)).toBe(true);
    expect(await open(folder).stillHolds(fmt('new'), passing)).toBe(true);
    expect(statSync(join(folder, 'mcp-tools.json'), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('another process may say always meanwhile', async () => {
    const folder = scratch();
    await open(folder).stillHolds(fmt('old'), kept);
    const now = open(folder);
    expect(await now.stillHolds(fmt('new'), kept)).toBe(false);
    await open(folder).approve(fmt('new'), kept);
    expect(await now.stillHolds(fmt('new'), kept)).toBe(true);
  });

  it('a record that cannot be read lets nothing through', async () => {
    const folder = scratch();
    writeFileSync(join(folder, 'mcp-tools.json'), '{ "tools": ');
    await expect(open(folder).stillHolds(fmt('old'), kept)).rejects.toMatchObject({ code: 'invalid_settings' });
    expect(await open(folder).stillHolds(fmt('old'), passing)).toBe(true);
  });

  it('what cannot be kept holds for the session, and is warned of', async () => {
    const now = open('/dev/null/config');
    expect(await now.stillHolds(fmt('old'), kept)).toBe(true);
    expect(await now.stillHolds(fmt('new'), kept)).toBe(false);
    expect(now.warnings).toHaveLength(1);
  });

  it('versions without end are forgotten, the oldest first', async () => {
    const folder = scratch();
    const now = open(folder);
    const tool = (hash: string) => ({ name: 'mcp__s__t', hash });
    expect(await now.stillHolds(tool('a'), kept)).toBe(true);
    for (let at = 0; at < 20; at += 1) await now.approve(tool(`h${at}`), kept);
    const record = JSON.parse(readFileSync(join(folder, 'mcp-tools.json'), 'utf8')) as {
      tools: Record<string, string[]>;
    };
    expect(Object.entries(record.tools)).toEqual([['mcp__s__t', Array.from({ length: 16 }, (_, at) => `h${at + 4}`)]]);
  });
});
