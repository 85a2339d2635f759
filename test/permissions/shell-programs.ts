/** Random bash programs over a few harmless names, as trees that can be made smaller. */
import type { Random } from '../soak/random.js';

/** The commands that programs are made of. Each is a program that notes its arguments. */
export const NAMES = ['k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7', 'k8', 'k9', 'ka', 'kb'] as const;

export interface Program {
  /** How the texts of the parts become one. */
  write(parts: readonly string[]): string;
  parts: readonly Program[];
}

export const toText = ({ write, parts }: Program): string => write(parts.map(toText));

const leaf = (text: string): Program => ({ write: () => text, parts: [] });

/** Smaller programs that may fail in the same way: each part alone, and with one part made smaller. */
export function* smaller(program: Program): Generator<Program> {
  for (const part of program.parts) yield part;
  for (const [index, part] of program.parts.entries()) {
    const put = (other: Program): Program => ({ ...program, parts: program.parts.with(index, other) });
    if (part.parts.length > 0) yield put(leaf('k0'));
    for (const less of smaller(part)) yield put(less);
  }
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const inner = (text: string): string => `${text}\n`;

/** Forms with one program inside. */
const AROUND: readonly ((part: string) => string)[] = [
  (p) => `( ${inner(p)})`,
  (p) => `{ ${inner(p)}}`,
  (p) => `! { ${inner(p)}}`,
  (p) => `time { ${inner(p)}}`,
  (p) => `{ ${inner(p)}} > /dev/null 2>&1`,
  (p) => `for i in a b; do ${inner(p)}done`,
  (p) => `for ((i=0;i<2;i++)); do ${inner(p)}done`,
  (p) => `while true; do ${inner(p)}break; done`,
  (p) => `until false; do ${inner(p)}break; done`,
  (p) => `case a in b) k9;; a) ${inner(p)};; esac`,
  (p) => `case a in (a|b) ${inner(p)};& c) k8;; esac`,
  (p) => `f() { ${inner(p)}}; f`,
  (p) => `function g { ${inner(p)}}; g x`,
  (p) => `f() ( ${inner(p)}); f; f`,
  (p) => `k7() { ${inner(p)}}; k7 a`,
  (p) => `coproc { ${inner(p)}}; wait`,
  (p) => `k1 "$(${inner(p)})"`,
  (p) => `k1 $(${inner(p)}) x`,
  (p) => `k1 \${v:-$(${inner(p)})}`,
  (p) => `k1 "\${v:=$(${inner(p)})}"`,
  (p) => `k1 $(( $(${inner(p)} ) + 1 ))`,
  (p) => `k1 <(${inner(p)})`,
  (p) => `k1 > >(${inner(p)}); wait`,
  (p) => `k1 <<E\n$(${inner(p)})\nE`,
  (p) => `k1 <<'E'\n$(k9)\nE\n${p}`,
  (p) => `k1 <<< "$(${inner(p)})"`,
  (p) => `k1 2> "/dev/null$(${inner(p)} > /dev/null)"`,
  (p) => `v=$(${inner(p)}) k1`,
  (p) => `v=$(${inner(p)}); k1 "$v"`,
  (p) => `a=($(${inner(p)})); k1 "\${a[@]}"`,
  (p) => `a[$(${inner(p)} > /dev/null; echo 0)]=1`,
  (p) => `declare v=$(${inner(p)})`,
  (p) => `export v="$(${inner(p)})"`,
  (p) => `[[ -n $(${inner(p)}) ]]`,
  (p) => `[ -n "$(${inner(p)})" ]`,
  (p) => `(( $(${inner(p)} > /dev/null; echo 1) ))`,
  (p) => `for x in $(${inner(p)}); do k2 $x; done`,
  (p) => `case $(${inner(p)}) in *) k3;; esac`,
  (p) => `case a in $(${inner(p)})) k3;; esac`,
  (p) => `eval ${quote(p)}`,
  (p) => `bash -c ${quote(p)}`,
  (p) => `sh -c ${quote(p)}`,
  (p) => `bash -euc ${quote(p)} name arg`,
  (p) => `bash <<'E'\n${p}\nE`,
  (p) => `bash <<< ${quote(p)}`,
  (p) => `echo ${quote(p.replaceAll('\n', '; '))} | bash`,
  (p) => `( trap ${quote(p)} EXIT; true )`,
  (p) => `env bash -c ${quote(p)}`,
  (p) => `nice --adj=1 bash -c ${quote(p)}`,
  (p) => `env --un=X timeout --fore 5 nice --adj=1 bash -c ${quote(p)}`,
  (p) => `awk 'BEGIN { print "bash" | "cat > /dev/null"; if (1) /"/ }'; ${p}`,
  (p) => `echo a | xargs bash -c ${quote(p)}`,
  (p) => `find . -maxdepth 0 -exec bash -c ${quote(p)} \\;`,
  (p) => `v=${quote(p)}; bash -c "$v"`,
  (p) => `v=${quote(p)}; eval "$v"`,
  (p) => `v='$(${p.replaceAll("'", '')})'; k1 "\${v@P}"`,
  (p) => `k1 '${p.replaceAll("'", '')}'`,
  (p) => `cat <<'E' > /dev/null\n${p}\nE`,
  (p) => `# ${p.replaceAll('\n', ' ')}\nk1`,
  (p) => `if ${inner(p)}then k4\nelse k5\nfi`,
  (p) => `PS4='$(k6)' ; ( set -x; ${inner(p)})`,
  (p) => `cd . && { ${inner(p)}}`,
  (p) => `set -- a b; ${p}`,
  (p) => `( ${inner(p)}) &\nwait`,
];

/** Forms with two programs inside. */
const BETWEEN: readonly ((one: string, two: string) => string)[] = [
  (a, b) => `${a}; ${b}`,
  (a, b) => `${a}\n${b}`,
  (a, b) => `{ ${inner(a)}} && { ${inner(b)}}`,
  (a, b) => `{ ${inner(a)}} || { ${inner(b)}}`,
  (a, b) => `{ ${inner(a)}} | { ${inner(b)}}`,
  (a, b) => `{ ${inner(a)}} |& { ${inner(b)}}`,
  (a, b) => `{ ${inner(a)}} & { ${inner(b)}}\nwait`,
  (a, b) => `if ${inner(a)}then ${inner(b)}fi`,
  (a, b) => `if false; then ${inner(a)}elif true; then ${inner(b)}fi`,
  (a, b) => `f() { ${inner(a)}}; ${b}`,
];

/** Of these xargs takes the last, and what it has replaced, or puts behind the rest, hangs on it. */
const marks = (random: Random): string =>
  Array.from({ length: 1 + random.below(3) }, () =>
    random.pick(['-I A', '-I{}', '-i', '-iA', '--replace=A', '--replace', '-L1', '-n2', '-n1', '-l', '-l1']),
  ).join(' ');

const shellFlags = (random: Random): string =>
  Array.from({ length: 1 + random.below(2) }, () =>
    random.pick('+x|-x|+e|+o posix|-o posix|-eo pipefail|+O extglob|-O extglob|-oe errexit|--|-|+'.split('|')),
  ).join(' ');

/** With flags that are given again, taken back, or share a word. */
const REPEATING: readonly ((name: string, random: Random) => string)[] = [
  (k, random) => `echo a | xargs ${marks(random)} ${k} x{}A`,
  (k, random) => `echo ${k} | xargs ${marks(random)} env A`,
  (k, random) => `echo '${k} a' | xargs ${marks(random)} bash -c A`,
  (k, random) => `echo "-c '${k} a'" | xargs ${marks(random)} bash`,
  (k, random) => `bash ${shellFlags(random)} -c '${k} a'`,
  (k, random) => `bash -c ${shellFlags(random)} '${k} a'`,
  (k, random) => `sh ${random.pick(['+x', '-e +e', '+e', '-o errexit', '+o errexit'])} -c '${k} a'`,
  (k, random) => `bash ${shellFlags(random)} <<< '${k} a'`,
  (k, random) => `echo '${k} a' | bash ${shellFlags(random)}`,
  (k, random) => `env ${random.pick(['-S -i', '-u X', '-S -uX', '-v', '-i -u X'])} -S '${k} a' b`,
  (k, random) => `env -S 'A=1' ${random.pick(['-S ', '-u ', ''])}'${k} a'`,
  (k) => `env -C . -C "$SHIMS" ./${k} a`,
  (k) => `env -C / --chdir="$SHIMS" ./${k} a`,
  (k) => `nice -n 1 -n 2 --adjustment=3 ${k} a`,
  (k) => `timeout -s TERM -s KILL -k 1 -k 2 5 ${k} a`,
  (k) => `flock -n -n lock ${k} a`,
  (k) => `find . -maxdepth 0 -exec true {} \\; -exec ${k} {} + -name y`,
  (k) => `find . -maxdepth 0 -name . -exec env {} \\; -exec ${k} a \\;`,
  (k) => `stdbuf -o L -oL -eL ${k} a`,
  (k) => `script -qc true -c '${k} a' /dev/null`,
];

/** Ways to run one name. */
const RUNNING: readonly ((name: string, random: Random) => string)[] = [
  (k) => k,
  (k) => `${k} a`,
  (k) => `${k} 'a b' "c"`,
  (k) => `'${k}' x`,
  (k) => `"${k.slice(0, 1)}"${k.slice(1)}`,
  (k) => `\\${k} x`,
  (k) => `$'${k}' y`,
  (k) => `$'\\x6b'${k.slice(1)}`,
  (k) => `{${k},a,b}`,
  (k) => `k{${k.slice(1)},x}`,
  (k) => `$(echo ${k}) a`,
  (k) => `\`echo ${k}\` a`,
  (k) => `v=${k}; $v a`,
  (k) => `v='${k} a'; $v b`,
  (k) => `v=${k}; "$v"`,
  (k) => `v=${k}; v=k0; $v`,
  (k) => `v=k; \${v}${k.slice(1)}`,
  (k) => `$nothing ${k} a`,
  (k) => `$nothing$nothing ${k}`,
  (k) => `for n in ${k} k0; do $n z; done`,
  (k) => `for n in a b c; do ${k} "$n"; done`,
  (k) => `false && v=k1; v=\${v:-${k}}; $v`,
  (k) => `v=k1; { v=${k}; }; $v`,
  (k) => `v=k1; ( v=k2 ); [ -n a ] && v=${k}; $v`,
  (k) => `set -- ${k} a; "$@"`,
  (k) => `f() { "$@"; }; f ${k} a`,
  (k) => `f() { $1 x; }; f ${k}`,
  (k) => `a=(${k} b); "\${a[@]}"`,
  (k) => `read v <<< ${k}; $v`,
  (k) => `printf -v v ${k}; $v`,
  (k) => `n=${k}; v=n; \${!v}`,
  (k) => `env ${k} a`,
  (k) => `env -u X A=1 ${k} a`,
  (k) => `env -S '${k} a'`,
  (k) => `env -- ${k}`,
  (k) => `nice ${k}`,
  (k) => `nice -n 3 ${k} a`,
  (k) => `timeout 5 ${k} a`,
  (k) => `timeout -s KILL 5 ${k}`,
  (k) => `timeout --kill-after=1 5 nice ${k}`,
  (k) => `nohup ${k} a`,
  (k) => `setsid -w ${k}`,
  (k) => `stdbuf -oL ${k} a`,
  (k) => `ionice -c3 ${k}`,
  (k) => `taskset -c 0 ${k}`,
  (k) => `flock lock ${k} a`,
  (k) => `flock lock -c '${k} a'`,
  (k) => `script -qc '${k} a' /dev/null`,
  (k) => `command ${k} a`,
  (k) => `command -p env ${k}`,
  (k) => `( exec ${k} a )`,
  (k) => `( exec -a other ${k} a )`,
  (k) => `time ${k}`,
  (k) => `echo a b | xargs ${k}`,
  (k) => `echo a b | xargs -n1 ${k} c`,
  (k) => `echo a | xargs -I{} ${k} x{}y`,
  (k) => `echo ${k} | xargs env`,
  (k) => `xargs -a /dev/null ${k}`,
  (k) => `find . -maxdepth 0 -exec ${k} {} \\;`,
  (k) => `find . -maxdepth 0 -exec ${k} a {} +`,
  (k) => `find . -maxdepth 0 -name . -exec env ${k} {} ';'`,
  (k) => `echo ${k} | bash`,
  (k) => `bash -c '$0 a' ${k}`,
  (k) => `bash -c '"$@"' _ ${k} a`,
  (k) => `A=1 B=2 ${k} a`,
  (k) => `v=<(true) ${k} a`,
  (k) => `alias q=${k}; shopt -s expand_aliases\neval q`,
  (k) => `hash -p "$SHIMS/${k}" q; q a`,
  (k) => `"$SHIMS/${k}" a`,
  (k) => `mapfile -c 1 -C '${k} a' v <<< x`,
  (k) => `x='a[$(${k})]'; [[ $x -eq 1 ]]`,
  (k) => `x='a[$(${k})]'; (( x ))`,
  (k) => `test -v 'a[$(${k})]'`,
  (k) => `printf -v 'a[$(${k})]' x`,
  (k) => `read 'a[$(${k})]' <<< x`,
  (k) => `let 'a[$(${k})]=1'`,
  (k) => `declare -i n; n='a[$(${k})]'`,
  (k) => `unset 'a[$(${k})]'`,
  (k) => `k0 "\${a[$(${k} > /dev/null; echo 1)]}"`,
  (k) => `k0 "\${v:$(${k} > /dev/null; echo 1)}"`,
  (k) => `command_not_found_handle() { ${k} a; }; nosuch`,
  (k) => `PROMPT_COMMAND=${k}; k0`,
  (k) => `BASH_ENV=<(echo ${k}) bash -c true`,
  (k) => `echo '${k} a' > s; . ./s`,
  (k) => `echo '${k} a' > s; bash s`,
  (k) => `echo '${k} a' > s; bash < s`,
  (k) => `git() { ${k} b; }; git c`,
  (k) => `${k} \\\n a`,
  (k) => `k\\\n${k.slice(1)} a`,
  (k) => `${k}&`,
  (k) => `>/dev/null ${k} a 2>&1`,
  (k) => `sudo ${k} a`,
  (k) => `busybox ${k} a`,
  (k) => `v=k0; bash -c '$v ${k} a'`,
  (k) => `k1 $(time case a in a) ${k} b\n;; esac\n)`,
  (k) => `v=k0; while true; do v=${k}; break; v=k0; done; $v a`,
  (k) => `v=k0; for i in 1 2; do v=${k}; continue; v=k0; done; $v a`,
  (k) => `trap 'v=${k}' DEBUG; v=k0; $v a; trap - DEBUG`,
  (k) => `echo "-c '${k} a'" | xargs bash`,
  (k) => `v='-c ${k}'; bash $v`,
  (k) => `v=$(echo "-c ${k}"); bash $v`,
  (k) => `declare -l v; v=${k.toUpperCase()}; $v a`,
  (k) => `typeset -u v=k0; v=x; declare +u v; v=${k}; $v`,
  (k) => `env 'BASH_FUNC_q%%=() { ${k} a; }' bash -c q`,
  (k) => `bash <<E\nk\\\\${k.slice(1)} a\nE`,
  (k) => `bash <<E\nk\\\n${k.slice(1)} a\nE`,
  (k) => `while IFS= read -r x; do ${k} "$x"; done <<< a`,
  (k) => `awk 'BEGIN { system("${k} a") }'`,
  (k) => `echo a | sed 's/a/${k}/e'`,
  (k) => `echo a | sed '1e ${k} a'`,
  (k) => `perl -e 'system("${k}", "a")'`,
  (k) => `python3 -c 'import os; os.system("${k} a")'`,
  (k) => `tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='${k} a' .`,
  (k) => `touch a; tar cf /dev/null -I '${k} x' a`,
  (k) => `git -c alias.q='!${k} a' q`,
  (k) => `make -s -f - <<< 'all:;${k} a'`,
  (k) => `strace -o /dev/null ${k} a`,
  (k) => `unshare ${k} a`,
  (k) => `chrt -b 0 ${k} a`,
  (k) => `nice -n -3 env nice timeout 5 ${k} a`,
  (k) => `echo a | sort --compress-program=${k} -S 1k`,
  (k) => `echo a > f; split --filter='${k} a' f`,
  (k) => `v=k0; PWD=${k}; cd .; $v`,
  (k) => `set -- -a; getopts a: v; OPTARG=k0; set -- -a ${k}; OPTIND=1; getopts a: v; $OPTARG`,
  (k) => `v=k0; [ a ] && { v=${k}; } || v=k1; $v`,
  (k) => `select v in ${k}; do $v; break; done <<< 1`,
  (k) => `v=k0; until v=${k}; do :; done; $v`,
  (k) => `export v=${k}; bash -c '$v a'`,
  (k) => `v=k0 bash -c '$v ${k} a'`,
  (k) => `q() { ${k} x; }; export -f q; bash -c q`,
  (k) => `${k}() { k0; }; command ${k} a`,
  (k) => `${k}() { k0; }; env ${k} a`,
  (k) => `if false; then ${k}() { k0; }; fi; ${k} a`,
  (k) => `${k}() { k0; }; unset -f ${k}; ${k} a`,
  (k) => `( ${k}() { k0; } ); ${k} a`,
  (k) => `q() { v=${k}; }; v=k0; q; $v`,
  (k) => `v=k0; while [ $v != ${k} ]; do $v; v=${k}; done; $v`,
  (k) => `v=k0; case a in a) v=${k};; esac; $v`,
  (k) => `v=k0; : \${v:=k1}; \${w:=${k}} a`,
  (k) => `v=k0; v+=\n; v=\${v/k0?/${k}}; $v`,
  (k) => `v=${k}x; \${v%x} a`,
  (k) => `v=k0; for v in ${k}; do :; done; $v`,
  (k) => `v=k0; read v < <(echo ${k}); $v`,
  (k) => `v=k0; echo ${k} | { read v; $v; }`,
  (k) => `v=k0; local v=${k} 2>/dev/null; f() { local v=${k}; $v; }; f`,
  (k) => `v=k0; unset v; $v ${k} a`,
  (k) => `v=k0; eval v=${k}; $v`,
  (k) => `v=k0; declare v=${k}; $v`,
  (k) => `v=k0; export v=${k}; $v`,
  (k) => `v=k0; readonly v; v=${k} 2>/dev/null; $v`,
  (k) => `v=k0; (( v=1 )); ${k} $v`,
  (k) => `IFS=x; v=${k}xa; $v`,
  (k) => `v='*'; cd "$SHIMS"; echo $v > /dev/null; ./${k} a`,
  (k) => `cd "$SHIMS"; $(echo ./${k}) a`,
  (k) => `cd "$SHIMS"; ./k[${k.slice(1)}] a`,
  (k) => `trap '${k} t' DEBUG; true; trap - DEBUG`,
  (k) => `trap '${k} t' ERR; false`,
  (k) => `( trap '${k} t' RETURN; f() { :; }; f )`,
  (k) => `declare -n r=v; v=k0; r=${k}; $v`,
  (k) => `exec 3<<< ${k}; read v <&3; $v`,
  (k) => `set -o noglob; ${k} *`,
  (k) => `complete -C ${k} foo; compgen -C ${k} x`,
  (k) => `enable -n echo; ${k}`,
  (k) => `wait -n; ${k}`,
  (k) => `echo a | while read x; do ${k} "$x"; done`,
  (k) => `find . -maxdepth 0 -print0 | xargs -0 ${k} x`,
  (k) => `find . -maxdepth 0 | xargs -I@ sh -c '${k} @'`,
  // Languages of their own: quotes in patterns, sets, what is filled in.
  (k) => `echo '"' | awk '/"/ { print "${k} a" | "sh" } /"/'`,
  (k) => `echo x | awk '{ a = 4; b = a /2; c = "/"; print "${k} a" | "sh" }'`,
  (k) => `awk 'BEGIN { c = "${k} a"; print "x" | c }'`,
  (k) => `echo '"' | awk '{ if (1) /"/; print "${k} a" | "sh"; x = /"/ }'`,
  (k) => `awk 'BEGIN { "${k} a" | getline; print 1 / 2 # "\n}'`,
  (k) => `x=$(echo '}BEGIN{system("${k}")}{'); awk "{print $x}" /dev/null`,
  (k) => `echo '${k} a' | sed 's/[/]*$/;p;#/e'`,
  (k) => `echo '${k} a' | sed -n '/[/]*/{s/$/;#/e;#]/p\n}'`,
  (k) => `echo a | sed '-e1e ${k} a'`,
  (k) => `echo a | sed -n --expr='1e ${k} a'`,
  (k) => `echo a | sed -s --expr '1e ${k} a'`,
  (k) => `echo '1e ${k} a' > s; echo a | sed -f s`,
  (k) => `x=$(echo 'b/;1e ${k} a'); echo a | sed "s/a/$x"`,
  // Wrappers in wrappers, with flags that are abbreviated.
  (k) => `nice --adj=1 ${k} a`,
  (k) => `nice --adj=1 env --un=X timeout --fore 5 nice --adj=1 ${k} a`,
  (k) => `env - NOTES="$NOTES" "$SHIMS/${k}" a`,
  (k) => `setarch -R ${k} a`,
  (k) => `setarch x86_64 -R nice --adj=1 ${k} a`,
  (k) => `echo a | xargs --max-a=1 nice --adj=1 ${k}`,
  (k) => `find . -maxdepth 0 -exec nice --adj=1 ${k} {} \\;`,
  (k) => `touch 5 ${k}; nice -n * a`,
  (k) => `touch 5 ${k}; timeout * a`,
  (k) => `jobs -x ${k} a`,
  (k) => `x=-x; jobs "$x" ${k} a`,
  (k) => `x=$(echo -x); jobs "$x" ${k} a`,
  (k) => `${'env '.repeat(14)}${k} a`,
  ...REPEATING,
  // Builtins that evaluate what they were given, or what was read from a file.
  (k) => `mapfile -tC '${k} a' -c1 v <<< x`,
  (k) => `mapfile -tc1 -C'${k} a' v <<< x`,
  (k) => `readarray -t -c 1 -OC 0 -C '${k} a' v <<< x; mapfile -c1 -tC ${k} <<< x`,
  (k) => `echo 'a[$(${k})]' > b; x=$(cat b); let y=x`,
  (k) => `echo 'a[$(${k})]' > b; read x < b; let y=1 z=x+1`,
  (k) => `echo 'a[$(${k})]' > b; read -ax < b; (( x ))`,
  (k) => `echo 'a[$(${k})]' > b; read -p x < b; (( REPLY ))`,
  (k) => `echo 'a[$(${k})]' > b; mapfile < b; (( MAPFILE ))`,
  (k) => `echo 'a[$(${k})]' > b; x=$(cat b); a=([x]=1)`,
  (k) => `echo 'a[$(${k})]' > b; x=$(cat b); RANDOM=$x`,
  (k) => `echo 'a[$(${k})]' > b; read RANDOM < b`,
  (k) => `echo 'a[$(${k})]' > b; [[ $(cat b) =~ .* ]]; (( BASH_REMATCH ))`,
  (k) => `: 'a[$(${k})]'; (( _ ))`,
  (k) => `_=0; : 'a[$(${k})]'; let y=_`,
  (k) => `select x in a; do (( REPLY )); break; done <<< 'a[$(${k})]'`,
  (k) => `echo '-v a[$(${k})] -o 1' > c; read x < c; [ $x -eq 1 ]`,
  (k) => `echo -v > c; read x < c; y='a[$(${k})]'; [ "$x" "$y" ]`,
  (k) => `touch -- -v 'a[$(${k})]'; [ * ]`,
  (k) => `true & wait -np'a[$(${k})]'`,
  (k) => `history -s '${k} a'; fc -s ${k}`,
];

/** Words that make no command, and must not confuse. */
const IDLE = ['true', ':', 'v=1', 'echo "k1; k2"', "echo 'k1' > /dev/null", 'a=(1 2)', '[[ a == b ]]', 'cd .'];

const VARIABLES = ['v', 'w'] as const;

/** Statements that set and use variables, wherever control may go. */
function createFlow(random: Random, depth: number, inLoop = false): Program {
  const name = (): string => random.pick(NAMES);
  const variable = (): string => random.pick(VARIABLES);
  const simple = [
    () => `${variable()}=${name()}`,
    () => `${variable()}=${name()}`,
    () => `${variable()}=$${variable()}`,
    () => `$${variable()} a`,
    () => `"$${variable()}" b`,
    () => `read ${variable()} <<< ${name()}`,
    () => `unset ${variable()}`,
    () => `${variable()}+=x`,
    () => `export ${variable()}=${name()}`,
    () => `eval ${variable()}=${name()}`,
    () => `for ${variable()} in ${name()} ${name()}; do :; done`,
    () => `g`,
    // Elsewhere they would keep an outer loop from ending.
    () => (inLoop ? 'break' : ':'),
    () => (inLoop ? 'continue' : ':'),
    () => name(),
  ];
  if (depth === 0) return leaf(random.pick(simple)());
  const around: readonly ((part: string) => string)[] = [
    (p) => `{ ${p}\n}`,
    (p) => `( ${p}\n)`,
    (p) => `true && { ${p}\n}`,
    (p) => `false && { ${p}\n}`,
    (p) => `false || { ${p}\n}`,
    (p) => `true || { ${p}\n}`,
    (p) => `if [ "$v" = ${NAMES[1]} ]; then ${p}\nfi`,
    (p) => `if false; then :; else ${p}\nfi`,
    (p) => `for i in 1 2; do ${p}\ndone`,
    (p) => `i=0; while [ $i -lt 2 ]; do i=$((i+1)); ${p}\ndone`,
    (p) => `case $v in k[0-5]) ${p}\n;; esac`,
    (p) => `g() { ${p}\n}`,
    (p) => `: | { ${p}\n}`,
    (p) => `${p} &\nwait`,
  ];
  const form = random.next() < 0.6 ? random.pick(around) : (text: string) => text;
  const loops = inLoop || /^for|^i=0/.test(form(''));
  const parts = Array.from({ length: 2 + random.below(3) }, () => createFlow(random, depth - 1, loops));
  return { write: (texts) => form(texts.join('\n')), parts };
}

export function createProgram(random: Random, depth: number): Program {
  const name = (): string => random.pick(NAMES);
  if (random.next() < 0.15) return createFlow(random, 2);
  if (depth === 0 || random.next() < 0.12) {
    return leaf(random.next() < 0.06 ? random.pick(IDLE) : random.pick(RUNNING)(name(), random));
  }
  if (random.next() < 0.35) {
    const form = random.pick(BETWEEN);
    const parts = [createProgram(random, depth - 1), createProgram(random, depth - 1)];
    return { write: ([one = '', two = '']) => form(one, two), parts };
  }
  const form = random.pick(AROUND);
  return { write: ([part = '']) => form(part), parts: [createProgram(random, depth - 1)] };
}

/** Programs of which the flags are the trouble. */
export const createRepeating = (random: Random): Program => leaf(random.pick(REPEATING)(random.pick(NAMES), random));

/** Every form at least once, with a plain command inside. */
export const everyForm = (): Program[] => [
  ...RUNNING.map((form, index) =>
    leaf(
      form(NAMES[index % NAMES.length] ?? 'k0', {
        next: () => 0,
        below: () => 0,
        pick: (values) => values[0] as never,
      }),
    ),
  ),
  ...AROUND.map((form): Program => ({ write: ([part = '']) => form(part), parts: [leaf('k2 x')] })),
  ...BETWEEN.map(
    (form): Program => ({ write: ([one = '', two = '']) => form(one, two), parts: [leaf('k2 x'), leaf('k3')] }),
  ),
];
