import { existsSync } from 'node:fs'
import { chmod, chown, cp, lstat, mkdir, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Bind } from './input-files.ts'

/** A number that no Debian package and no systemd unit uses; the user needs no entry in /etc/passwd. */
const OWN_USER = 61_017
/** The user of sandboxed processes if the service is root; null if they are the service's own. */
export const SANDBOX_USER = process.getuid?.() === 0 ? OWN_USER : null

/** Changes the user, for good, before the command is run. */
export function userCommand(command: string[], user: number | null = SANDBOX_USER): string[] {
  if (user === null) return command
  return [
    ...['/usr/bin/setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'],
    ...['--bounding-set=-all', '--inh-caps=-all', '--no-new-privs', '--'],
    ...command,
  ]
}

/**
 * Makes the output folder the user's own, and returns the input in a form that the user can read: files that are
 * only for their owner are copied, as a clone if the file system can do that.
 */
export async function prepareFor(
  user: number | null,
  input: Bind[],
  folder: string,
  otherFolder?: string,
): Promise<Bind[]> {
  if (user === null) return input
  for (const writable of otherFolder === undefined ? [folder] : [folder, otherFolder])
    await chown(writable, user, user)
  const copies = copiesIn(folder)
  const readable: Bind[] = []
  for (const [i, { source, target }] of input.entries()) {
    if (await isForEverybody(source)) readable.push({ source, target })
    else {
      await mkdir(copies, { recursive: true })
      // Files from several folders may have the same name.
      const copy = join(copies, `${i}-${basename(target)}`)
      await cp(source, copy, { recursive: true, mode: 2 })
      readable.push({ source: copy, target })
    }
  }
  if (existsSync(copies)) await giveTo(user, copies)
  return readable
}

/** Removes the copies that `prepareFor` has made for a process, after it has ended. */
export async function removeCopies(folder: string): Promise<void> {
  await rm(copiesIn(folder), { recursive: true, force: true })
}

function copiesIn(folder: string): string {
  return join(folder, 'input-copies')
}

async function isForEverybody(path: string): Promise<boolean> {
  const stats = await lstat(path)
  if (!stats.isDirectory()) return (stats.mode & 0o004) !== 0
  if ((stats.mode & 0o005) !== 0o005) return false
  for (const name of await readdir(path)) if (!(await isForEverybody(join(path, name)))) return false
  return true
}

async function giveTo(user: number, path: string): Promise<void> {
  const stats = await lstat(path)
  if (stats.isSymbolicLink()) return
  await chown(path, user, user)
  await chmod(path, stats.isDirectory() ? 0o700 : 0o600)
  if (stats.isDirectory()) for (const name of await readdir(path)) await giveTo(user, join(path, name))
}
