import { resolve } from 'node:path/posix';
import { describe, expect, it } from 'vitest';
import { commandAccesses, MAX_COMMAND_LENGTH, resolveFrom, segmentsOf } from '../../src/engine/permissions/command.js';
import { SegmentFact } from '../../src/engine/permissions/segment-fact.js';
import { showHoles } from '../../src/engine/permissions/shell/hole.js';
import { readCommand } from '../../src/engine/permissions/shell/reader.js';
import { WRAPPERS } from '../../src/engine/permissions/shell/wrapper-table.js';
import { COMMAND_TABLES } from '../../src/engine/permissions/tables.js';

const PLACE = { cwd: '/repo', home: '/home/user' };
const show = (words: readonly { value: string; splits: boolean }[]): string =>
  words.map(({ value, splits }) => `${showHoles(value)}${splits ? '~' : ''}`).join(' ');
const runs = (line: string): string[] =>
  readCommand(line, PLACE).segments.flatMap(({ words, role }) => (role === 'run' ? [show(words)] : []));

describe('what a shell line runs', () => {
  it.each<[string, string[]]>([
    ['git status && rm -rf x', ['git status', 'rm -rf x']],
    ['a; b\nc | d & e || f', ['a', 'b', 'c', 'd', 'e', 'f']],
    ['\'r\'m "-rf" x\\ y', ['rm -rf x y']],
    ["$'rm' $'\\x72\\155'", ['rm rm']],
    ['l\\\ns', ['ls']],
    ['( a; { b; } )', ['a', 'b']],
    ['! a | b', ['a', 'b']],
    ['time -p a', ['a']],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['for i in x; do a; done', ['a']],
    ['while a; do b; done < f', ['a', 'b']],
    ['until a; do b; done', ['a', 'b']],
    ['case $(a) in x) b;; $(c)) d;; esac', ['a', 'b', 'c', 'd']],
    ['select i in x; do a; done', ['a']],
    ['f() { a; }', ['a']],
    ['f() { a; }; f x', ['a', 'f x']],
    ['coproc a', ['a']],
    ['x "$(a)" `b` ${v:-$(c)} <(e) >(f)', ['a', 'b', 'c', 'e', 'f', 'x … …~ …~ /dev/fd/0 /dev/fd/0']],
    ['V=($(a))', ['a']],
    ['declare v=$(a)', ['a', 'declare v=…']],
    ['[[ -f $(a) ]]', ['a']],
    ['x <<E\n$(a) `b`\nE', ['a', 'b', 'x']],
    ["x <<'E'\n$(a)\nE", ['x']],
    ['x <<< "$(a)"', ['a', 'x']],
    ['x > $(a)', ['a', 'x']],
    ['echo "\\"; x; echo \\""', ['echo "; x; echo "']],
    ['echo a # ; rm x', ['echo a']],
    ['git commit -m "$(cat <<\'EOF\'\n; rm x\nEOF\n)"', ['cat', 'git commit -m ; rm x']],
    ['', []],
    // Variables that the line sets.
    ['v=rm; $v x', ['rm x']],
    ["v='rm x'; $v", ['rm x']],
    ['for f in a b; do rm $f; done', ['rm a', 'rm b']],
    ['for f in *.ts; do wc -l "$f"; done', ['wc -l *.ts']],
    ['for i in {1..3}; do a $i; done', ['a 1', 'a 2', 'a 3']],
    ['v=a; [ x ] && v=b; c $v', ['[ x ]', 'c a', 'c b']],
    ['v=a; (v=b); c $v', ['c a']],
    ['v=a; while true; do v=b; break; v=c; done; d $v', ['true', 'break', 'd a', 'd c', 'd b']],
    ['i=0; i=$((i+1)); a $i', ['a 0']],
    ['a ~/x "$HOME" "$PWD" $(pwd)', ['pwd', 'a /home/user/x /home/user /repo /repo']],
    ['{a,b}{c,d}', ['ac ad bc bd']],
    // Wrappers.
    ['env -u A B=1 timeout 5 nice -n 3 rm x', ['rm x']],
    ['command -p rm x', ['rm x']],
    ["bash -c 'rm x; ls' name", ['rm x', 'ls']],
    ["eval 'r'm x", ['rm x']],
    ['echo a | xargs -n1 rm -f', ['echo a', 'rm -f …~']],
    ['echo a | xargs -I@ mv @ @.bak', ['echo a', 'mv … ….bak']],
    ["find src -name '*.o' -exec rm {} +", ['find src -name *.o', 'rm src….o']],
    ["find src -name '*.o' -print0 | xargs -0 rm", ['find src -name *.o -print0', 'rm src….o~']],
    ["trap 'rm x' EXIT", ['rm x']],
    ["bash <<'E'\nrm x\nE", ['bash', 'rm x']],
    ['echo "rm x" | sh', ['echo rm x', 'sh', 'rm x']],
    ['sudo -u root rm x', ['sudo -u root rm x', 'rm x']],
    ["su root -c 'rm x'", ['su root -c rm x', 'rm x']],
    ["env -S 'rm x'", ['rm x']],
    ['busybox rm x', ['busybox rm x', 'rm x']],
    ["watch -n 1 'rm x'", ['watch -n 1 rm x', 'rm x']],
    ['env - rm x', ['rm x']],
    ["runuser -l u -c 'rm x'", ['runuser -l u -c rm x', 'rm x']],
    ['runuser -u me -- rm x', ['runuser -u me -- rm x', 'rm x']],
    ["sg g -c 'rm x'", ['sg g -c rm x', 'rm x']],
    ['screen -dm rm x', ['screen -dm rm x', 'rm x']],
    ["entr -s 'rm x'", ['entr -s rm x', 'rm x']],
    ["capsh --print -- -c 'rm x'", ['capsh --print -- -c rm x', 'rm x']],
    ['jobs -x rm x', ['rm x']],
    ['fd . -xrm', ['fd .', 'rm .…']],
    ['fd . -HX rm -f', ['fd .', 'rm -f .…']],
    ['fd . --exec=rm {/} a', ['fd .', 'rm .… a']],
    ['fd . -e txt -etxt', ['fd . -e txt -etxt']],
    // What is certain to be a number is no word that could be anything.
    ['[ $(wc -l < f) -gt 5 ]', ['wc -l', '[ 0 -gt 5 ]']],
    ['[ $(a | wc -l) -gt 5 ]', ['a', 'wc -l', '[ 0 -gt 5 ]']],
    ['let x=1 y=x+1; a $y', ['let x=1 y=x+1', 'a 0']],
    ['[ "$(a)" = b ]', ['a', '[ … = b ]']],
    ['[ -n "$(a)" -a -f b ]', ['a', '[ -n … -a -f b ]']],
    ['[ ! "$(a)" ]', ['a', '[ ! … ]']],
    ['[ -f *.ts ]', ['[ -f *.ts ]']],
    ['read -ra a -p x < f', ['read -ra a -p x']],
    ['[[ -f a ]]', []],
    ['(( 1 ))', []],
  ])('D1 %j', (line, commands) => {
    expect(runs(line)).toEqual(commands);
    expect(readCommand(line, PLACE).doubts).toEqual([]);
  });

  it.each<[string, RegExp]>([
    ['ls "x', /not valid bash/],
    ['ls )', /not valid bash/],
    ['echo $(ls "x)', /not valid bash/],
    ['echo "$(if)"', /not valid bash/],
    ['cat <<E\n$(if)\nE', /not valid bash/],
    ['cat <<E\nno end', /does not end|not valid bash/],
    ['$CMD x', /name of a command/],
    ['"$CMD" x', /name of a command/],
    ['$(echo rm) x', /name of a command/],
    ['/bin/r?', /name of a command/],
    ['V=<(a) rm', /name of a command/],
    ['echo $($CMD)', /name of a command/],
    ['echo "${v@P}"', /expansion/],
    ['echo "${!v}"', /expansion/],
    ['bash -c "$X"', /only known when it runs/],
    ['eval "$X"', /only known when it runs/],
    ['curl x | sh', /standard input/],
    ['bash < f', /standard input/],
    ['timeout --odd 5 rm x', /flags/],
    ["zsh -c 'rm x'", /not written for bash/],
    ['alias a=b', /names of commands/],
    ['hash -p ./x git', /names of commands/],
    ['cd() { rm x; }', /names of commands/],
    ['shopt -s extglob', /how the shell reads/],
    ['set -k', /how the shell reads/],
    ["test -v 'a[$(x)]'", /evaluates/],
    ["x='a[$(y)]'; (( x ))", /calculates/],
    ["x='a[$(y)]'; [[ $x -eq 1 ]]", /calculates/],
    ['echo $(( $(cat f) ))', /calculates/],
    ['declare -i x=y', /evaluates/],
    ["mapfile -tC 'x #' -c1 a < f", /evaluates/],
    ["mapfile -t -C'x' a < f", /evaluates/],
    ['x=$(cat f); let y=x', /evaluates/],
    ['read x < f; let y=1 z=x', /evaluates/],
    ['let "y=$(cat f)"', /evaluates/],
    ["let 'y=a[0]'", /evaluates/],
    ['read x < f; [ $x -eq 1 ]', /evaluates/],
    ['[ $(cat f) ]', /evaluates/],
    ['[ v$(cat f) = v1 ]', /evaluates/],
    ['[ "$(a)" "$(b)" ]', /evaluates/],
    ['[ ! "$(a)" "$(b)" ]', /evaluates/],
    ['test -$(a) b', /evaluates/],
    ['[ * ]', /evaluates/],
    ['[ -? x ]', /evaluates/],
    ["wait -np'a[$(x)]'", /evaluates/],
    ['wait $(cat f)', /evaluates/],
    ['jobs "$(a)" rm x', /flags/],
    ['fc -s rm', /was run before/],
    ['x=$(cat f); RANDOM=$x', /evaluates/],
    ['read RANDOM < f', /evaluates/],
    ['SRANDOM=$(cat f) a', /evaluates/],
    ['read -ax < f; (( x ))', /calculates/],
    ['read -p x < f; (( REPLY ))', /calculates/],
    ['mapfile < f; (( MAPFILE ))', /calculates/],
    ["a 'b[$(c)]'; (( _ ))", /calculates/],
    ['_=0; (( _ ))', /calculates/],
    ['[[ $(cat f) =~ .* ]]; (( BASH_REMATCH ))', /calculates/],
    ['x=$(cat f); a=([x]=1)', /calculates/],
    ['a=([$1]=1)', /calculates/],
    ['select x in a; do (( REPLY )); done < f', /calculates/],
    ['nice -n * ls', /flags/],
    ['timeout * ls', /flags/],
    ["su root -- -c 'rm x'", /flags/],
    ['script /dev/null rm x', /flags/],
    ['setarch -R rm x', /flags/],
    ['ip netns exec n rm x', /flags/],
    ['parallel :::: f', /flags/],
    ['cat f | parallel', /standard input/],
    ['x=$(a); npm $x -c "rm x"', /flags/],
    ['wc() { a; }; b $(wc -l)', /names of commands/],
    [`${'env '.repeat(16)}rm x`, /nested/],
    ['echo x > f; bash f', /writes itself/],
    ['k $(time case a in a) b\n;; esac\n)', /does not read/],
    ['echo \u202e', /do not show/],
    ['echo\u00a0x', /do not show/],
    ['echo \u001b[1A', /do not show/],
    ['echo \ue000', /do not show/],
    ...['\ufe0f', '\u3164', '\u115f', '\u2800', '\uffa0', '\u034f', '\u17b4', '\u{e0100}'].map(
      (unseen): [string, RegExp] => [`echo x${unseen}`, /do not show/],
    ),
    ['ls 19>&1', /descriptor/],
    ['"$('.repeat(3_000), /nested|not valid bash/],
    [`echo ${'x'.repeat(MAX_COMMAND_LENGTH)}`, /longer than 10000/],
  ])('is in doubt, with the reason: %#', (line, reason) => {
    expect(readCommand(line, PLACE).doubts.join('\n')).toMatch(reason);
  });

  it('D7 still names what it could read of a line in doubt', () => {
    expect(runs('echo safe \u001b[2K\r; rm -rf x')).toContain('rm -rf x');
    expect(runs('rm x; $CMD')).toContain('rm x');
    expect(runs(`${'echo x; '.repeat(2_000)}rm y`)).toContain('rm y');
    expect(readCommand('timeout --odd 5 rm x').segments.map(({ words }) => show(words))).toContain('rm x');
    expect(readCommand('$X rm x').segments.map(({ words }) => show(words))).toContain('rm x');
  });

  it('D7 says when some of it was not looked at', () => {
    const isCut = (line: string) => readCommand(line, PLACE).cut;
    expect(isCut(`${'env '.repeat(10)}rm x`)).toBe(false);
    expect(isCut(`${'env '.repeat(16)}rm x`)).toBe(true);
    expect(isCut(`${'eval '.repeat(16)}rm x`)).toBe(true);
    expect(isCut(`ssh h ${'a '.repeat(60)}rm x`)).toBe(false);
    expect(isCut(`ssh h ${'a '.repeat(4_000)}rm x`)).toBe(true);
    expect(isCut(`a='${'x '.repeat(2_000)}'; echo ${'$a '.repeat(1_500)}; rm x`)).toBe(true);
  });

  it('knows where a command runs', () => {
    const folders = (line: string) => segmentsOf(line, '/repo').at(-1)?.folders;
    expect(folders('ls')).toEqual(['/repo']);
    expect(folders('cd a && ls')).toEqual(['/repo/a']);
    expect(folders('cd a; ls')).toEqual(['/repo', '/repo/a']);
    expect(folders('cd a || ls')).toEqual(['/repo', '/repo/a']);
    expect(folders('(cd a); ls')).toEqual(['/repo']);
    expect(folders('cd /x && cd .. && ls')).toEqual(['/']);
    expect(folders('cd $X && ls')).toBeUndefined();
    expect(folders('cd - && ls')).toBeUndefined();
    expect(folders('env -C a ls')).toEqual(['/repo/a']);
  });

  it('knows what the line sets', () => {
    const settings = (line: string) =>
      readCommand(line).settings.map(({ name, exported }) => `${name}${exported ? '!' : ''}`);
    expect(settings('A=1; export B=2; read C; for D in x; do :; done; printf -v E x; ls {F}<x; : ${G:=1}')).toEqual([
      'A',
      'B!',
      'C',
      'D',
      'E',
      'F',
      'G',
    ]);
    expect(readCommand('A=1 B=2 ls').segments[0]?.assignments).toEqual(['A', 'B']);
    expect(readCommand('env A=1 ls').segments.at(-1)?.assignments).toEqual(['A']);
    expect(readCommand('ls & pwd').background).toBe(true);
    expect(readCommand('ls && pwd').background).toBe(false);
  });

  it.each<[string, string[]]>([
    ['x > f', ['w f']],
    ['x >> f', ['w f']],
    ['x >| f', ['w f']],
    ['x &> f', ['w f']],
    ['x >& f', ['w f']],
    ['x <> f', ['rw f']],
    ['x 2> f', ['w f']],
    ['{ x; } > f', ['w f']],
    ['x < f', ['r f']],
    ['while x; do y; done < f', ['r f']],
    ['x 3< f', ['r f']],
    ['x < /dev/tcp/h/1', ['r! /dev/tcp/h/1']],
    ['x > "$F"', ['w …']],
    ['x > $(a)/f', ['w ?']],
    ['x 2>&1', []],
    ['x >&-', []],
    ['x > /dev/null', []],
    ['x <<< f', []],
    ['x <<E\nf\nE', []],
  ])('knows what a redirection opens: %j', (line, opened) => {
    const shown = readCommand(line).redirections.map(
      ({ reads, writes, connects, target }) =>
        `${reads ? 'r' : ''}${writes ? 'w' : ''}${connects ? '!' : ''} ${target === undefined ? '?' : showHoles(target.value)}`,
    );
    expect(shown).toEqual(opened);
  });

  const nested = (depth: number, inner: string): string =>
    depth === 0 ? inner : `for i in a b; do ${nested(depth - 1, inner)}; done`;

  // Each once kept the process busy for seconds, or for ever. Counted are the characters that are looked at, and how
  // many wrappers are taken off; no clock is asked.
  it.each<[string, string, number]>([
    ['wrappers of which any word may be the command', `${'ssh h '.repeat(15)}ls`, 20_000],
    ['many of them', `${'ssh h '.repeat(1_600)}ls`, 500_000],
    ['with lines in them', "ssh h 'a; b' ".repeat(700), 500_000],
    ['flags that are not known', `${'sudo --zz '.repeat(40)}ls`, 60_000],
    ['many of them', `${'nice -z '.repeat(1_200)}ls`, 500_000],
    ['of several wrappers', `${'sudo --zz nice -z env -Q xargs --z timeout --q ssh -p '.repeat(150)}ls`, 500_000],
    ['wrappers without end', 'sudo '.repeat(1_900), 500_000],
    ['loops in loops', nested(40, 'v=$w; w=$v; k'), 100_000],
    ['loops that are left in the middle', nested(12, 'v=1; w=$v; break'), 100_000],
    ['many loops in one', `for i in a; do ${'for j in b; do v=1; w=$v; break; done; '.repeat(200)}done`, 500_000],
    ['values that double', `a=x; ${'a=$a$a; '.repeat(400)}k $a`, 500_000],
    ['a long value, often', `a='${'x '.repeat(2_000)}'; echo ${'$a '.repeat(1_500)}`, 500_000],
    ['and in a loop', `a='${'x '.repeat(2_000)}'; for i in ${'$a '.repeat(1_500)}; do k; done`, 500_000],
    ['brackets that do not close', `a='${'['.repeat(5_000)}'; echo ${'$a '.repeat(1_500)}`, 500_000],
    ['braces in braces', `sudo --zz ${`${'{a,b}'.repeat(8)} `.repeat(230)}`, 500_000],
    ['braces without end', '{a,b}'.repeat(500), 500_000],
    ['braces that do not close', '{'.repeat(9_999), 500_000],
    ['functions', 'f() { f; }; '.repeat(500), 500_000],
    ['texts in texts', 'eval '.repeat(1_900), 500_000],
    ['substitutions', '"$(time '.repeat(1_200), 500_000],
    ['one or the other', `${'v=1||'.repeat(1_500)}ls`, 500_000],
  ])('is done in time, whatever the line: %s (%#)', (_, line, most) => {
    let unwrapped = 0;
    const wrappers = new Proxy(WRAPPERS, {
      getOwnPropertyDescriptor(table, key) {
        unwrapped += 1;
        return Reflect.getOwnPropertyDescriptor(table, key);
      },
    });
    const budget = { left: 500_000 };
    const { segments } = readCommand(line, { ...PLACE, wrappers, budget });
    expect(500_000 - budget.left).toBeLessThanOrEqual(most);
    expect(unwrapped).toBeLessThan(20_000);
    expect(segments.length).toBeLessThanOrEqual(400);
  });

  const numbered = (text: string, count: number): string =>
    Array.from({ length: count }, (_, at) => text + at).join(' ');

  // Of every target with every source there were once millions.
  it.each([
    `cp ${numbered('-t d', 700)} ${numbered('a', 700)}`,
    `cp ${'-t d '.repeat(900)}${'a '.repeat(900)}`,
    `tar xf a ${numbered('-C d', 700)} ${numbered('m', 700)}`,
    `wget ${numbered('-P d', 700)} ${numbered('u', 700)}`,
    `rsync -R ${numbered('a', 1_500)}`,
    `git show ${numbered('HEAD:a', 1_000)}`,
    `sed -n '${'w'.repeat(9_900)}'`,
    'cp -t a -t b -t c -t d e f g h; '.repeat(300),
  ])('touches no more places than it has words: %.20s', (line) => {
    const { segments } = readCommand(line, PLACE);
    const facts = segments.map((segment) => new SegmentFact(segment, COMMAND_TABLES));
    const words = segments.reduce((count, segment) => count + segment.words.length, 0);
    const touches = facts.reduce((count, fact) => count + fact.touches.length, 0);
    expect(touches).toBeLessThanOrEqual(6 * words + 100);
  });

  it('follows no guess twice, so that most lines are read to the end', () => {
    const work = (line: string): number => {
      const budget = { left: 1e9 };
      readCommand(line, { ...PLACE, budget });
      return 1e9 - budget.left;
    };
    // Twice as many words are at most four times as much work.
    for (const part of ['ssh h ', 'sudo --zz ', 'nice -z ', "ssh h 'a; b' "]) {
      expect(work(`${part.repeat(8)}ls`)).toBeLessThan(5 * work(`${part.repeat(4)}ls`));
    }
  });
});

