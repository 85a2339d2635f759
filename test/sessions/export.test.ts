import { describe, expect, it } from 'vitest';
import type { ExportedSession } from '../../src/engine/session-functions/export.js';
import { toFenced, toInline, toProse } from '../../src/engine/session-functions/prose.js';
import { createPlace, functions, LogMaker } from './functions-kit.js';

describe('exportSession', () => {
  it('Markdown that a person can read', async () => {
    const place = createPlace();
    const maker = new LogMaker({ sessionId: '11111111-2222-4333-8444-555555555555' })
      .prompt('context', { isMeta: true })
      .turn('What is in here?\nPlease *look*.', '# Files\n\nLet me see.', {
        type: 'tool_use',
        id: 't1',
        name: 'Bash',
        input: { command: 'ls -la' },
      })
      .result('t1', 'a.txt\nb.txt')
      .answer('Two files: `a<b>.txt` & <b>b</b>.')
      .boundary()
      .prompt('It was about files.', { isCompactSummary: true })
      .line({ type: 'custom-title', customTitle: 'Files *here*' });
    place.write(maker);
    const text = await functions.exportSession(place.parts, maker.sessionId);
    expect(text.replace(/Last change: .*/, 'Last change: then')).toMatchInlineSnapshot(`
      "# Files \\*here\\*

      - Session: 11111111-2222-4333-8444-555555555555
      - Folder: /home/user/shop
      - Begun: 2026-01-02 00:00 UTC
      - Last change: then

      ## You

      > What is in here?
      > Please *look*.

      ## Assistant

      ### Files

      Let me see.

      <details>
      <summary>Bash: ls -la</summary>

      \`\`\`json
      {
        "command": "ls -la"
      }
      \`\`\`

      \`\`\`
      a.txt
      b.txt
      \`\`\`

      </details>

      Two files: \`a<b>.txt\` & &lt;b>b&lt;/b>.

      ---

      _Conversation compacted_

      <details>
      <summary>Summary of what was said before</summary>

      It was about files.

      </details>

      ## Costs

      | Model | Calls | Input tokens | Output tokens | Cost |
      | --- | ---: | ---: | ---: | ---: |
      | m | 2 | 20 | 10 | $4.0000 |

      Total: \\$4.0000
      "
    `);
  });

  it('JSON with messages, info and costs', async () => {
    const place = createPlace();
    const sessionId = place.write(new LogMaker().turn('one', 'first'));
    const exported = JSON.parse(
      await functions.exportSession(place.parts, sessionId, { format: 'json' }),
    ) as ExportedSession;
    expect(exported).toMatchObject({
      format: 'heddle-session',
      version: 1,
      info: { sessionId, summary: 'one' },
      messages: await functions.getSessionMessages(place.parts, sessionId),
      costs: [{ model: 'm', calls: 1, inputTokens: 10, outputTokens: 5, usd: 2 }],
    });
    const plain = await functions.exportSession(place.parts, sessionId, { format: 'json' });
    expect(plain).toBe(`${JSON.stringify(exported, null, 2)}\n`);
    await expect(functions.exportSession(place.parts, sessionId, { format: 'pdf' as 'json' })).rejects.toMatchObject({
      code: 'invalid_config',
    });
  });

  it('costs that were paid elsewhere or twice do not count, and unknown ones are said to be', async () => {
    const place = createPlace();
    const maker = new LogMaker().turn('one', 'first');
    maker.life({
      kind: 'aside',
      purpose: 'x',
      messageId: 'm2',
      model: 'free',
      usage: { input_tokens: 1, output_tokens: 1 },
      microCents: null,
    });
    maker.life({
      kind: 'step',
      messageId: 'm3',
      model: 'm',
      stopReason: null,
      usage: { input_tokens: 9, output_tokens: 9 },
      microCents: 9,
      forked: true,
    });
    const text = await functions.exportSession(place.parts, place.write(maker));
    expect(text).toContain('| m | 1 | 10 | 5 | $2.0000 |\n| free | 1 | 1 | 1 | unknown |');
    expect(text).toContain('Total: \\$2.0000, without what has no known price');
  });
});

describe('text that cannot break out', () => {
  const HOSTILE = [
    '```\nnever closed',
    '~~~~\n```',
    '- a list\n\n      ```\n      code\n',
    '> ```\n> quoted',
    '1. ```js\n   x',
    '</details><script>alert(1)</script>',
    '<!-- and all is gone',
    '\\`<img src=x>\\`',
    'one ` tick\n` <i> ` and more',
    '# You\n## Costs',
    'a\r\nb\u2028c\u001b[31m',
    '1. a\n   ```\n<script>alert(1)</script>\n   ```',
    '> - a\n  ~~~\n<script>alert(1)</script>\n  ~~~',
    'You\n---\n\n> forged',
    '> You\n> ==\n\n- Costs\n  -',
    '- # You\n> 1. ## Costs',
    'a\u202Eb\u2066\u200f',
  ];

  it.each(HOSTILE)('prose: %j', (text) => {
    const shown = toProse(text);
    // Fences outside of containers pair up, and there are none elsewhere.
    let open: string | undefined;
    for (const line of shown.split('\n')) {
      const run = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      if (open === undefined && run !== undefined) open = run;
      else if (open !== undefined && run?.startsWith(open) && line.trim() === run) open = undefined;
      else if (open === undefined) {
        expect(line.replace(/`+[^`]*`+/g, '')).not.toMatch(/<[a-z/!]|^[\s>*+\-\d.)]*#{1,2} /i);
        expect(line).not.toMatch(/^[\s>]*(=+|-+)\s*$/);
      }
    }
    expect(open).toBeUndefined();
    // oxlint-disable-next-line no-control-regex
    expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u2028\p{Bidi_Control}]/u);
  });

  it('a fence inside of a list is shown as it was written, one beside a list is code', () => {
    expect(toProse('1. a\n   ```\n<b>\n   ```')).toBe('````markdown\n1. a\n   ```\n<b>\n   ```\n````\n');
    expect(toProse('- a\n\n```\n- <b>\n```')).toBe('- a\n\n```\n- <b>\n```\n');
    expect(toProse(' ```\n<b>\n ```')).toBe('```\n<b>\n ```\n');
    expect(toProse('a\n===\n\n| b |\n| --- |')).toBe('a\n\\===\n\n| b |\n| --- |\n');
  });

  it('a fence is longer than any inside', () => {
    expect(toFenced('a ````` b\n```\n')).toBe('``````\na ````` b\n```\n``````\n');
  });

  it('what is code on a line stays as it is, the rest is no HTML', () => {
    expect(toProse('use `Map<string>` or Map<string> and `` `<a>` ``')).toBe(
      'use `Map<string>` or Map&lt;string> and `` `<a>` ``\n',
    );
    expect(toProse('# Big\n### Small\n```js\na < b; // <x>\n```')).toBe(
      '### Big\n##### Small\n```js\na < b; // <x>\n```\n',
    );
  });

  it('a title is one line of plain words', () => {
    expect(toInline('a\n# b <i>*x*</i> \u001b[1m')).toBe('a \\# b \\<i\\>\\*x\\*\\</i\\> \\\\x1b\\[1m');
  });
});
