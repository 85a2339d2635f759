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
  /** Its own flags may stand behind the command too, up to `--`. */
  mixes?: boolean;
  /** What it runs is a program of a package: a rule for it is enough, but for what is forbidden. */
  packages?: boolean;
}

const SHELL: WrapperSpec = {
  shape: 'shell',
  trust: 'clear',
  short: 'abcefhlmnprstuvxBCEHPT',
  shortValue: 'o',
  // The value is the next word, whatever letters follow.
  words: 'apart',
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

const each = (names: string, spec: WrapperSpec): Record<string, WrapperSpec> =>
  Object.fromEntries(names.split(', ').map((name) => [name, spec]));

const plain = (trust: WrapperSpec['trust'], flags: Omit<WrapperSpec, 'shape' | 'trust'> = {}): WrapperSpec => ({
  shape: 'command',
  trust,
  ...flags,
});

const NPM_EXEC = plain('guarded', {
  mixes: true,
  short: 'y',
  shortValue: 'cw',
  scripts: 'c call',
  long: 'yes package= call= workspace= workspaces',
});
const PACKAGES = plain('guarded', {
  packages: true,
  short: 'yqs',
  shortValue: 'pcw',
  scripts: 'c call',
  long: 'yes no-install quiet silent bun offline prefer-offline package= call= workspace= from= with= python= spec=',
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
  ...each('fish, csh, tcsh, pwsh, xonsh, nu, elvish, oil, osh, ysh, murex, ion, rc, es, yash', OTHER_SHELL),

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
  // Names of machines, which are other names of setarch.
  i386: SOMEWHERE,
  i486: SOMEWHERE,
  i586: SOMEWHERE,
  i686: SOMEWHERE,
  x86_64: SOMEWHERE,
  aarch64: SOMEWHERE,
  uname26: SOMEWHERE,
  uclampset: SOMEWHERE,
  coresched: SOMEWHERE,
  pipesz: SOMEWHERE,
  arch: plain('guarded', { long: 'x86_64 arm64 arm64e' }),
  caffeinate: plain('clear', { short: 'dimsu', shortValue: 't' }),
  cpulimit: plain('guarded', { short: 'biqvz', shortValue: 'l', long: 'limit= foreground background verbose' }),
  rlwrap: plain('guarded', { short: 'acimnrRsvW', shortValue: 'bCdefgHhlpPSt' }),
  'xvfb-run': plain('guarded', {
    short: 'al',
    shortValue: 'efnps',
    long: 'auto-servernum auth-file= error-file= listen-tcp server-num= xauth-protocol= server-args= wait=',
  }),
  // Not the flags that name a program, a library or a configuration of theirs.
  'dbus-run-session': plain('guarded'),
  'dbus-launch': plain('guarded', { long: 'exit-with-session sh-syntax csh-syntax' }),
  fakeroot: plain('guarded', { short: 'uv', shortValue: 'si', long: 'unknown-is-real' }),
  'fakeroot-sysv': SOMEWHERE,
  'fakeroot-tcp': SOMEWHERE,
  memusage: SOMEWHERE,
  sotruss: SOMEWHERE,
  'dpkg-architecture': SOMEWHERE,
  'fstab-decode': plain('guarded'),
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
  // Not `-o`: behind a bar it is a command.
  strace: plain('guarded', {
    short: 'CDFcdfiknqrtTvwxyYzZ',
    shortValue: 'abeEIOpPsSuUX',
    long: 'follow-forks trace= summary summary-only trace-path= quiet[=] decode-fds[=]',
  }),
  ltrace: plain('guarded', { short: 'bcCfhiLrStTV', shortValue: 'aAeDFlnopsuwxX', long: 'output=' }),
  'perf stat': plain('guarded', { short: 'adv', shortValue: 'eorCGp', long: 'event= output= repeat= detailed' }),
  'perf record': plain('guarded', { short: 'agqv', shortValue: 'ceFoptu', long: 'event= output= freq= call-graph=' }),
  valgrind: plain('guarded', {
    short: 'qv',
    long: 'tool= leak-check= track-origins= error-exitcode= log-file= suppressions= trace-children= quiet verbose',
  }),
  gdb: plain('guarded', { short: 'q', long: 'args batch quiet' }),
  pee: { shape: 'lines', trust: 'guarded' },
  mispipe: { shape: 'lines', trust: 'guarded' },
  hyperfine: {
    shape: 'lines',
    trust: 'guarded',
    short: 'Ni',
    // Not `-L`: it fills in words of the lines.
    shortValue: 'wmMrspPcSuo',
    scripts: 's setup p prepare c cleanup conclude S shell',
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
    // Not `-p`: properties may be commands.
    shortValue: 'EHMu',
    long: 'user system scope unit= pty pipe wait collect quiet slice= uid= gid= setenv= on-active= same-dir working-directory=',
    folders: 'working-directory',
  }),
  cgexec: plain('guarded', { shortValue: 'g', long: 'sticky' }),
  capsh: plain('guarded', { program: 'bash', long: 'drop= caps= user= uid= gid= print' }),
  'aa-exec': plain('guarded', { short: 'idv', shortValue: 'pn', long: 'profile= namespace= immediate debug verbose' }),
  'systemd-inhibit': plain('guarded', { long: 'what= who= why= mode=' }),
  'systemd-cat': plain('guarded', { shortValue: 'tp', long: 'identifier= priority=' }),
  'ssh-agent': plain('guarded', { short: 'cs', shortValue: 'aEPt' }),
  screen: plain('guarded', { short: 'aAdDilLmqrRUx', shortValue: 'ehpStT' }),
  'ld.so': LOADER,
  'ld-linux-x86-64.so.2': LOADER,
  'ld-linux.so.2': LOADER,
  'ld-linux-aarch64.so.1': LOADER,
  'ld-linux-armhf.so.3': LOADER,
  'ld-musl-x86_64.so.1': LOADER,
  'ld-musl-aarch64.so.1': LOADER,
  catchsegv: plain('guarded'),
  ...each(
    'runcon, daemonize, daemon, tsp, nq, dtach, abduco, pueue add, schroot, run0, systemd-nspawn, flatpak-spawn, ' +
      'start-stop-daemon, chpst, softlimit, timelimit, setlock, s6-setuidgid, s6-env, s6-softlimit, with-contenv, ' +
      'lckdo, zrun, fakechroot, trickle, multitime, zellij run, zellij action, run-one, run-this-one, keep-one-running, ' +
      'with-lock-ex, really, schedtool, scriptlive, systemd-socket-activate, systemd-notify, debconf, sensible-terminal, ' +
      'x-terminal-emulator, gnome-terminal, konsole, xfce4-terminal, alacritty, kitty, foot, wezterm, urxvt, st, xinit, startx, ' +
      'byobu, dvtm, envuidgid, fghack, pgrphack, s6-setlock, execlineb, catatonit, wait-for-it, wait-for-it.sh, dockerize, ' +
      'xe, gargs, pexec, xjobs, pdsh, pssh, parallel-ssh, clush, nsjail, minijail0, torify, tsocks, graftcp, usewithtor, ' +
      'faketty, cset, likwid-pin, sbatch, bsub, condor_run, gpg-agent, optirun, primusrun, prime-run, gamemoderun, mangohud, ' +
      'gamescope, dzdo, ksu, gksu, kdesu, pfexec, sudo-rs, foreman run, honcho run, overmind run, snap run, flatpak run, ' +
      'qemu-x86_64, qemu-aarch64, qemu-arm, wine, box64, bpftrace, trace-cmd record, landrun, ' +
      'pm2 start, retry, mpirun, mpiexec, srun, pkgx, annotate-output, logsave, uftrace, heaptrack, sandbox-exec, please, winpty, ' +
      'tmux new-session, tmux new, tmux new-window, tmux neww, tmux split-window, tmux splitw, tmux respawn-pane, ' +
      'tmux respawnp, tmux respawn-window, tmux respawnw, tmux run-shell, tmux run, tmux if-shell, tmux if, ' +
      'tmux display-popup, tmux popup, tmux pipe-pane, tmux pipep, tmux send-keys, tmux send',
    SOMEWHERE,
  ),
  sshpass: plain('guarded', { short: 'ev', shortValue: 'pfdP' }),
  envdir: plain('guarded', { operands: 1 }),
  ...each(
    'envchain, dotenv, dotenvx, env-cmd, cross-env-shell, op run, aws-vault exec, doppler run, chamber exec, ' +
      'infisical run, sops exec-env, sops exec-file, teller run, berglas exec, vaultenv, envconsul, summon, ' +
      'watchexec, cargo watch, cargo-watch, reflex, onchange, chokidar, when-changed, watchman-make, ' +
      'start-server-and-test, start-test, server-test, forever start, rr record, gdbserver, lldb, rust-gdb, rust-lldb',
    SOMEWHERE,
  ),
  'cross-env': plain('guarded', { assigns: true }),
  concurrently: {
    shape: 'lines',
    trust: 'guarded',
    short: 'kgrhi',
    shortValue: 'npcmts',
    long: 'kill-others kill-others-on-fail group raw no-color hide= names= prefix= prefix-colors= max-processes= success= timings',
  },
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
  sem: { shape: 'parallel', trust: 'clear' },
  find: { shape: 'find', trust: 'guarded', clauses: '-exec -execdir -ok -okdir' },
  fd: FD,
  fdfind: FD,

  // Tools of projects that run a command in an environment of their own.
  'uv run': plain('guarded', {
    short: 'qvm',
    shortValue: 'p',
    folders: 'directory',
    long: 'with= extra= group= python= no-sync frozen locked isolated quiet no-project all-extras all-groups dev no-dev directory=',
  }),
  'poetry run': plain('guarded', { short: 'nqv' }),
  'pdm run': plain('guarded', { short: 's' }),
  'conda run': plain('guarded', {
    short: 'v',
    shortValue: 'np',
    folders: 'cwd',
    long: 'name= prefix= no-capture-output live-stream cwd=',
  }),
  'bundle exec': plain('guarded', { long: 'keep-file-descriptors' }),
  'npm exec': NPM_EXEC,
  'npm x': NPM_EXEC,
  'bun run': plain('guarded', {
    short: 'bi',
    shortValue: 'rF',
    long: 'bun silent watch hot smol if-present filter= preload= cwd=',
    folders: 'cwd',
  }),
  // Of a name that the project gives no meaning to, they run the program.
  'yarn run': plain('guarded', {
    packages: true,
    short: 'BT',
    long: 'silent binaries-only top-level cwd=',
    folders: 'cwd',
  }),
  'pnpm run': plain('guarded', {
    packages: true,
    short: 'rs',
    shortValue: 'CF',
    long: 'recursive silent if-present parallel stream filter= dir=',
    folders: 'C dir',
  }),
  corepack: plain('guarded', { packages: true }),
  'deno task': plain('guarded', { packages: true, short: 'q', long: 'quiet cwd=', folders: 'cwd' }),
  'just --command': plain('guarded'),
  'just -c': plain('guarded'),
  'pnpm exec': plain('guarded', { short: 'cr', long: 'recursive parallel shell-mode' }),
  'lerna exec': plain('guarded', { mixes: true, long: 'scope= ignore= parallel stream concurrency= no-bail' }),
  'direnv exec': plain('guarded', { operands: 1 }),
  'rustup run': plain('guarded', { operands: 1, long: 'install' }),
  ...each(
    'pipenv run, hatch run, rye run, yarn exec, rbenv exec, pyenv exec, asdf exec, nodenv exec, jenv exec, goenv exec, ' +
      'plenv exec, phpenv exec, luaenv exec, tfenv exec',
    plain('guarded'),
  ),
  ...each('npx, pnpx, bunx, bun x, pnpm dlx, yarn dlx, uvx, uv tool run, pipx run', PACKAGES),
  // What stands before the command are names of tools, or flags with any number of values.
  ...each(
    'mise exec, mise x, rtx exec, rtx x, nvm exec, nvm run, fnm exec, volta run, n exec, n run, rvm do, chruby-exec, ' +
      'nix shell, nix develop, nix run, nix-shell, nix-user-chroot, guix shell, guix environment, devbox run, devenv shell, ' +
      'pixi run, mamba run, micromamba run, nx exec, rush-pnpm exec, spack env, spack build-env, tox exec',
    SOMEWHERE,
  ),
  'git bisect run': plain('guarded'),
  'git merge-index': SOMEWHERE,
  'git remote-ext': { shape: 'line', trust: 'guarded', operands: 1 },
  'git submodule foreach': { shape: 'line', trust: 'guarded', short: 'q', long: 'recursive quiet' },

  // Elsewhere. Where the command begins is not looked for: any word may be its first.
  ...each(
    'docker-compose run, docker-compose exec, podman-compose run, podman-compose exec, oc exec, oc run, kubectl run, ' +
      'kubectl debug, oc rsh, multipass exec, limactl shell, lima, colima ssh, toolbox run, distrobox enter, distrobox-enter, ' +
      'apptainer exec, singularity exec, devcontainer exec, machinectl shell, heroku run, fly ssh, gcloud compute ssh, ' +
      'aws ecs execute-command, az vm run-command, wsl, pct exec, virsh qemu-agent-command, adb shell',
    ELSEWHERE,
  ),
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
