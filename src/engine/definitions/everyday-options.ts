/** Programs whose options only choose what is shown or meant, and the few of them that write files or run programs. Pure. */

interface Options {
  /** Long names, without dashes. A beginning of one is as good as the whole. */
  long: readonly string[];
  /** Single letters, which may stand among others. */
  short?: RegExp;
  /** Whole names that begin one of these, and are others. */
  except?: readonly string[];
}

const GIT: Options = {
  long: [
    'output output-directory output-indicator-context output-indicator-new output-indicator-old open-files-in-pager ext-diff textconv',
    'exec exec-path git-dir work-tree upload-pack receive-pack edit edit-description show-signature config config-env',
  ].flatMap((line) => line.split(' ')),
  short: /^-[cCO]|^-[a-zA-Z]*O/,
  except: ['text', 'show'],
};

const QUIET: Options = { long: [] };

const PLAIN: ReadonlyMap<string, Options> = new Map<string, Options>([
  ...['ls', 'cat', 'grep', 'egrep', 'fgrep', 'wc', 'head', 'tail'].map((program) => [program, QUIET] as const),
  ['rg', { long: ['pre', 'pre-glob', 'hostname-bin', 'search-zip'], short: /z/ }],
]);

/** What shows something in a browser or an editor, or names where to write. */
const GH: Options = { long: ['web', 'editor', 'dir', 'output', 'clone', 'recover'], short: /[weDO]/ };

const GIT_VERBS = /^(?:add|blame|branch|diff|log|shortlog|show|status)$/;
const GH_VERBS = /^(?:issue|label|pr|release|repo|run|search|workflow)$/;
/** They write files, or hand on what they get to git. */
const GH_WRITERS = /^(?:clone|create|download|fork|sync)$/;

/** The options that a program takes from arguments. Undefined: none. `operands`: its words before that are no options. */
function optionsOf(program: string, [verb = '', next = '']: readonly string[]): Options | undefined {
  if (program === 'git' && GIT_VERBS.test(verb)) return verb === 'add' ? { ...GIT, short: /^-[cCO]|[eO]/ } : GIT;
  if (program === 'gh' && GH_VERBS.test(verb) && next !== '') {
    const isWriter = GH_WRITERS.test(next) && /^(?:release|repo|run)$/.test(verb);
    return isWriter ? undefined : GH;
  }
  return PLAIN.get(program);
}

/** True when the option `given` neither writes a file nor runs a program, for sure. */
export function isEverydayOption(program: string, operands: readonly string[], given: string): boolean {
  const options = optionsOf(program, operands);
  if (options === undefined) return false;
  if (!given.startsWith('--')) return options.short?.test(given) !== true;
  const [name = ''] = given.slice(2).split('=', 1);
  if (name === '' || options.except?.includes(name)) return name !== '';
  return !options.long.some((each) => each.startsWith(name));
}
