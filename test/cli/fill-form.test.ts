import { describe, expect, it } from 'vitest';
import { fillForm } from '../../src/cli/fill-form.js';

/** Puts a form to a person who types these lines. */
async function fill(form: object, ...lines: (string | undefined)[]) {
  const rest = [...lines];
  let shown = '';
  const result = await fillForm(
    { mcp_server_name: 'shop', message: 'Where to?', mode: 'form', ...form },
    {
      colour: false,
      cwd: '/',
      write: (text) => {
        shown += text;
      },
      readLine: async (prompt) => {
        if (rest.length === 0) throw new Error(`nobody was to be asked again: ${prompt}`);
        shown += prompt;
        return rest.shift();
      },
    },
  );
  expect(rest).toEqual([]);
  return { result, shown };
}

const requested_schema = {
  type: 'object',
  properties: {
    street: { type: 'string', title: 'Street' },
    floor: { type: 'integer', default: 1 },
    gift: { type: 'boolean' },
    size: { type: 'string', enum: ['S', 'M'] },
    days: { type: 'array', items: { anyOf: [{ const: 'Mon' }, { const: 'Tue' }] } },
  },
  required: ['street', 'size'],
};

describe('a form of a server at the terminal', () => {
  it('is filled field by field, shown once more and sent', async () => {
    const { result, shown } = await fill({ requested_schema }, 'y', 'Loom Lane', '', 'no', 'M', 'Mon, Tue', 'y');
    expect(result).toEqual({
      action: 'accept',
      content: { street: 'Loom Lane', floor: 1, gift: false, size: 'M', days: ['Mon', 'Tue'] },
    });
    expect(shown).toContain('MCP server shop asks\n  Where to?');
    expect(shown).toContain('to shop: {"street":"Loom Lane"');
  });

  it('asks again for what does not fit, and gives up after a while', async () => {
    const good = await fill({ requested_schema }, 'y', '', 'Lane', 'x', '2', '', 'XL', 'S', '', 'y');
    expect(good.result).toEqual({ action: 'accept', content: { street: 'Lane', floor: 2, size: 'S' } });
    expect(good.shown).toContain('It is needed.');
    expect(good.shown).toContain('It must be a whole number.');
    expect(good.shown).toContain('It must be one of S, M.');
    expect((await fill({ requested_schema }, 'y', '', '', '', '')).result).toEqual({ action: 'cancel' });
  });

  it.each([
    [['n'], 'decline'],
    [[undefined], 'cancel'],
    [['y', 'Lane', '', '', 'S', '', 'n'], 'cancel'],
  ])('%j means %s', async (lines, action) => {
    expect((await fill({ requested_schema }, ...lines)).result).toEqual({ action });
  });

  it('a page is shown whole and never opened', async () => {
    const url = 'https://evil.example/login?next=\u001b[2J';
    const { result, shown } = await fill({ mode: 'url', url }, 'y');
    expect(result).toEqual({ action: 'accept' });
    expect(shown).toContain('https://evil.example/login');
    expect(shown).not.toContain('\u001b');
    expect((await fill({ mode: 'url', url }, 'n')).result).toEqual({ action: 'decline' });
  });
});
