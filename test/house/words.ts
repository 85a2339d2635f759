import type { SourceFile } from './imports.js';

/** What no file here may say. The patterns are spelled so that they do not match themselves. */
const FORBIDDEN: ReadonlyArray<{ what: string; pattern: RegExp }> = [
  { what: 'a path of one machine', pattern: /(?<![\w.~$}-])\/(?:work|root)\/\w/ },
  { what: 'a path of one machine', pattern: /(?<![\w.~$}-])\/(?:home|Users)\/(?!(?:user|me)\b)[\w.-]+/ },
  { what: 'a path of one machine', pattern: /\b[A-Z]:\\Users\\\w/ },
  { what: 'a package registry', pattern: /\bregistry\.[\w-]+\.(?:org|com|net|io|dev|local|internal)\b/i },
  { what: 'a package registry', pattern: /https?:\/\/[\w.-]*(?:artifactory|verdaccio|nexus|npmmirror|jfrog)\b/i },
  { what: 'a resolved package address', pattern: /"resolved"[:] "http/ },
  { what: 'its maker', pattern: /\bas an (?:AI|artificial intelligence)\b/i },
  {
    what: 'its maker',
    pattern: /\b(?:written|generated|made|built|created) (?:by|with) (?:an? )?(?:AI|LLM|Claude|GPT|Copilot|Cursor)\b/i,
  },
  { what: 'its maker', pattern: /^co-authored-by[:]/im },
  {
    what: 'a document that is not here',
    pattern: /\bseeds?[ /]00\d\b|\bseeds\/|\b(?:design|requirements|facts)\.md\b/i,
  },
  {
    what: 'a secret',
    pattern: /\bsk-ant-(?:api|oat)\d\d-[\w-]{40,}|\bgh[pousr]_[A-Za-z0-9]{36}\b|-----BEGIN [A-Z ]*PRIVATE KEY/,
  },
];

/** The project speaks of itself alone: not of the machine it was made on, nor of who made it. */
export function checkWords(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) =>
    FORBIDDEN.flatMap(({ what, pattern }) => {
      const match = pattern.exec(text);
      if (match === null) return [];
      const line = text.slice(0, match.index).split('\n').length;
      return [`${path}:${line}: names ${what} (${match[0].trim()})`];
    }),
  );
}
