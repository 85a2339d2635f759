import type { FlagSpec } from '../command-flags.js';

/**
 * A program that runs what its arguments say. Flags are those in front of the command; with one that is not listed the
 * command cannot be told for certain.
 */
export interface WrapperSpec extends FlagSpec {
  /**
   * `command`: after flags and `operands` come the words of a command. `line`: they are joined to a shell line.
   * `shell`: a shell. `lines`: each word is a shell line. `login`: lines come in flags, in front of one operand or behind
   * it. `anywhere`: any word may be the first of a command. `xargs`, `find`, `parallel`: as those do.
   */
  shape: 'command' | 'line' | 'lines' | 'login' | 'anywhere' | 'shell' | 'xargs' | 'find' | 'parallel';
  /**
   * `clear`: it does nothing else, so what it runs is all there is to allow. `guarded`: it must be allowed as well.
   * `remote`: what it runs is not run here, and only forbidding looks at it.
   */
  trust: 'clear' | 'guarded' | 'remote';
  /** Words between the flags and the command. */
  operands?: number;
  /** How many of the words are shell lines; all when absent. */
  lines?: number;
  /** `NAME=value` may stand in front of the command. */
  assigns?: boolean;
  /** Flags whose value is a shell line, parted by spaces. */
  scripts?: string;
  /** Flags with which the words that follow are a command, where they are not otherwise. */
  commands?: string;
  /** The words that follow are arguments of this program. */
  program?: string;
  /** Flags with which the words that follow are a line for a shell. */
  joined?: string;
  /** Flags whose value is split into words in front of the command. */
  splits?: string;
  /** Flags whose value is the folder to run in. */
  folders?: string;
  /** Flags with which it only tells where a command is. */
  asks?: string;
  /** What runs is not written in the language of bash. */
  foreign?: boolean;
  /** Flags after which, up to `;` or `+`, comes a command. */
  clauses?: string;
  /** What it finds is put behind a command that does not say where; and its flags may share a word. */
  appends?: boolean;
  /** Beginnings of the words that select the running of commands are enough. */
  abbreviates?: boolean;
}

const SHELL: WrapperSpec = {
  shape: 'shell',
  trust: 'clear',
  short: 'abcefhlmnprstuvxBCEHPT',
  shortValue: 'o',
  long: 'login noprofile norc posix verbose restricted',
};

const OTHER_SHELL: WrapperSpec = { ...SHELL, trust: 'guarded', short: 'cdefilnNpqstvxyX', foreign: true };

const FD: WrapperSpec = {
  shape: 'find',
  trust: 'guarded',
  clauses: '-x -X --exec --exec-batch',
  appends: true,
  shortValue: 'cCdeEjoSt',
};

const ELSEWHERE: WrapperSpec = { shape: 'anywhere', trust: 'remote' };
/** Where its command begins is not looked for. */
const SOMEWHERE: WrapperSpec = { shape: 'anywhere', trust: 'guarded' };

const LOADER: WrapperSpec = {
  shape: 'command',
  trust: 'guarded',
  long: 'library-path= preload= audit= inhibit-cache argv0=',
};

const plain = (trust: WrapperSpec['trust'], flags: Omit<WrapperSpec, 'shape' | 'trust'> = {}): WrapperSpec => ({
  shape: 'command',
  trust,
  ...flags,
});

