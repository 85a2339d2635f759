/**
 * Arguments by which a program runs another one, loads code, or does what its name does not tell. A rule for the program
 * does not cover them unless it names them.
 */
export interface DangerSpec {
  /** Letters of short flags. */
  short?: string;
  /** Letters that take a value: what follows them in a word is no flag. */
  values?: string;
  /** Names of long flags, parted by spaces. Abbreviations of them count. */
  long?: string;
  /** Words that are dangerous as such. */
  words?: string;
  /** How dangerous words begin. */
  starts?: string;
  /** What dangerous words hold. */
  holds?: string;
  /** The value of such a flag is a command line. */
  runs?: boolean;
  /** Subcommands without danger; any other has one, and so has any flag in front that takes no value. */
  harmless?: string;
  /** Letters may come without a dash in the first argument: `tar xf`. */
  bundles?: boolean;
}

const VIM: DangerSpec = { short: 'cSsuW', values: 'Ttw', long: 'cmd', starts: '+' };
const NETCAT: DangerSpec = { short: 'ec', values: 'pwsiIOqx', long: 'exec sh-exec lua-exec', runs: true };
// `@file` stands for the words in a file.
const COMPILER: DangerSpec = { starts: '-fplugin= -wrapper -specs= -B -Xclang @' };
// Another file of settings may name another shell.
const PACKAGES: DangerSpec = { long: 'script-shell node-options', starts: '--userc --globalc' };
const AWK: DangerSpec = { short: 'liEfe', values: 'Fv', long: 'load include exec file source' };

