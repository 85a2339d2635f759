/** Scripts that are judged to print only, under the real programs: they run nothing and write nothing. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { effectOfAwk } from '../../src/engine/permissions/programs/awk.js';
import { isPrintingSed } from '../../src/engine/permissions/programs/sed.js';
import { createRandom, type Random } from '../soak/random.js';
import { removeFolder } from '../remove-folder.js';

const SED_PARTS =
  's/ s/[/] s/[^]/] s/[\\]/ /[/] / / [ ] \\ [/] [^/] []/] /;p;#/w~o ];p;#/w~o /;#/e [[:alpha:]/] w~o ;w~o e e~k /e /w~o p d #  ; \\n { } a~ k ^ $ | y/ 1 1, ! I g \\/ \\] s|[|]| s/a/b/ s/[a-z]*/x/ /k/ y/a/b/'.split(
    ' ',
  );
const AWK_PARTS =
  '/ " /"/{ }/"/ /"/ /[/"]/{ /[/"]/ print~"k"|"sh" print~"x">"o" if~(1)~/"/; /[a]/ / { } ( ) print~ |"sh" "k" ~|~c >"o" >>"o" >~1 system("k") "k"|getline a c="k" 1 $1 ++ if~(1)~ else~ ; \\n # #" [ ] ~ !~ && , length~ \\ > a[1] x/2 (1) 1/1'.split(
    ' ',
  );

const write = (parts: readonly string[]): string => parts.join('').replaceAll('~', ' ').replaceAll('\\n', '\n');

/** So many different scripts that are judged to be harmless, and have something in them that is not. */
function findHarmless(random: Random, parts: readonly string[], isHarmless: (script: string) => boolean): string[] {
  const found = new Set<string>();
  for (let tries = 0; found.size < 120 && tries < 400_000; tries += 1) {
    const script = write(Array.from({ length: 2 + random.below(9) }, () => random.pick(parts)));
    if (/[kwo]/.test(script) && isHarmless(script)) found.add(script);
  }
  return [...found];
}

// Each script is given as the last argument, in a folder of its own, with input that is a command.
const RUNNER = `
while IFS= read -r -d '' PLACE && IFS= read -r -d '' SCRIPT; do
  cd "$PLACE" && printf 'k\\na/b]k\\n"k"\\n' | timeout 2 "$@" "$SCRIPT" > /dev/null 2>&1
done
true`;

/** The scripts that ran or wrote something. */
function findHarmful(program: readonly string[], scripts: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'heddle-languages-'));
  try {
    const shims = join(folder, 'bin');
    mkdirSync(shims);
    writeFileSync(join(shims, 'k'), '#!/bin/sh\n: > "$PWD/ran"\n');
    chmodSync(join(shims, 'k'), 0o755);
    const places = scripts.map((_, index) => join(folder, String(index)));
    for (const place of places) mkdirSync(place);
    const input = scripts.map((script, index) => `${places[index]}\0${script}\0`).join('');
    const env = { PATH: `${shims}:/usr/bin:/bin`, LC_ALL: 'C.UTF-8' };
    execFileSync('bash', ['--norc', '-c', RUNNER, 'runner', ...program], {
      env,
      input,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    return scripts.filter((_, index) => readdirSync(places[index] as string).length > 0);
  } finally {
    removeFolder(folder);
  }
}

describe('languages of programs', () => {
  it.each([
    ['sed', ['sed'], SED_PARTS, isPrintingSed],
    ['awk', ['awk'], AWK_PARTS, (script: string) => effectOfAwk(script) === 'prints'],
  ] as const)('D1 %s scripts that only print run and write nothing', (_, program, parts, isHarmless) => {
    const scripts = findHarmless(createRandom(7), parts, isHarmless);
    expect(scripts.length).toBeGreaterThan(60);
    expect(findHarmful(program, scripts)).toEqual([]);
  });

  it('D1 would notice one that does', () => {
    expect(findHarmful(['sed'], ['p', 's/[/]*/;p;#/w o'])).toEqual(['s/[/]*/;p;#/w o']);
    expect(findHarmful(['awk'], ['1', '/"/ { print "k" | "sh" } /"/'])).toEqual(['/"/ { print "k" | "sh" } /"/']);
  });
});
