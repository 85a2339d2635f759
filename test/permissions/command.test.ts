import { describe, expect, it } from 'vitest';
import { MAX_COMMAND_LENGTH, parseCommand } from '../../src/engine/permissions/command.js';

const runs = (line: string): string[] =>
  parseCommand(line).commands.map(({ words }) => words.map((word) => word.value).join(' '));

describe('what a shell line runs', () => {
  it.each<[string, string[]]>([
    ['git status && rm -rf x', ['git status', 'rm -rf x']],
    ['a; b\nc | d & e || f', ['a', 'b', 'c', 'd', 'e', 'f']],
    ['\'r\'m "-rf" x\\ y', ['rm -rf x y']],
    ["$'rm' x", ['rm x']],
    ['( a; { b; } )', ['a', 'b']],
    ['! a | b', ['a', 'b']],
    ['time a', ['a']],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['for i in x; do a; done', ['a']],
    ['for ((i=$(a);;)); do b; done', ['a', 'b']],
    ['while a; do b; done < f', ['a', 'b']],
    ['until a; do b; done', ['a', 'b']],
    ['case $(a) in x) b;; $(c)) d;; esac', ['a', 'b', 'c', 'd']],
    ['select i in x; do a; done', ['a']],
    ['f() { a; }', ['a']],
    ['coproc a', ['a']],
    [
      'x "$(a)" `b` ${v:-$(c)} $(( $(d) )) <(e) >(f)',
      ['x $(a) `b` ${v:-$(c)} $(( $(d) )) <(e) >(f)', 'a', 'b', 'c', 'd', 'e', 'f'],
    ],
    ['V=$(a) b', ['b', 'a']],
    ['V=($(a))', ['', 'a']],
    ['declare v=$(a)', ['declare v=$(a)', 'a']],
    ['[[ -f $(a) ]]', ['a']],
    ['(( $(a) ))', ['a']],
    ['x <<E\n$(a) `b`\nE', ['x', 'a', 'b']],
    ["x <<'E'\n$(a)\nE", ['x']],
    ['x <<< "$(a)"', ['x', 'a']],
    ['x > $(a)', ['x', 'a']],
    ['echo "\\"; x; echo \\""', ['echo "; x; echo "']],
    ['echo a # ; rm x', ['echo a']],
    ['git commit -m "$(cat <<\'EOF\'\n; rm x\nEOF\n)"', ["git commit -m $(cat <<'EOF'\n; rm x\nEOF\n)", 'cat']],
    ['', []],
  ])('D1 %j', (line, commands) => {
    expect(runs(line)).toEqual(commands);
    expect(parseCommand(line).opaque).toBe(false);
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
    ['{rm,-rf,x}', /name of a command/],
    ['/bin/r?', /name of a command/],
    ['~/x', /name of a command/],
    ['V=<(a) rm', /name of a command/],
    ['echo $($CMD)', /name of a command/],
    ['echo "${v@P}"', /expansion/],
    ['echo \u202e', /do not show/],
    ['echo\u00a0x', /do not show/],
    ['echo \u001b[1A', /do not show/],
    ['"$('.repeat(3_000), /nested|not valid bash/],
    [`echo ${'x'.repeat(MAX_COMMAND_LENGTH)}`, /longer than 10000/],
  ])('is opaque, with the reason: %#', (line, reason) => {
    const parsed = parseCommand(line);
    expect(parsed.opaque).toBe(true);
    expect(parsed.reason).toMatch(reason);
  });

  it('D7 still names what it could read of an opaque line', () => {
    expect(runs('echo safe \u001b[2K\r; rm -rf x')).toContain('rm -rf x');
    expect(runs('rm x; $CMD')).toContain('rm x');
  });

  it.each<[string, boolean]>([
    ['ls -la', false],
    ['ls \'a b\' "c" d\\ e', false],
    ['ls $X', true],
    ['ls "$X"', true],
    ['ls *', true],
    ['ls ~', true],
    ['ls a=~', true],
    ["ls '~' \\~ x~", false],
    ['ls {a,b}', true],
    ['ls @{u}', false],
    ["ls $'\\x2d'", true],
    ['ls $"x"', true],
    ['l\\\ns', true],
    ['declare a=1', true],
    ['ls > $X', true],
    ['ls {fd}> x', true],
    ['ls <<E\n$X\nE', true],
    ['ls <<E\nx\nE', false],
  ])('knows whether it is dynamic: %j', (line, dynamic) => {
    const parsed = parseCommand(line);
    expect(parsed.dynamic).toBe(dynamic);
    expect(parsed.commands[0]?.dynamic).toBe(dynamic);
  });

  it.each<[string, { reads: boolean; writes: boolean }]>([
    ['x > f', { reads: false, writes: true }],
    ['x >> f', { reads: false, writes: true }],
    ['x >| f', { reads: false, writes: true }],
    ['x &> f', { reads: false, writes: true }],
    ['x &>> f', { reads: false, writes: true }],
    ['x >& f', { reads: false, writes: true }],
    ['x <> f', { reads: false, writes: true }],
    ['x 2> f', { reads: false, writes: true }],
    ['{ x; } > f', { reads: false, writes: true }],
    ['x > "$F"', { reads: false, writes: true }],
    ['x < f', { reads: true, writes: false }],
    ['x < /dev/tcp/h/1', { reads: true, writes: true }],
    ['x 2>&1', { reads: false, writes: false }],
    ['x >&-', { reads: false, writes: false }],
    ['x <&0-', { reads: false, writes: false }],
    ['x >&19', { reads: false, writes: true }],
    ['x 19>&1', { reads: false, writes: true }],
    ['x 19>/dev/null', { reads: false, writes: true }],
    ['x 3< f', { reads: true, writes: true }],
    ['x > /dev/null', { reads: false, writes: false }],
    ['x <<< f', { reads: false, writes: false }],
    ['x <<E\nf\nE', { reads: false, writes: false }],
  ])('knows what a redirection does: %j', (line, effect) => {
    expect(parseCommand(line).redirections).toEqual([expect.objectContaining(effect)]);
  });

  it('knows assignments and background', () => {
    expect(parseCommand('A=1 B=2 ls').commands[0]?.assignments).toEqual(['A', 'B']);
    expect(parseCommand('ls & pwd').background).toBe(true);
    expect(parseCommand('echo $(ls &)').background).toBe(true);
    expect(parseCommand('ls && pwd').background).toBe(false);
  });
});
