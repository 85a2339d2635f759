import { rmSync } from 'node:fs';

const PATIENCE_MS = 5_000;

/** Removes what a test made. A process that is just ending may still write a last file: then it looks again. */
export function removeFolder(folder: string): void {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return rmSync(folder, { recursive: true, force: true });
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      if (code !== 'ENOTEMPTY' || Date.now() > until) throw thrown;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    }
  }
}
