// The results as a table.

/** What others take for the same headless answer, as they were measured once on another machine: for scale only. */
const OTHERS = [
  ['bare fetch', '1.0x (0.10 s CPU, 64 MB)'],
  ['codex', '2.7x'],
  ['pi', '6.9x'],
  ['the existing CLI', '13-28x (first message after 0.7-2.1 s, 264-328 MB)'],
  ['gemini', '32x'],
  ['opencode', '92x'],
];

const HEADINGS = ['', 'value', 'floor', 'ratio', 'aim', 'met'];

export function toTable({ machine, seconds, rows }) {
  const cells = rows.map((row) => [
    row.what,
    show(row.value, row.unit),
    show(row.floor, row.unit),
    row.floor === undefined ? '' : `${(row.value / row.floor).toFixed(2)}x`,
    row.aim ?? '',
    row.met === undefined ? '' : row.met ? 'yes' : 'NO',
  ]);
  const { node, cores, load } = machine;
  return [
    ...align([HEADINGS, ...cells]),
    '',
    `Medians, floor and subject in turn. Node ${node}, ${cores} cores, load ${load.toFixed(1)}, ${seconds.toFixed(0)} s.`,
    ...(rows.some(({ bench }) => bench === 'headless') ? ['', ...showOthers()] : []),
  ].join('\n');
}

const showOthers = () => [
  'CPU of others for a headless one-line answer, published figures from another machine:',
  ...align(OTHERS.map(([name, figure]) => [`  ${name}`, figure])),
];

const show = (value, unit) => (value === undefined ? '' : `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`);

/** Pads every column to its longest cell; numbers stand to the right. */
function align(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  return lines.map((line) =>
    line
      .map((cell, column) =>
        /^\d/.test(cell) && line.length > 2 ? cell.padStart(widths[column]) : cell.padEnd(widths[column]),
      )
      .join('  ')
      .trimEnd(),
  );
}
