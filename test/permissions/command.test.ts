import { describe, expect, it } from 'vitest';
import { commandAccesses, MAX_COMMAND_LENGTH, segmentsOf } from '../../src/engine/permissions/command.js';
import { showHoles } from '../../src/engine/permissions/shell/hole.js';
import { readCommand } from '../../src/engine/permissions/shell/reader.js';

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
    ['echo x > f; bash f', /writes itself/],
    ['k $(time case a in a) b\n;; esac\n)', /does not read/],
    ['echo \u202e', /do not show/],
    ['echo\u00a0x', /do not show/],
    ['echo \u001b[1A', /do not show/],
    ['echo \ue000', /do not show/],
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

  it('is done in time, whatever the line', () => {
    const nested = (depth: number): string =>
      depth === 0 ? 'v=$w; w=$v; k' : `for i in a b; do ${nested(depth - 1)}; done`;
    for (const line of [
      nested(40),
      'f() { f; }; '.repeat(500),
      'eval '.repeat(1_500),
      '{a,b}'.repeat(500),
      'sudo '.repeat(1_900),
    ]) {
      expect(readCommand(line).segments.length).toBeLessThan(2_000);
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
    ['cp a b', ['w /repo/b', 'r /repo/a']],
    [
      'dd if=a of=b',
      ['w /repo/b', 'r /repo/if=a', 'r /repo/if', 'r /repo/a', 'r /repo/of=b', 'r /repo/of', 'r /repo/b'],
    ],
    ['cat $X', []],
  ])('E2 %j', (line, places) => {
    const found = commandAccesses(line, '/repo', '/home/user').map(({ path, access }) => `${access[0]} ${path}`);
    expect(found).toEqual(places);
  });
});
