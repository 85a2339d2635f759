/** Errors of the file system under the code that the system gives them, with the path that the caller knows. */

export const systemError = (code: string, reason: string, path: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: ${reason} '${path}'`), { code, path });

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;

/** There is nothing at that path. */
export const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';

/** Where the words of the system help nobody. */
const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file is larger than the system allows',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of the path is not a folder',
};

const reasonOf = (error: NodeJS.ErrnoException): string =>
  REASONS[error.code ?? ''] ?? /^\w+: (.*?)(?:, \w+.*)?$/s.exec(error.message)?.[1] ?? error.message;

/** The same error about `path`: it may have happened at a path that only this process knows. Ours stay as they are. */
export function retell(error: unknown, { action, path }: { action: string; path: string }): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || code === undefined || syscall === undefined) return error;
  return Object.assign(systemError(code, `${reasonOf(error)}, ${action}`, path), { syscall, cause: error });
}

/** A link stands where none was when the path was looked at. */
export const linkError = (path: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`ELOOP: ${path} is reached through a link that appeared since it was checked`), {
    code: 'ELOOP',
    path,
  });
