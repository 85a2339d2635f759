import { HOLE, hasHole } from '../shell/hole.js';
import { changedByGit, hooksOfTemplate } from './git-config.js';
import { takenByStash } from './git-sweep.js';
import { isPrintingSed } from './sed.js';

/**
 * Which operands of a program are files that it changes. Flags are not looked at but for these; where it is not certain
 * what an operand is, it counts as changed.
 */
export interface WriterSpec {
  /** `all` operands, the `last` one, all but the first (`rest`), only the `first`, or `none`. */
  writes: 'all' | 'last' | 'rest' | 'first' | 'none';
  /** Flags whose value is a file that is written: `o output`. */
  outputs?: string;
  /** Flags whose value is a folder that is written to, instead of the last operand. */
  targets?: string;
  /** It writes only with one of these flags. */
  only?: string;
  /** With one of these flags it writes all operands. */
  all?: string;
  /** Flags in whose place the first operand is a script, or another text that is no file. */
  scripts?: string;
  /** Letters without values that may stand before such a flag: `-ne`. */
  plain?: string;
  /** Operands are `name=value`, and this name is written. */
  named?: string;
  /** It makes files with the names of its operands: in the `last` one if that is a folder, or `here`. */
  joins?: 'last' | 'here';
  /** It does so only with one of these flags. */
  joinsWith?: string;
  /** Flags with which the folders of operands are kept in what it makes. */
  keeps?: string;
  /** Flags with which the contents of a folder are put into the target, not the folder. */
  merges?: string;
  /** It changes what lies below what it writes: `always`, of `sources` alone, where a `folder` is named, or with a flag. */
  spreads?: string;
  /** It takes operands out of an archive, into its targets: `always`, or with one of these flags. */
  unpacks?: string;
  /** Flags with which it takes names from a list. */
  lists?: string;
  /** What it reads on its standard input names files that it writes. */
  takesNames?: boolean;
  /** It opens what lies below the folders that it reads: `always`, where a `folder` may be named, or with one of these flags. */
  recurses?: string;
  /** It goes through the links below them: `always`, or with one of these flags. */
  follows?: string;
  /** Flags with which it does not. */
  keepsLinks?: string;
  /** Flags with which it makes links, that start from where they are put. */
  links?: string;
  /**
   * With one of these flags, or `always`, it puts links where it writes, or folders that may hold some: `copies` of its
   * sources, or `inside` of its target whatever that is; `links` to them; them as they are, `renamed`; or what is `unknown`.
   */
  brings?: { with: string; what: 'copies' | 'inside' | 'links' | 'renamed' | 'unknown' };
  /** Without a folder it opens what lies below the current one. */
  readsHere?: boolean;
  /** It changes files below the current folder that nobody names. */
  here?: 'always';
  /** Flags whose value is the folder that its operands start from. */
  starts?: string;
  /** It leaves all files as they are. */
  leaves?: (args: readonly string[]) => boolean;
  /** Files that it changes without naming them. */
  changes?: (args: readonly string[]) => readonly string[];
}

/** What was taken up is left out again, and nothing else. */
function leavesFiles(args: readonly string[]): boolean {
  const flags = args.filter((arg) => arg.startsWith('-') || hasHole(arg));
  return (
    flags.some((flag) => /^(?:-S|--staged)$/.test(flag)) && flags.every((flag) => /^(?:-S|--staged|-q|--)$/.test(flag))
  );
}

const NPM_FILE = '~/.npmrc';

