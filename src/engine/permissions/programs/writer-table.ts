/** Which operands of a program are files that it changes. Flags are not looked at but for these. */
export interface WriterSpec {
  /** `all` operands, the `last` one, all but the first (`rest`), only the `first`, or `none`. */
  writes: 'all' | 'last' | 'rest' | 'first' | 'none';
  /** Flags whose value is a file that is written: `o output`. */
  outputs?: string;
  /** Flags whose value is a folder that is written to, instead of the last operand. */
  targets?: string;
  /** It writes only with one of these flags. */
  only?: string;
  /** Operands are `name=value`, and this name is written. */
  named?: string;
  /** It opens what lies below the folders that it reads: `always`, or with one of these flags. */
  recurses?: string;
}

const ALL: WriterSpec = { writes: 'all' };
const REST: WriterSpec = { writes: 'rest' };
const SCRIPT: WriterSpec = { writes: 'all', only: 'i in-place' };

/** Keys are the name of a program, or its name and a subcommand. */
export const WRITERS: Readonly<Record<string, WriterSpec>> = {
  tee: ALL,
  touch: ALL,
  rm: ALL,
  rmdir: ALL,
  unlink: ALL,
  shred: ALL,
  mkdir: ALL,
  mkfifo: ALL,
  truncate: ALL,
  sponge: ALL,
  mv: ALL,
  cp: { writes: 'last', targets: 't target-directory', recurses: 'r R a recursive archive' },
  ln: { writes: 'last', targets: 't target-directory' },
  install: { writes: 'last', targets: 't target-directory' },
  rsync: { writes: 'last', recurses: 'always' },
  scp: { writes: 'last', recurses: 'r' },
  dd: { writes: 'none', named: 'of' },
  chmod: REST,
  chown: REST,
  chgrp: REST,
  chattr: REST,
  setfacl: REST,
  sed: { ...SCRIPT, writes: 'rest' },
  perl: SCRIPT,
  ruby: SCRIPT,
  yq: { ...SCRIPT, writes: 'rest' },
  patch: ALL,
  ed: ALL,
  ex: ALL,
  vi: ALL,
  vim: ALL,
  nvim: ALL,
  nano: ALL,
  emacs: ALL,
  gzip: ALL,
  gunzip: ALL,
  bzip2: ALL,
  xz: ALL,
  zip: { writes: 'first', recurses: 'r recurse-paths' },
  unzip: { writes: 'none', outputs: 'd' },
  tar: { writes: 'none', outputs: 'f file C directory', recurses: 'always' },
  sort: { writes: 'none', outputs: 'o output' },
  tree: { writes: 'none', outputs: 'o' },
  uniq: REST,
  xxd: REST,
  split: REST,
  csplit: { writes: 'none', outputs: 'f prefix' },
  curl: { writes: 'none', outputs: 'o output D dump-header c cookie-jar trace trace-ascii output-dir' },
  wget: { writes: 'none', outputs: 'O output-document o output-file a append-output P directory-prefix' },
  openssl: { writes: 'none', outputs: 'out' },
  gcc: { writes: 'none', outputs: 'o' },
  sqlite3: { writes: 'first' },
  crontab: ALL,
  'git checkout': ALL,
  'git restore': ALL,
  'git rm': ALL,
  'git mv': ALL,
  'git clean': ALL,
  'git apply': ALL,
};
