import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../src/engine/index.js';
import { createScriptedModel } from '../../src/engine/model/scripted.js';
import { query } from '../../src/sdk/index.js';
import { PATH_ENV, scratch, user } from '../engine/kit.js';

describe('requests of a Query', () => {
  it('readFile, seedReadState and applyFlagSettings reach the session', async () => {
    const cwd = scratch();
    const file = join(cwd, 'a.txt');
    writeFileSync(file, 'old');
    const input = { file_path: 'a.txt', old_string: 'old', new_string: 'new' };
    const provider = createScriptedModel([{ toolUse: { name: 'Edit', input, id: 't' } }, 'done']);
    const begin = Promise.withResolvers<void>();
    const prompt = (async function* () {
      await begin.promise;
      yield user('go');
    })();
    const run = query({ prompt, options: { cwd, env: PATH_ENV, heddle: { provider, store: createMemoryStore() } } });
    expect(await run.readFile('a.txt', { maxBytes: 2 })).toMatchObject({ contents: 'ol', absPath: file, lossy: true });
    expect(await run.readFile('a.txt', { encoding: 'base64' })).toMatchObject({ contents: 'b2xk' });
    await expect(run.readFile('/etc/hostname')).rejects.toMatchObject({ code: 'request_failed' });
    await run.seedReadState('a.txt', Math.ceil(statSync(file).mtimeMs));
    await run.applyFlagSettings({ model: 'haiku', permissions: { allow: ['Edit'] } });
    await expect(run.applyFlagSettings({ permissions: { allow: ['Edit('] } })).rejects.toMatchObject({
      code: 'invalid_settings',
    });
    begin.resolve();
    for await (const message of run) {
      if (message.type === 'result') expect(message).toMatchObject({ subtype: 'success', permission_denials: [] });
    }
    expect(provider.requests[0]?.body.model).toContain('haiku');
    expect(readFileSync(file, 'utf8')).toBe('new');
  });
});
