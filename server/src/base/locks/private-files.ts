import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs'
import { type Config, SettingError } from '../settings/config.ts'

/** Permission bits of everybody who is neither the owner nor in the owner's group. */
const OTHERS = 0o007

/**
 * The data folder holds secrets: signing keys in the control database and sign-in links in the outbox. A group
 * may have access, because container platforms mount volumes that way.
 */
export function requirePrivateFolder({
  dataDir,
  allowReadableDataDir,
}: Pick<Config, 'dataDir' | 'allowReadableDataDir'>): void {
  if (allowReadableDataDir || !existsSync(dataDir)) return
  if ((statSync(dataDir).mode & OTHERS) === 0) return
  throw new SettingError(
    `Other users of this machine have access to the data folder ${dataDir}, which holds signing keys and sign-in links. Run "chmod 700 ${dataDir}", or set WAYLEAVE_ALLOW_READABLE_DATA_DIR=true.`,
  )
}

/**
 * Makes a file that a library will open private to its owner, and creates it if it is missing: SQLite creates
 * files with the permissions that the umask leaves, and gives its journals those of the database.
 */
export function makePrivate(path: string): void {
  if (existsSync(path)) chmodSync(path, 0o600)
  else closeSync(openSync(path, 'a', 0o600))
}
