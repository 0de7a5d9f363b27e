/** A copy that cannot be made or trusted. The message is a sentence for the operator. */
export class CopyError extends Error {
  override name = 'CopyError'
}

const NO_SPACE = new Set(['ENOSPC', 'EDQUOT'])
/** The result code of SQLite: https://sqlite.org/rescode.html#full */
const SQLITE_FULL = 13

/** An error of a full disk, which often has no path, becomes one that names the folder. Returns others unchanged. */
export function namingFullDisk(error: unknown, folder: string): unknown {
  const { code, errcode } = error as { code?: string; errcode?: number }
  if (!NO_SPACE.has(code ?? '') && errcode !== SQLITE_FULL) return error
  return new CopyError(`No space is left on the disk of ${folder}.`, { cause: error })
}
