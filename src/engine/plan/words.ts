/** Names for plans that people can tell apart and say aloud. */
const FIRST =
  'amber bold brave bright calm clear clever cosy crisp deft early easy fair fine fleet fresh gentle glad golden grand hardy honest keen kind lively lucid mellow merry mild neat nimble patient plain proud quick quiet ready silver sober steady still sunny swift tidy vivid warm wise young';
const SECOND =
  'braided carded carved corded dyed folded fringed gathered hemmed knitted knotted laced lined looped mended netted patched plaited pleated quilted ribbed sewn spun stitched striped tufted turned twined twisted woven wound wrapped';
const THIRD =
  'anchor barley beacon birch bridge brook canvas cedar cotton crane flax garden grove hammock harbor heron indigo ivy jute lantern linen loom maple meadow mill needle oak orchard osprey otter pebble pine plover quay raven reed ribbon river robin sail satchel shuttle silk spindle tapestry thimble thistle thread twill velvet weaver willow wool wren yarn';

const LISTS = [FIRST, SECOND, THIRD].map((words) => words.split(' '));

/** Three words that follow from the last digits of an id. */
export function toWords(id: string): string {
  const digits = id
    .replace(/[^0-9a-f]/gi, '')
    .slice(-12)
    .padStart(12, '0');
  return LISTS.map((words, at) => words[Number.parseInt(digits.slice(at * 4, at * 4 + 4), 16) % words.length]).join(
    '-',
  );
}

/** A name that may come from a log, and so from anywhere: it leads nowhere else. */
export const isPlanName = (name: unknown): name is string =>
  typeof name === 'string' && name.length <= 100 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