const ALL: WriterSpec = { writes: 'all' };
const REST: WriterSpec = { writes: 'rest' };
// The first operand is a mode or an owner, unless a flag says that: no path, so that it may count as one.
const DEEP: WriterSpec = { writes: 'all', spreads: 'R recursive', follows: 'L logical' };
const SCRIPT: WriterSpec = { writes: 'all', only: 'i in-place', scripts: 'e E', plain: 'aclnpsw0123456789' };
const AWK: WriterSpec = { writes: 'rest', only: 'i include', scripts: 'e source f file', changes: writtenByAwk };
const TAR: WriterSpec = {
  writes: 'none',
  outputs: 'f file g listed-incremental index-file volno-file',
  targets: 'C directory one-top-level',
  unpacks: 'x extract get',
  lists: 'T files-from',
  starts: 'C directory cd',
  recurses: 'always',
  follows: 'h L dereference',
};
const VIM: WriterSpec = { writes: 'all', scripts: 'c cmd', plain: 'eEnNsRZ', changes: writtenByVim };
const PACK: WriterSpec = { writes: 'all', outputs: 'o output' };
const COMPRESS: WriterSpec = {
  writes: 'all',
  spreads: 'r recursive',
  follows: 'always',
};
const OUTPUT: WriterSpec = { writes: 'none', outputs: 'o output' };
const ZIP7: WriterSpec = { writes: 'all', outputs: 'o' };
const COMPILER: WriterSpec = {
  writes: 'none',
  outputs: 'o MF MJ aux-info serialize-diagnostics dependency-file index-store-path',
  changes: writtenByCompiler,
};
const LINKER: WriterSpec = { writes: 'none', outputs: 'o output Map dependency-file', changes: writtenByCompiler };
const COPY: WriterSpec = { writes: 'last', joins: 'last' };
const FROM_ELSEWHERE: WriterSpec = { ...COPY, brings: { with: 'always', what: 'unknown' } };
const CHECK_OUT: WriterSpec = { writes: 'rest', joins: 'here', brings: { with: 'always', what: 'unknown' } };
const SEARCH: WriterSpec = { writes: 'none', recurses: 'always', readsHere: true };
const GREP: WriterSpec = {
  ...SEARCH,
  recurses: 'r R recursive dereference-recursive d directories',
  follows: 'R dereference-recursive',
};

// Of two folders it reads the files of both, of a file and a folder that which is called so in there.
const COMPARE: WriterSpec = { writes: 'none', outputs: 'o output', recurses: 'folder', follows: 'always' };

/** `npm config`, and what it does. */
const changedByNpm = (args: readonly string[]): string[] =>
  args.some((arg) => /^(?:set|delete|rm|edit|fix)$/.test(arg)) ? [NPM_FILE] : [];

/** Without letters to replace, some make the very file. What is made for a while in the folder for that is no matter. */
const madeByMktemp = (args: readonly string[]): string[] =>
  args.flatMap((arg) => (/^-|^\/tmp\/[^/]*XXX/.test(arg) ? [] : [arg.replace(/X{3,}/, HOLE.star)]));

/** `-MFfile`, `-Wl,-Map=file`, `-Wp,-MD,file`, `-fdump-x=file`: what compilers write besides. */
function writtenByCompiler(args: readonly string[]): string[] {
  return args.flatMap((arg) => {
    if (/^-W[lpa],/.test(arg)) return arg.slice(4).split(/[,=]/);
    return /^-M[FJ](.+)/.exec(arg)?.slice(1) ?? /^-[a-z][\w-]*=(.+)/.exec(arg)?.slice(1) ?? [];
  });
}

/** It is noted for the user which repositories are looked after. */
const registeredByGit = (args: readonly string[]): string[] =>
  args.some((arg) => /^(?:start|stop|register|unregister)$/.test(arg)) ? ['~/.gitconfig'] : [];

/** Filters for the user, and hooks. */
const installedByLfs = (args: readonly string[]): string[] =>
  args.some((arg) => /^(?:install|uninstall|update)$/.test(arg)) ? ['~/.gitconfig', '.git/hooks'] : [];

/** `-w '%output{file}'`. */
const writtenByCurl = (args: readonly string[]): string[] =>
  args.flatMap((arg) => [...arg.matchAll(/%output\{(?:>>)?([^}]{1,300})\}/g)].map(([, name = '']) => name));

/** What a command in front of the files names: `+w a`. */
function writtenByVim(args: readonly string[]): string[] {
  return args.flatMap((arg) => (/^\+\D/.test(arg) ? arg.split(/[\s+|!]+/).filter((word) => word !== '') : []));
}

/** `print > "file"`. */
function writtenByAwk(args: readonly string[]): string[] {
  return args.flatMap((arg) => [...arg.matchAll(AWK_FILE)].map(([, name = '']) => name));
}

