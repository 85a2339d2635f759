/** Lines in which something else runs, is read or written than the words at hand say, and what becomes of them. */
import { expect, it } from 'vitest';
import { judgeLine, type Rules } from './judge-line.js';

/** Everything is allowed but one command. */
const RM = { allow: ['Bash(*)'], deny: ['Bash(rm:*)'] };
/** No rules: only the list of what is harmless. */
const NO = {};
/** Everything is allowed but one file. */
const ENV = { allow: ['Bash(*)'], deny: ['Read(./.env)'] };
const GIT = { allow: ['Bash(git:*)'] };

const D = 'deny';
/** Asked about, or denied. */
const A = 'ask';
const O = 'allow';

it.each<[string, string, Rules]>([
  // `~+` is what PWD holds
  ['PWD=/etc; cat ~+/passwd', A, NO],
  ['for PWD in /etc; do cat ~+/passwd; done', A, NO],
  ['PWD=/repo/sub/..; cat ~+/.env', D, ENV],
  ['cd sub && cat ~+/a', O, NO],
  // a file of the project says what runs
  ...['mvn -v', 'mvn --version', 'pytest --version', 'jest --version', 'poetry -V'].map(
    (line): [string, string, Rules] => [line, A, NO],
  ),
  ['node --version', O, NO],
  ['npm test --userconfig=x', A, { allow: ['Bash(npm test:*)'] }],
  ['npm run build --globalconfig x', A, { allow: ['Bash(npm run *)'] }],
  ['npm install --global x', O, { allow: ['Bash(npm:*)'] }],
  // what makes a repository of a folder
  ['echo x > HEAD', A, { mode: 'acceptEdits' }],
  ['mkdir -p objects refs && echo x > config', O, { mode: 'acceptEdits' }],
  ['touch sub/HEAD', A, { mode: 'acceptEdits' }],
  // pieces of names
  ['find src -type f | xargs -d x cat', A, NO],
  ['find src -type f | xargs --delimiter=x cat', A, NO],
  ["find src -type f | xargs -d '\\n' cat", O, NO],
  // one letter of a long flag is enough
  ["split --f='rm x' a", D, RM],
  ["git clone --u='rm x' . y", D, RM],
  ['git clone --u ./x . y', A, GIT],
  // other names of setarch, and other wrappers
  ...'i386 i486 i586 i686 x86_64 aarch64 uname26 fakeroot-sysv fakeroot-tcp memusage sotruss fstab-decode'
    .split(' ')
    .map((name): [string, string, Rules] => [`${name} rm x`, D, RM]),
  ["dpkg-architecture -c 'rm x'", D, RM],
  ['git merge-index rm -a', D, RM],
  ['git merge-index -o -q rm -a', D, RM],
  ["git remote-ext a 'rm x'", D, RM],
  ['git remote-ext a ./x', A, GIT],
  // limits of the parser, and of the number of commands
  [`${'{ '.repeat(300)}rm x; ${'}; '.repeat(299)}}`, D, RM],
  [`${'( '.repeat(600)}rm x${' )'.repeat(600)}`, D, RM],
  [`${'( '.repeat(600)}cat .env${' )'.repeat(600)}`, D, ENV],
  [`${Array.from({ length: 420 }, (_, at) => `echo ${at}`).join('; ')}; cat .env`, D, ENV],
  // what git is told to open or to write
  ['git commit -t .env', D, ENV],
  ['git commit --allow-empty -t .env', D, ENV],
  ['git annotate -b .env', D, ENV],
  ['git commit -m .env', O, ENV],
  ['git stash -p', A, ENV],
  ['git stash -p src', A, ENV],
  ['git stash', O, ENV],
  ['git log --check', A, ENV],
  ['git log --dd', A, ENV],
  ['git bisect visualize -p', A, ENV],
  ['git bisect view -p', A, ENV],
  ['git am --show-current-patch=diff', A, ENV],
  ['git rebase --show-current-patch', A, ENV],
  ['git notes add -C abc1234', A, ENV],
  ["git for-each-ref --format='%(raw)' refs/tags/t", A, ENV],
  ["git tag -l --format='%(raw)'", A, ENV],
  ["git branch --format='%(raw)'", A, ENV],
  ['git read-tree --index-output=../out HEAD', A, GIT],
  ['git credential-store --file ../out store', A, GIT],
  ['git apply --build-fake-ancestor=../out a.patch', A, GIT],
])('%s: %s', (command, expected, rules) => {
  const verdict = judgeLine(command, rules);
  expect(expected === 'ask' && verdict === 'deny' ? 'ask' : verdict).toBe(expected);
});