describe('the places a line touches', () => {
  it.each<[string, string[]]>([
    ['ls', ['r /repo']],
    ['cat a ../b /etc/x', ['r /repo/a', 'r /b', 'r /etc/x']],
    ['cat < /etc/passwd', ['r /etc/passwd']],
    ['cat a > b', ['w /repo/b', 'r /repo/a']],
    ['cd src && cat a', ['r /repo/src', 'r /repo/src/a']],
    ['cat src/*.ts', ['r /repo/src']],
    ['cat *', ['r /repo']],
    ['cat ~/x', ['r /home/user/x']],
    ['grep -e x /etc/passwd', ['r /etc/passwd']],
    ['rg /api', ['r /repo']],
    ['find /etc -newer /var/x', ['r /etc', 'r /var/x']],
    ['echo /etc/passwd', []],
    ['mkdir -p a/b', ['w /repo/a/b']],
    ['tee a', ['w /repo/a']],
    ['cp a b', ['w /repo/b', 'w /repo/b/a', 'r /repo/a']],
    [
      'dd if=a of=b',
      ['w /repo/b', 'r /repo/if=a', 'r /repo/if', 'r /repo/a', 'r /repo/of=b', 'r /repo/of', 'r /repo/b'],
    ],
    ['cat $X', []],
    ['jq -R . constructor /etc/x', ['r /repo/constructor', 'r /etc/x']],
  ])('E2 %j', (line, places) => {
    const found = commandAccesses(line, '/repo', '/home/user').map(({ path, access }) => `${access[0]} ${path}`);
    expect(found).toEqual(places);
  });
});

describe('a path from a folder', () => {
  const parts = ['', '.', '..', '...', 'a', '.b', 'c.', 'd e', '/'];
  const paths = parts.flatMap((one) => parts.flatMap((two) => parts.map((three) => `${one}/${two}/${three}`)));

  it('lies where `resolve` says', () => {
    for (const folder of ['/', '/repo', '/repo/', '/repo/./x', '/repo/../y', 'relative', ''])
      for (const path of [...parts, ...paths]) {
        expect([folder, path, resolveFrom(folder, path)]).toEqual([folder, path, resolve(folder, path)]);
      }
  });
});
