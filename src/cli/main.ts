/** The start of the program: the two answers that must be instant, and then everything else. */
import { VERSION } from './version.js';

const argv = process.argv.slice(2);
// A reader that has seen enough (`| head`) is no failure of ours; any other loss of output is.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || process.exitCode === 1) return;
  process.exitCode = 1;
  process.stderr.write(`heddle: stdout cannot be written: ${error.message}\n`);
});

if (argv[0] === '--version' || argv[0] === '-v') {
  process.stdout.write(`${VERSION} (Heddle)\n`);
} else if (argv[0] === '--help' || argv[0] === '-h') {
  const { helpText } = await import('./help.js');
  process.stdout.write(helpText());
} else {
  const { start } = await import('./start.js');
  await start(argv);
}
