import type { FlagSpec, ReadFlags } from '../command-flags.js';
import { hasHole, isFree } from '../shell/hole.js';
import { isOpenVariable } from './variables.js';

/** A program that changes nothing, with the flags of which that is known. */
export interface ReadOnlySpec extends FlagSpec {
  /**
   * `paths`: every operand is a file. `pattern`: the first one is not, unless a flag gave the pattern. `text`: no
   * operand is opened. `none`: there may be none.
   */
  operands: 'paths' | 'pattern' | 'text' | 'none';
  /** Reads the working directory when no path is named. */
  readsCwd?: boolean;
  /** It opens files inside of folders: `always`, where a `folder` may be named, or with one of these flags. */
  recurses?: string;
  /** It tells of files without opening them. */
  onlyNames?: boolean;
  /** One of its other flags writes, or runs a program: a word that may turn into a flag must not. */
  hasBadFlags?: boolean;
  /** It follows links below a folder, so that the folder must be trusted. */
  followsLinks?: boolean;
  /** With one of these flags it tells of folders themselves, and not of what is in them. */
  namesItself?: string;
  accept?(read: ReadFlags): boolean;
}

/** A second operand is the file it writes, and a pattern may become two. */
const hasOneOperand = ({ operands }: ReadFlags): boolean => operands.length <= 1 && !operands.some(hasHole);

/** `@file`, wherever it stands, is replaced by words out of that file; a pattern may become one. */
const namesNoList = ({ flags, operands }: ReadFlags): boolean =>
  [...operands, ...[...flags.values()].flat()].every((word) => !word.startsWith('@') && !hasHole(word.charAt(0)));

const CHECKSUM: ReadOnlySpec = {
  operands: 'paths',
  short: 'bctwz',
  long: 'binary check text tag zero ignore-missing quiet status strict warn',
};

