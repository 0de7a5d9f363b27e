/**
 * `npm run lock`: run it after `npm install` has changed package-lock.json. A package with native parts has
 * one optional dependency for each platform. If the registry in use lacks those of other platforms, npm omits
 * them from the lock file, and `npm ci` then rejects the file as out of sync. This script adds the missing
 * entries, with the hashes that the registry knows, and removes the Node versions that packages ask for.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { completeLock, packagesWithoutHash, removeEngines } from './lock-platforms.ts'

const path = join(import.meta.dirname, '..', 'package-lock.json')
const lock = JSON.parse(readFileSync(path, 'utf8'))
const added = completeLock(lock.packages)
removeEngines(lock.packages)
for (const place of packagesWithoutHash(lock.packages)) {
  const row = lock.packages[place]
  const integrity = hashOf(`${place.slice(place.lastIndexOf('node_modules/') + 13)}@${row.version}`)
  // In the order that npm writes.
  if (integrity) lock.packages[place] = { version: row.version, integrity, ...row }
}
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
console.log(added.length > 0 ? `Added to the lock file: ${added.join(', ')}` : 'The lock file is complete.')
const unknown = packagesWithoutHash(lock.packages)
if (unknown.length > 0)
  console.log(
    `The registry in use lacks ${unknown.length} packages of other platforms, so their hashes are not known: ${unknown.map((place) => place.slice(13)).join(', ')}`,
  )

function hashOf(name: string): string | null {
  try {
    return execFileSync('npm', ['view', name, 'dist.integrity'], { encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    return null
  }
}