/** Keys are the name of a program, or its name and a subcommand. */
export const DANGERS: Readonly<Record<string, DangerSpec>> = {
  tar: {
    short: 'IF',
    values: 'fCbgHKLNTVX',
    long: 'checkpoint-action to-command use-compress-program rsh-command rmt-command info-script new-volume-script',
    runs: true,
    bundles: true,
  },
  cpio: { long: 'rsh-command', runs: true },
  rsync: { short: 'e', values: 'fBTM', long: 'rsh rsync-path', runs: true },
  zip: { long: 'unzip-command', starts: '-TT', runs: true },
  find: { words: '-delete -fprint -fprint0 -fprintf -fls' },
  sort: { long: 'compress-program', runs: true },
  split: { long: 'filter', runs: true },
  install: { long: 'strip-program', runs: true },
  patch: { short: 'e', values: 'BDdFgioprVYz', long: 'ed' },
  rg: { short: 'z', values: 'ABCdEefgjMmrtT', long: 'pre search-zip hostname-bin', runs: true },
  ag: { long: 'pager', runs: true },
  ack: { long: 'pager', runs: true },
  bat: { long: 'pager', runs: true },
  man: { short: 'PH', values: 'CELMmRrSeps', long: 'pager html', runs: true },
  less: {
    short: 'koO',
    values: 'bDhjPptTxyz',
    long: 'lesskey-file lesskey-src lesskey-content log-file',
    starts: '+! +:! +s +v +|',
  },
  more: { starts: '+! +:! +v' },
  vim: VIM,
  vi: VIM,
  nvim: VIM,
  view: VIM,
  ex: VIM,
  emacs: { short: 'fl', long: 'eval execute funcall load script batch' },
  nano: { short: 's', values: 'CJQTXYZor', long: 'speller', runs: true },
  awk: AWK,
  gawk: AWK,
  mawk: { ...AWK, short: 'Wf' },
  dc: { short: 'ef', long: 'expression file', holds: '!' },
  m4: { short: 'D', values: 'IUF', holds: 'syscmd' },
  fzf: { long: 'preview bind' },
  nodemon: { short: 'x', long: 'exec', runs: true },
  ssh: { short: 'oFI', values: 'BbcDEeiJLlmOpQRSWw' },
  scp: { short: 'oFSD', values: 'cilPX', runs: true },
  sftp: { short: 'oFSDb', values: 'BciJlPRsX' },
  curl: { short: 'K', values: 'AbcCdDeEFhHmoPQrtTuUwxXyYz', long: 'config' },
  wget: { short: 'e', values: 'aABDiIloOPQRtTUwX', long: 'execute use-askpass config' },
  nc: NETCAT,
  ncat: NETCAT,
  netcat: NETCAT,
  socat: { starts: 'EXEC: SYSTEM: SHELL: exec: system: shell:' },
  tcpdump: { short: 'z', values: 'BcCEFGijmMrsTVwWy', runs: true },
  make: { long: 'eval', starts: 'SHELL= MAKEFLAGS= .SHELLFLAGS=' },
  gmake: { long: 'eval', starts: 'SHELL= MAKEFLAGS= .SHELLFLAGS=' },
  cmake: { words: '-E -P' },
  npm: PACKAGES,
  pnpm: PACKAGES,
  yarn: PACKAGES,
  go: { starts: '-exec -toolexec -vettool --exec --toolexec --vettool' },
  cargo: { long: 'config' },
  gradle: { short: 'I', long: 'init-script' },
  java: { starts: '-javaagent: -agentlib: -agentpath: @' },
  javac: { words: '-processor -processorpath --processor-path', starts: '-J -Xplugin: @' },
  gcc: COMPILER,
  'g++': COMPILER,
  cc: COMPILER,
  clang: COMPILER,
  'clang++': COMPILER,
  'c++': COMPILER,
  ld: { long: 'plugin', starts: '-plugin @' },
  ctags: { long: 'options' },
  psql: { holds: '\\!' },
  mysql: { long: 'pager tee', holds: '\\!' },
  sqlite3: { holds: '.shell .system .load .output .once edit( writefile( load_extension(' },
  // Its commands may be abbreviated, and most of them run what they are given.
  tmux: {
    values: 'LST',
    harmless:
      'ls list-sessions lsw list-windows lsp list-panes lsc list-clients lscm list-commands lsk list-keys lsb list-buffers has has-session info server-info capturep capture-pane kill-session kill-window killw kill-pane killp kill-server show show-options showw show-window-options showb show-buffer showenv show-environment start start-server',
  },
  xterm: { words: '-e' },
  'apt-get': { short: 'o', long: 'option' },
  apt: { short: 'o', long: 'option' },
  dpkg: { long: 'pre-invoke post-invoke status-logger' },
  gh: { words: 'alias extension' },
  kubectl: { long: 'kubeconfig' },
  helm: { long: 'post-renderer' },
  docker: { long: 'privileged' },
  exiftool: { words: '-if -config -@' },
  openssl: { words: '-engine -provider-path' },
  git: {
    long: 'upload-pack receive-pack exec-path config-env ext-diff textconv output smtp-server sendmail-cmd',
    starts: 'ext:: fd::',
    runs: true,
  },
  'git clone': { short: 'uc', values: 'bjo' },
  'git send-email': { starts: '--to-c --cc-c --hea' },
  'git daemon': { long: 'access-hook', runs: true },
  'git svn': { long: 'authors-prog', runs: true },
  // What is patched may lie outside of the working tree.
  'git apply': { long: 'unsafe-paths' },
  'git instaweb': { short: 'dbm', values: 'p', long: 'httpd browser module-path', runs: true },
  'git web--browse': { short: 'bt', values: 'c', long: 'browser tool', runs: true },
  'git mergetool': { holds: '../' },
  'git filter-repo': {
    long: 'filename-callback file-info-callback message-callback name-callback email-callback refname-callback blob-callback commit-callback tag-callback reset-callback done-callback',
  },
  'git checkout-index': { long: 'prefix' },
  'git grep': { short: 'O', values: 'ABCefm', long: 'open-files-in-pager', runs: true },
  'git rebase': { short: 'x', values: 'CsX', runs: true },
  // The name of a tool is looked up as a file, from a folder of git's own.
  'git difftool': { short: 'x', values: 't', long: 'extcmd', holds: '../', runs: true },
  'git filter-branch': {
    long: 'setup env-filter tree-filter index-filter parent-filter msg-filter commit-filter tag-name-filter',
    runs: true,
  },
};