// Left out on purpose: what follows links (`ls -L`, `grep -R`, `rg -L`), names further files to read (`-f`,
// `--files0-from`), runs programs (`rg -z`, `rg --pre`, `sort --compress-program`, `diff -l`) or never ends.
export const READ_ONLY: Readonly<Record<string, ReadOnlySpec>> = {
  ls: {
    operands: 'paths',
    readsCwd: true,
    onlyNames: true,
    namesItself: 'd directory',
    short: 'aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1',
    long:
      'all almost-all author escape ignore-backups color[=] directory classify[=] file-type format= full-time ' +
      'group-directories-first no-group human-readable si inode kibibytes ignore= hide= indicator-style= literal ' +
      'numeric-uid-gid quote-name reverse recursive size sort= time= time-style= width= zero',
  },
  tree: {
    operands: 'paths',
    readsCwd: true,
    onlyNames: true,
    hasBadFlags: true,
    // A letter takes the next word, and those behind it are flags: `-Pox a b` writes to b.
    words: 'apart',
    short: 'adfixqNQpugshDFJCnvctUr',
    shortValue: 'LPI',
    long: 'noreport dirsfirst filesfirst gitignore prune du si inodes device matchdirs ignore-case filelimit= timefmt= sort= charset=',
  },
  cat: {
    operands: 'paths',
    short: 'AbeEnstTuv',
    long: 'show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting',
  },
  tac: { operands: 'paths', short: 'br', shortValue: 's', long: 'before regex separator=' },
  rev: { operands: 'paths' },
  head: { operands: 'paths', number: true, short: 'qvz', shortValue: 'nc', long: 'lines= bytes= quiet silent verbose' },
  tail: { operands: 'paths', number: true, short: 'qvz', shortValue: 'nc', long: 'lines= bytes= quiet silent verbose' },
  wc: { operands: 'paths', short: 'cmlwL', long: 'bytes chars lines words max-line-length total=' },
  nl: {
    operands: 'paths',
    short: 'p',
    shortValue: 'bdfhilnsvw',
    long: 'body-numbering= number-format= number-separator= number-width= starting-line-number=',
  },
  file: {
    operands: 'paths',
    hasBadFlags: true,
    short: 'bhiLN0',
    long: 'brief mime mime-type mime-encoding dereference no-dereference no-pad print0',
  },
  stat: {
    operands: 'paths',
    onlyNames: true,
    short: 'fLtx',
    shortValue: 'c',
    long: 'dereference file-system terse format= printf=',
  },
  du: {
    operands: 'paths',
    readsCwd: true,
    onlyNames: true,
    short: 'abchkmsSx0',
    shortValue: 'dt',
    long:
      'all apparent-size bytes total human-readable si summarize separate-dirs one-file-system null max-depth= ' +
      'threshold= block-size= exclude= time[=] time-style= inodes',
  },
  df: {
    operands: 'paths',
    onlyNames: true,
    short: 'aHhiklmPT',
    shortValue: 't',
    long: 'all human-readable si inodes local portability print-type total type= block-size= output[=]',
  },
  realpath: {
    operands: 'paths',
    onlyNames: true,
    short: 'eLmPqsz',
    long: 'canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero',
  },
  readlink: {
    operands: 'paths',
    onlyNames: true,
    short: 'efmnqsvz',
    long: 'canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero',
  },
  basename: { operands: 'text', short: 'az', shortValue: 's', long: 'multiple suffix= zero' },
  dirname: { operands: 'text', short: 'z', long: 'zero' },
  sort: {
    operands: 'paths',
    hasBadFlags: true,
    short: 'bcCdfghiMmnRrsuVz',
    shortValue: 'kt',
    long:
      'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort ' +
      'ignore-nonprinting month-sort numeric-sort random-sort reverse sort= version-sort check[=] merge key= ' +
      'stable field-separator= unique zero-terminated',
  },
  uniq: {
    operands: 'paths',
    endsFlags: true,
    short: 'cdDiuz',
    shortValue: 'fsw',
    long:
      'count repeated all-repeated[=] skip-fields= group[=] ignore-case skip-chars= unique zero-terminated ' +
      'check-chars=',
    accept: hasOneOperand,
  },
  cut: {
    operands: 'paths',
    short: 'nsz',
    shortValue: 'bcdf',
    long: 'bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated',
  },
  paste: { operands: 'paths', short: 'sz', shortValue: 'd', long: 'serial delimiters= zero-terminated' },
  column: {
    operands: 'paths',
    short: 'tJenx',
    shortValue: 'csNo',
    long: 'table separator= output-separator= table-columns=',
  },
  join: { operands: 'paths', short: 'iz', shortValue: 'aejotv12' },
  fold: { operands: 'paths', short: 'bs', shortValue: 'w', long: 'bytes spaces width=' },
  fmt: { operands: 'paths', short: 'cstu', shortValue: 'wpg', long: 'width=' },
  expand: { operands: 'paths', short: 'i', shortValue: 't', long: 'initial tabs=' },
  unexpand: { operands: 'paths', short: 'a', shortValue: 't', long: 'all first-only tabs=' },
  tr: { operands: 'text', short: 'cCdst', long: 'complement delete squeeze-repeats truncate-set1' },
  comm: {
    operands: 'paths',
    short: 'z123',
    long: 'check-order nocheck-order output-delimiter= total zero-terminated',
  },
  cmp: { operands: 'paths', short: 'bls', shortValue: 'in', long: 'print-bytes verbose quiet silent bytes=' },
  diff: {
    operands: 'paths',
    hasBadFlags: true,
    followsLinks: true,
    recurses: 'folder',
    number: true,
    short: 'abBcdeEiNpqrstTuwy',
    shortValue: 'CIUWx',
    long:
      'brief color[=] context[=] exclude= expand-tabs ignore-all-space ignore-blank-lines ignore-case ' +
      'ignore-matching-lines= ignore-space-change ignore-tab-expansion ignore-trailing-space minimal new-file ' +
      'recursive report-identical-files side-by-side speed-large-files strip-trailing-cr ' +
      'suppress-common-lines text unified[=] width=',
  },
  base64: { operands: 'paths', hasBadFlags: true, short: 'd', shortValue: 'w', long: 'decode wrap= ignore-garbage' },
  md5sum: CHECKSUM,
  sha1sum: CHECKSUM,
  sha256sum: CHECKSUM,
  sha512sum: CHECKSUM,
  b2sum: CHECKSUM,
  cksum: { operands: 'paths', shortValue: 'a', long: 'algorithm= untagged' },
  strings: {
    operands: 'paths',
    short: 'adfo',
    shortValue: 'net',
    long: 'all bytes= encoding= print-file-name radix=',
    accept: namesNoList,
  },
  od: {
    operands: 'paths',
    short: 'abcdfiloxsv',
    shortValue: 'AjNtS',
    shortOptional: 'w',
    long: 'address-radix= skip-bytes= read-bytes= format= output-duplicates',
  },
  hexdump: { operands: 'paths', short: 'bcCdovx', shortValue: 'ns', long: 'canonical length= skip=' },
  xxd: {
    operands: 'paths',
    // Of a word it takes the first letter alone: `-ac` is `-a`, and what follows is no value of `-c`.
    words: 'alone',
    endsFlags: true,
    short: 'aAbCdeipu',
    shortValue: 'cglnos',
    accept: hasOneOperand,
  },
  grep: {
    operands: 'pattern',
    readsCwd: true,
    recurses: 'r recursive',
    number: true,
    short: 'EFGPivwxyclLoqsbHhnTUZzrIa',
    shortValue: 'emABC',
    long:
      'extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp ' +
      'line-regexp count color[=] colour[=] files-without-match files-with-matches max-count= only-matching quiet ' +
      'silent no-messages byte-offset with-filename no-filename label= line-number initial-tab null null-data ' +
      'after-context= before-context= context= text binary-files= include= exclude= exclude-dir= recursive regexp= ' +
      'line-buffered',
    // It may be a flag that names a file.
    accept: ({ flags, operands }) => flags.has('e') || flags.has('regexp') || !isFree((operands[0] ?? '').charAt(0)),
  },
  rg: {
    operands: 'pattern',
    readsCwd: true,
    recurses: 'always',
    hasBadFlags: true,
    short: 'abcFHiIlnNopPqsSuUvwx0.',
    shortValue: 'ABCdEegjMmrtT',
    long:
      'regexp= files files-with-matches files-without-match count count-matches line-number no-line-number ' +
      'ignore-case smart-case case-sensitive fixed-strings word-regexp line-regexp invert-match only-matching glob= ' +
      'iglob= type= type-not= type-list hidden no-ignore no-ignore-vcs no-heading heading no-filename with-filename ' +
      'context= after-context= before-context= max-count= max-depth= max-columns= max-filesize= color= colors= ' +
      'column no-column json stats sort= sortr= multiline multiline-dotall pcre2 text trim passthru vimgrep null ' +
      'quiet replace= encoding= threads= no-messages one-file-system no-config unrestricted no-follow pretty',
  },
  pwd: { operands: 'text', short: 'LP' },
  printenv: {
    operands: 'text',
    short: '0',
    long: 'null',
    // Without names, or with others, it may print what is secret.
    accept: ({ operands }) => operands.length > 0 && operands.every((name) => isOpenVariable(name)),
  },
  whoami: { operands: 'none' },
  id: { operands: 'text', short: 'gGnruz', long: 'group groups name real user zero' },
  groups: { operands: 'text' },
  tty: { operands: 'none', short: 's' },
  nproc: { operands: 'none', long: 'all ignore=' },
  uptime: { operands: 'none', short: 'ps' },
  free: { operands: 'none', short: 'bkmghtlw', shortValue: 's' },
  hostname: { operands: 'none', short: 'sfdiIA' },
  uname: {
    operands: 'none',
    short: 'aimnoprsv',
    long: 'all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system',
  },
  date: {
    operands: 'text',
    hasBadFlags: true,
    short: 'Ru',
    shortValue: 'd',
    shortOptional: 'I',
    long: 'date= iso-8601[=] rfc-3339= rfc-email utc universal',
    // Any other operand is a time to set.
    accept: ({ operands }) => operands.every((operand) => operand.startsWith('+')),
  },
  sleep: {
    operands: 'text',
    accept: ({ operands }) => operands.every((operand) => /^\d{1,3}(?:\.\d+)?s?$/.test(operand)),
  },
  which: { operands: 'text', short: 'a' },
  type: { operands: 'text', short: 'afptP' },
  seq: { operands: 'text', number: true, short: 'w', shortValue: 'fs', long: 'equal-width format= separator=' },
};
