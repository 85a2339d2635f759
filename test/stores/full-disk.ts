import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** While `run` goes on, the disk takes nothing more for this one file. */
export async function withFullDisk<T>(path: string, run: () => T | Promise<T>): Promise<T> {
  const real = fs.writeSync;
  fs.writeSync = (file: number, ...rest: unknown[]) => {
    if (fs.statSync(path, { throwIfNoEntry: false })?.ino === fs.fstatSync(file).ino) {
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    }
    return (real as (file: number, ...rest: unknown[]) => number)(file, ...rest);
  };
  syncBuiltinESMExports();
  try {
    return await run();
  } finally {
    fs.writeSync = real;
    syncBuiltinESMExports();
  }
}