const AWK_FILE = /\bprintf?\b[^;}\n>]{0,300}>>?\s*"([^"\\]{1,300})"/g;

/** Files of `w` in scripts of sed: the name goes on to the end of the line. */
function writtenBySed(args: readonly string[]): string[] {
  const scripts = args.filter(
    (arg) => /[wW]/.test(arg) && !isPrintingSed(arg.replace(/^(?:-[nErsuz]*e|--expression=)/, '')),
  );
  return scripts.flatMap((script) => [...script.matchAll(SED_FILE)].map(([, name = '']) => name));
}

const SED_FILE = /(?<=^|[^A-Za-z]|[gpiIeM])[wW][ \t]*(?=([^\n]{1,300})(?:\n|$))/g;

const each = (names: string, spec: WriterSpec): Record<string, WriterSpec> =>
  Object.fromEntries(names.split(', ').map((name) => [name, spec]));

/** Keys are the name of a program, or its name and a subcommand. Long flags are known by any beginning of theirs, too. */
export const WRITERS: Readonly<Record<string, WriterSpec>> = {
  tee: ALL,
  touch: ALL,
  rm: { writes: 'all', spreads: 'r R recursive' },
  rmdir: ALL,
  unlink: ALL,
  shred: ALL,
  mkdir: ALL,
  mkfifo: ALL,
  mknod: { writes: 'first' },
  truncate: ALL,
  fallocate: ALL,
  sponge: ALL,
  // What was a file of that name is one of another name afterwards, and rules do not know it.
  mv: {
    writes: 'all',
    joins: 'last',
    targets: 't target-directory',
    spreads: 'sources',
    brings: { with: 'always', what: 'copies' },
  },
  rename: { writes: 'all', brings: { with: 'always', what: 'renamed' } },
  cp: {
    writes: 'last',
    joins: 'last',
    targets: 't target-directory',
    all: 'l link s symbolic-link',
    keeps: 'parents',
    merges: 'T no-target-directory',
    recurses: 'r R a recursive archive',
    follows: 'L dereference',
    // Without these it goes through links, and copies what is there.
    brings: {
      with: 'r R a d P l s recursive archive no-dereference link symbolic-link',
      what: 'copies',
    },
  },
  // Through a link its source is written under another name.
  ln: {
    writes: 'all',
    joins: 'last',
    targets: 't target-directory',
    spreads: 'sources',
    links: 's symbolic',
    brings: { with: 'always', what: 'links' },
  },
  link: { writes: 'all', brings: { with: 'always', what: 'links' } },
  install: { writes: 'last', joins: 'last', targets: 't target-directory', all: 'd directory' },
  rsync: {
    writes: 'last',
    joins: 'last',
    outputs: 'log-file backup-dir partial-dir temp-dir T write-batch only-write-batch',
    all: 'remove-source-files',
    keeps: 'R relative',
    lists: 'files-from',
    recurses: 'always',
    follows: 'L k copy-links copy-unsafe-links copy-dirlinks',
    brings: { with: 'always', what: 'inside' },
  },
  scp: { ...COPY, recurses: 'r', follows: 'always' },
  ditto: { ...COPY, recurses: 'always', brings: { with: 'always', what: 'unknown' } },
  'docker cp': FROM_ELSEWHERE,
  'podman cp': FROM_ELSEWHERE,
  'kubectl cp': FROM_ELSEWHERE,
  dd: { writes: 'none', named: 'of' },
  chmod: DEEP,
  chown: DEEP,
  chgrp: DEEP,
  chcon: DEEP,
  chattr: { writes: 'all', spreads: 'R' },
  setfacl: DEEP,
  setfattr: ALL,
  sed: {
    writes: 'rest',
    only: 'i in-place',
    scripts: 'e expression f file',
    plain: 'nErsuz',
    changes: writtenBySed,
  },
  perl: SCRIPT,
  ruby: SCRIPT,
  awk: AWK,
  gawk: AWK,
  yq: { writes: 'rest', only: 'i inplace', scripts: 'expression from-file' },
  patch: {
    writes: 'all',
    outputs: 'o output r reject-file d directory',
    takesNames: true,
    here: 'always',
    brings: { with: 'always', what: 'unknown' },
  },
  ed: ALL,
  ex: VIM,
  vi: VIM,
  vim: VIM,
  nvim: VIM,
  nano: ALL,
  emacs: ALL,
  dos2unix: ALL,
  prettier: { writes: 'all', only: 'w write', spreads: 'always' },
  // In folders they go through links, also where they print what they read.
  ...each('gzip, gunzip, pigz, unpigz, compress, uncompress, zstd, unzstd, lz4, unlz4', COMPRESS),
  ...each('zcat, gzcat, zstdcat, lz4cat', { writes: 'none', recurses: 'r recursive', follows: 'always' }),
  bzip2: ALL,
  bunzip2: ALL,
  xz: ALL,
  unxz: ALL,
  lzma: ALL,
  unlzma: ALL,
  lzop: ALL,
  pbzip2: ALL,
  brotli: PACK,
  objcopy: ALL,
  strip: PACK,
  ranlib: ALL,
  patchelf: PACK,
  zip: {
    writes: 'first',
    outputs: 'O output-file b temp-path lf logfile-path',
    all: 'm move',
    lists: '@ names-stdin',
    recurses: 'r R recurse-paths recurse-patterns',
    follows: 'always',
    keepsLinks: 'y symlinks',
  },
  unzip: { writes: 'none', targets: 'd', unpacks: 'always' },
  tar: TAR,
  bsdtar: TAR,
  cpio: {
    writes: 'none',
    outputs: 'O F file',
    targets: 'D directory',
    unpacks: 'i extract p pass-through',
    takesNames: true,
  },
  pax: {
    writes: 'last',
    joins: 'last',
    outputs: 'f',
    unpacks: 'r',
    recurses: 'always',
    follows: 'L',
    takesNames: true,
  },
  ...each('7z, 7za, 7zr', ZIP7),
  sort: { ...OUTPUT, lists: 'files0-from' },
  shuf: OUTPUT,
  iconv: OUTPUT,
  xmllint: OUTPUT,
  xsltproc: OUTPUT,
  pandoc: { writes: 'none', outputs: 'o output log extract-media' },
  strace: OUTPUT,
  ltrace: OUTPUT,
  flock: { writes: 'first', scripts: 'w E timeout wait conflict-exit-code' },
  script: { writes: 'all', outputs: 'O B I T log-out log-io log-in log-timing', scripts: 'c command' },
  mktemp: { writes: 'none', targets: 'p tmpdir', changes: madeByMktemp },
  tree: { writes: 'none', outputs: 'o' },
  uniq: REST,
  xxd: REST,
  split: REST,
  csplit: { writes: 'none', outputs: 'f prefix' },
  find: { writes: 'all', only: 'delete', outputs: 'fprint fprint0 fprintf fls', spreads: 'always' },
  curl: {
    writes: 'none',
    joins: 'here',
    joinsWith: 'O remote-name-all J remote-header-name',
    outputs: 'o D dump-header c cookie-jar trace-ascii stderr etag-save hsts alt-svc libcurl',
    targets: 'output-dir',
    changes: writtenByCurl,
  },
  wget: {
    writes: 'none',
    joins: 'here',
    outputs: 'O output-document o output-file a append-output save-cookies warc-file rejected-log hsts-file',
    targets: 'P directory-prefix',
    brings: { with: 'r m recursive mirror', what: 'unknown' },
  },
  aria2c: {
    writes: 'none',
    joins: 'here',
    outputs: 'o out l log save-session save-cookies server-stat-of',
    targets: 'd dir',
  },
  openssl: { writes: 'none', outputs: 'out keyout writerand outdir CAserial sess_out keylogfile' },
  gpg: { writes: 'none', outputs: 'o output log-file logger-file status-file attribute-file' },
  ssh: { writes: 'none', outputs: 'E' },
  less: { writes: 'none', outputs: 'o O log-file' },
  shfmt: { writes: 'all', only: 'w write', spreads: 'always' },
  jsonlint: { writes: 'all', only: 'i in-place' },
  gitleaks: { writes: 'none', outputs: 'r report-path' },
  cloc: { writes: 'none', outputs: 'out report-file sql ignored counted found' },
  ...each('scc, ncdu', OUTPUT),
  'gh release': { writes: 'none', outputs: 'O output', targets: 'D dir' },
  'gh run': { writes: 'none', targets: 'D dir' },
  'gh repo': { writes: 'rest' },
  ...each('hg cat, hg export', OUTPUT),
  ...each('hg archive, hg bundle', ALL),
  'ssh-keygen': { writes: 'none', outputs: 'f' },
  ...each('gcc, g++, cc, c++, cpp, clang, clang++, gfortran, gdc', COMPILER),
  ...each('ld, gold, lld, ld.lld, ld.gold, ld.bfd, mold', LINKER),
  as: { writes: 'none', outputs: 'o MD', changes: writtenByCompiler },
  ar: ALL,
  sqlite3: { writes: 'first' },
  crontab: ALL,
  'npm config': { writes: 'none', changes: changedByNpm },
  'npm set': { writes: 'none', changes: () => [NPM_FILE] },
  'git checkout': { writes: 'all', spreads: 'folder' },
  'git restore': { writes: 'all', spreads: 'folder', leaves: leavesFiles },
  'git rm': { writes: 'all', spreads: 'r' },
  'git mv': { writes: 'all', joins: 'last', spreads: 'sources', brings: { with: 'always', what: 'copies' } },
  'git clean': { writes: 'all', spreads: 'folder', scripts: 'e exclude', plain: 'dfnqxX' },
  'git apply': { writes: 'all', outputs: 'directory build-fake-ancestor', takesNames: true, here: 'always' },
  'git am': { writes: 'none', outputs: 'directory', takesNames: true, here: 'always' },
  'git checkout-index': { writes: 'all', outputs: 'prefix', here: 'always' },
  'git config': { writes: 'none', outputs: 'f file', changes: changedByGit },
  'git maintenance': { writes: 'none', changes: registeredByGit },
  'git lfs': { writes: 'none', changes: installedByLfs },
  'git archive': { writes: 'none', outputs: 'o output' },
  'git bundle': { writes: 'rest' },
  'git worktree': { writes: 'rest' },
  'git clone': { writes: 'rest', joins: 'here', outputs: 'separate-git-dir', changes: hooksOfTemplate },
  'git init': { writes: 'all', outputs: 'separate-git-dir', changes: hooksOfTemplate },
  ...each('hg clone, hg update, hg pull, svn checkout, svn co, svn export, svn update, svn switch', CHECK_OUT),
  'git submodule': { writes: 'rest' },
  'git format-patch': { writes: 'none', outputs: 'o output-directory' },
  'git fast-export': { writes: 'none', outputs: 'export-marks import-marks-if-exists' },
  'git fast-import': {
    writes: 'none',
    outputs: 'export-marks import-marks-if-exists export-pack-edges',
  },
  'git pack-objects': { writes: 'all' },
  'git index-pack': { writes: 'all', outputs: 'o' },
  'git merge-file': { writes: 'all' },
  'git read-tree': { writes: 'none', outputs: 'index-output' },
  'git credential-store': { writes: 'none', outputs: 'file' },
  'git mailinfo': { writes: 'all' },
  'git mailsplit': { writes: 'all', outputs: 'o' },
  'git interpret-trailers': { writes: 'all' },
  ...each('git bugreport, git diagnose', { writes: 'none', outputs: 'o output-directory' }),
  ...each(
    'git diff, git diff-files, git diff-index, git diff-tree, git log, git range-diff, git reflog, git rev-list, git shortlog, ' +
      'git show, git whatchanged',
    { writes: 'none', outputs: 'output' },
  ),
  'git stash': { writes: 'none', outputs: 'output', changes: takenByStash },
  // They write nothing; that they look into folders counts also with flags that nobody knows.
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  zgrep: GREP,
  rgrep: { ...GREP, recurses: 'always' },
  diff: COMPARE,
  sdiff: COMPARE,
  colordiff: COMPARE,
  icdiff: COMPARE,
  wdiff: COMPARE,
  rg: { ...SEARCH, follows: 'L follow' },
  ag: { ...SEARCH, follows: 'f follow' },
  ack: { ...SEARCH, follows: 'follow' },
};