/** Keys are the name of a program, or its name and the words that select the running of commands. */
export const WRAPPERS: Readonly<Record<string, WrapperSpec>> = {
  // The shell itself.
  command: plain('clear', { short: 'p', asks: 'v V' }),
  builtin: plain('clear'),
  exec: plain('clear', { short: 'cl' }),
  eval: { shape: 'line', trust: 'clear' },
  trap: { shape: 'lines', trust: 'clear', lines: 1, asks: 'p l' },
  'jobs -x': plain('clear'),
  sh: SHELL,
  bash: SHELL,
  dash: SHELL,
  ash: SHELL,
  ksh: SHELL,
  mksh: SHELL,
  rbash: SHELL,
  zsh: OTHER_SHELL,
  fish: OTHER_SHELL,
  csh: OTHER_SHELL,
  tcsh: OTHER_SHELL,
  pwsh: OTHER_SHELL,

  // How a command is run: with which time, order, output, environment.
  env: plain('clear', {
    assigns: true,
    dash: true,
    short: 'i0v',
    shortValue: 'uCS',
    splits: 'S split-string',
    folders: 'C chdir',
    long:
      'ignore-environment null unset= chdir= split-string= debug block-signal[=] default-signal[=] ' +
      'ignore-signal[=] list-signal-handling',
  }),
  time: plain('clear', { short: 'pqvV', shortValue: 'f', long: 'format= portability quiet verbose' }),
  timeout: plain('clear', {
    operands: 1,
    short: 'vpf',
    shortValue: 'sk',
    long: 'foreground preserve-status verbose signal= kill-after=',
  }),
  gtimeout: plain('clear', {
    operands: 1,
    short: 'v',
    shortValue: 'sk',
    long: 'foreground preserve-status signal= kill-after=',
  }),
  nice: plain('clear', { number: true, shortValue: 'n', long: 'adjustment=' }),
  ionice: plain('clear', { short: 't', shortValue: 'cn', long: 'class= classdata= ignore' }),
  taskset: plain('clear', { operands: 1, short: 'ac', long: 'all-tasks cpu-list' }),
  nohup: plain('clear'),
  setsid: plain('clear', { short: 'cfw', long: 'ctty fork wait' }),
  stdbuf: plain('clear', { shortValue: 'ioe', long: 'input= output= error=' }),
  unbuffer: plain('clear', { short: 'p' }),
  choom: plain('guarded', { shortValue: 'n', long: 'adjust=' }),
  numactl: plain('guarded', {
    short: 'al',
    shortValue: 'iNmCp',
    long: 'all localalloc interleave= cpunodebind= membind= physcpubind= preferred=',
  }),
  prlimit: plain('guarded', { long: 'nofile[=] nproc[=] as[=] core[=] cpu[=] data[=] fsize[=] stack[=]' }),
  // What they take before the command may be left out.
  setarch: SOMEWHERE,
  chrt: SOMEWHERE,
  linux32: plain('guarded', { short: 'BFILRSTXZ3v' }),
  linux64: plain('guarded', { short: 'BFILRSTXZ3v' }),
  arch: plain('guarded', { long: 'x86_64 arm64 arm64e' }),
  caffeinate: plain('clear', { short: 'dimsu', shortValue: 't' }),
  cpulimit: plain('guarded', { short: 'biqvz', shortValue: 'l', long: 'limit= foreground background verbose' }),
  rlwrap: plain('guarded', { short: 'acimnrRsvW', shortValue: 'bCdefgHhlpPSt' }),
  'xvfb-run': plain('guarded', {
    short: 'al',
    shortValue: 'efnps',
    long: 'auto-servernum auth-file= error-file= listen-tcp server-num= xauth-protocol= server-args= wait=',
  }),
  'dbus-run-session': plain('guarded', { long: 'config-file= dbus-daemon=' }),
  'dbus-launch': plain('guarded', { long: 'exit-with-session sh-syntax csh-syntax config-file=' }),
  fakeroot: plain('guarded', { short: 'uv', shortValue: 'lsi', long: 'lib= faked= unknown-is-real' }),
  faketime: plain('guarded', { operands: 1, short: 'fm', long: 'exclude-monotonic' }),
  torsocks: plain('guarded', { short: 'idq', shortValue: 'u' }),
  proxychains: plain('guarded', { short: 'q', shortValue: 'f' }),
  proxychains4: plain('guarded', { short: 'q', shortValue: 'f' }),
  watch: {
    shape: 'line',
    trust: 'guarded',
    short: 'bcCdegprtwx',
    shortValue: 'nq',
    long: 'beep color no-color differences[=] errexit chgexit interval= precise no-title no-wrap exec equexit=',
  },
  entr: plain('guarded', { short: 'acdnprsz', joined: 's' }),
  script: {
    shape: 'login',
    trust: 'guarded',
    short: 'aefq',
    shortValue: 'BcEIOTmo',
    scripts: 'c command',
    long: 'append command= return flush quiet log-io= log-in= log-out= log-timing= output-limit= echo=',
  },
  flock: plain('guarded', {
    operands: 1,
    short: 'enosux',
    shortValue: 'wEc',
    scripts: 'c command',
    long: 'shared exclusive unlock nonblock close no-fork timeout= wait= conflict-exit-code= verbose command=',
  }),
  strace: plain('guarded', {
    short: 'CDFcdfiknqrtTvwxyYzZ',
    shortValue: 'abeEIoOpPsSuUX',
    long: 'follow-forks output= trace= summary summary-only trace-path= quiet[=] decode-fds[=]',
  }),
  ltrace: plain('guarded', { short: 'bcCfhiLrStTV', shortValue: 'aAeDFlnopsuwxX', long: 'output=' }),
  'perf stat': plain('guarded', { short: 'adv', shortValue: 'eorCGp', long: 'event= output= repeat= detailed' }),
  'perf record': plain('guarded', { short: 'agqv', shortValue: 'ceFoptu', long: 'event= output= freq= call-graph=' }),
  valgrind: plain('guarded', {
    short: 'qv',
    long: 'tool= leak-check= track-origins= error-exitcode= log-file= suppressions= trace-children= quiet verbose',
  }),
  gdb: plain('guarded', { short: 'q', long: 'args batch quiet' }),
  hyperfine: {
    shape: 'lines',
    trust: 'guarded',
    short: 'Ni',
    shortValue: 'wmMrspPcLSuo',
    scripts: 's setup p prepare c cleanup conclude',
    long: 'warmup= min-runs= max-runs= runs= setup= prepare= conclude= cleanup= shell= ignore-failure export-json= export-markdown= show-output',
  },

  // As whom, and where.
  sudo: plain('guarded', {
    assigns: true,
    short: 'AbBEeHiKknPSsv',
    shortValue: 'CDghpRrTtUu',
    joined: 'i s login shell',
    folders: 'D chdir',
    long:
      'askpass background bell chdir= preserve-env[=] edit group= set-home host= login remove-timestamp ' +
      'reset-timestamp list non-interactive preserve-groups prompt= chroot= role= stdin shell type= command-timeout= ' +
      'other-user= user= validate',
  }),
  doas: plain('guarded', { short: 'Lns', shortValue: 'aCu' }),
  pkexec: plain('guarded', { long: 'user= disable-internal-agent keep-cwd' }),
  su: {
    shape: 'login',
    trust: 'guarded',
    short: 'flmpP',
    shortValue: 'cgGsTw',
    scripts: 'c command session-command',
    long: 'command= session-command= fast group= supp-group= login preserve-environment pty shell= whitelist-environment=',
  },
  runuser: {
    shape: 'login',
    trust: 'guarded',
    commands: 'u user',
    short: 'flmpP',
    shortValue: 'cgGsuTw',
    scripts: 'c command session-command',
    long: 'command= session-command= fast group= supp-group= login preserve-environment pty shell= user=',
  },
  sg: { shape: 'login', trust: 'guarded', shortValue: 'c', scripts: 'c' },
  gosu: plain('guarded', { operands: 1 }),
  'su-exec': plain('guarded', { operands: 1 }),
  setuidgid: plain('guarded', { operands: 1 }),
  'ip netns exec': { shape: 'anywhere', trust: 'guarded', abbreviates: true },
  'ip vrf exec': { shape: 'anywhere', trust: 'guarded', abbreviates: true },
  setpriv: plain('guarded', {
    long:
      'clear-groups keep-groups init-groups groups= reuid= regid= ruid= euid= rgid= egid= inh-caps= ambient-caps= ' +
      'bounding-set= no-new-privs pdeathsig= reset-env securebits= selinux-label= apparmor-profile=',
  }),
  chroot: plain('guarded', { operands: 1, long: 'groups= userspec= skip-chdir' }),
  unshare: plain('guarded', {
    short: 'CcfimnprTUu',
    shortValue: 'RSGw',
    folders: 'w wd',
    long:
      'ipc[=] mount[=] net[=] pid[=] uts[=] user[=] cgroup[=] time[=] fork mount-proc[=] map-root-user ' +
      'map-current-user map-user= map-group= map-auto kill-child[=] propagation= setgroups= root= wd= setuid= setgid=',
  }),
  nsenter: plain('guarded', {
    short: 'aCFiImnpTUuWre',
    shortValue: 'tSG',
    long: 'all target= mount[=] uts[=] ipc[=] net[=] pid[=] cgroup[=] user[=] time[=] setuid= setgid= root[=] wd[=] no-fork',
  }),
  bwrap: plain('guarded', {
    long: 'unshare-all unshare-net unshare-pid share-net die-with-parent new-session clearenv',
  }),
  firejail: plain('guarded', { long: 'noprofile quiet private[=] net= profile= whitelist= blacklist= read-only=' }),
  proot: plain('guarded', { short: '0iS', shortValue: 'brwqk', folders: 'w' }),
  'systemd-run': plain('guarded', {
    short: 'dGPqrSt',
    shortValue: 'EHMpu',
    long: 'user system scope unit= property= pty pipe wait collect quiet slice= uid= gid= setenv= on-active= same-dir working-directory=',
    folders: 'working-directory',
  }),
  cgexec: plain('guarded', { shortValue: 'g', long: 'sticky' }),
  capsh: plain('guarded', { program: 'bash', long: 'drop= caps= user= uid= gid= print' }),
  'aa-exec': plain('guarded', { short: 'idv', shortValue: 'pn', long: 'profile= namespace= immediate debug verbose' }),
  'systemd-inhibit': plain('guarded', { long: 'what= who= why= mode=' }),
  'systemd-cat': plain('guarded', { shortValue: 'tp', long: 'identifier= priority=' }),
  'ssh-agent': plain('guarded', { short: 'cs', shortValue: 'aEPt' }),
  screen: plain('guarded', { short: 'aAdDilLmqrRUx', shortValue: 'ehpsStT' }),
  'start-stop-daemon': plain('guarded', {
    short: 'SKTHbmqtvo',
    shortValue: 'apnucgdxrNP',
    long: 'start background make-pidfile pidfile= chuid= chdir= exec= startas= quiet oknodo name= user= nicelevel=',
    scripts: 'x a exec startas',
  }),
  'ld.so': LOADER,
  'ld-linux-x86-64.so.2': LOADER,
  'ld-linux.so.2': LOADER,
  'ld-linux-aarch64.so.1': LOADER,
  'ld-linux-armhf.so.3': LOADER,
  'ld-musl-x86_64.so.1': LOADER,
  'ld-musl-aarch64.so.1': LOADER,
  catchsegv: plain('guarded'),
  runcon: SOMEWHERE,
  daemonize: SOMEWHERE,
  tsp: SOMEWHERE,
  nq: SOMEWHERE,
  dtach: SOMEWHERE,
  abduco: SOMEWHERE,
  'pueue add': SOMEWHERE,
  schroot: SOMEWHERE,
  run0: SOMEWHERE,
  'systemd-nspawn': SOMEWHERE,
  'flatpak-spawn': SOMEWHERE,
  sshpass: plain('guarded', { short: 'ev', shortValue: 'pfdP' }),
  envdir: plain('guarded', { operands: 1 }),
  envchain: SOMEWHERE,
  dotenv: SOMEWHERE,
  'op run': SOMEWHERE,
  'aws-vault exec': SOMEWHERE,
  'doppler run': SOMEWHERE,
  'chamber exec': SOMEWHERE,
  'infisical run': SOMEWHERE,
  'sops exec-env': SOMEWHERE,
  'sops exec-file': SOMEWHERE,
  watchexec: SOMEWHERE,
  'cargo watch': SOMEWHERE,
  'cargo-watch': SOMEWHERE,
  'rr record': SOMEWHERE,
  gdbserver: SOMEWHERE,
  chronic: plain('guarded', { short: 'ev' }),
  ifne: plain('guarded', { short: 'n' }),
  eatmydata: plain('guarded'),
  tini: plain('guarded', { short: 'svwg', shortValue: 'ep' }),
  'dumb-init': plain('guarded', { short: 'cv', shortValue: 'r', long: 'single-child verbose rewrite=' }),
  busybox: plain('guarded'),
  coreutils: plain('guarded'),
  toybox: plain('guarded'),

  // Once for each of many.
  xargs: {
    shape: 'xargs',
    trust: 'clear',
    short: '0oprtx',
    shortValue: 'EdILnPs',
    shortOptional: 'eil',
    long:
      'null delimiter= eof[=] replace[=] max-lines[=] max-args= open-tty max-procs= interactive ' +
      'no-run-if-empty max-chars= show-limits verbose exit',
  },
  // What it fills in is not known, so that it is always asked about.
  parallel: { shape: 'parallel', trust: 'clear' },
  find: { shape: 'find', trust: 'guarded', clauses: '-exec -execdir -ok -okdir' },
  fd: FD,
  fdfind: FD,

  // Tools of projects that run a command in an environment of their own.
  'uv run': plain('guarded', {
    short: 'qvm',
    shortValue: 'p',
    long: 'with= extra= group= python= no-sync frozen locked isolated quiet',
  }),
  'poetry run': plain('guarded', { short: 'nqv' }),
  'pipenv run': plain('guarded'),
  'pdm run': plain('guarded', { short: 's' }),
  'hatch run': plain('guarded'),
  'rye run': plain('guarded'),
  'conda run': plain('guarded', {
    short: 'v',
    shortValue: 'np',
    long: 'name= prefix= no-capture-output live-stream cwd=',
  }),
  'bundle exec': plain('guarded', { long: 'keep-file-descriptors' }),
  'npm exec': plain('guarded', {
    short: 'y',
    shortValue: 'cw',
    scripts: 'c call',
    long: 'yes package= call= workspace=',
  }),
  'pnpm exec': plain('guarded', { short: 'cr', long: 'recursive parallel shell-mode' }),
  'yarn exec': plain('guarded'),
  'lerna exec': plain('guarded', { long: 'scope= ignore= parallel stream concurrency= no-bail' }),
  'direnv exec': plain('guarded', { operands: 1 }),
  'rbenv exec': plain('guarded'),
  'pyenv exec': plain('guarded'),
  'asdf exec': plain('guarded'),
  'mise exec': plain('guarded', { shortValue: 'Cc', scripts: 'c command', long: 'command= cd=' }),
  'nix develop': plain('guarded', { shortValue: 'c', scripts: 'c command', long: 'command=' }),
  'nix-shell': plain('guarded', { shortValue: 'pA', scripts: 'run command', long: 'run= command= packages= pure' }),
  'git bisect run': plain('guarded'),
  'git submodule foreach': { shape: 'line', trust: 'guarded', short: 'q', long: 'recursive quiet' },

  // Elsewhere. Where the command begins is not looked for: any word may be its first.
  ssh: ELSEWHERE,
  autossh: ELSEWHERE,
  mosh: ELSEWHERE,
  'vagrant ssh': ELSEWHERE,
  'docker run': ELSEWHERE,
  'docker exec': ELSEWHERE,
  'docker compose run': ELSEWHERE,
  'docker compose exec': ELSEWHERE,
  'podman run': ELSEWHERE,
  'podman exec': ELSEWHERE,
  'kubectl exec': ELSEWHERE,
  'nerdctl run': ELSEWHERE,
  'nerdctl exec': ELSEWHERE,
  'lxc exec': ELSEWHERE,
  'incus exec': ELSEWHERE,
};
