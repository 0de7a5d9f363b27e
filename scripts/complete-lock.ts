/**
 * `npm run lock`, after `npm install` has changed package-lock.json.
 *
 * A package with native parts names one optional package for each platform. Where the registry at hand does
 * not carry those of other platforms, npm leaves them out of the lock file, and then `npm ci` refuses the
 * file as out of step. This writes the rows that are missing.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { completeLock } from './lock-platforms.ts'

const path = join(import.meta.dirname, '..', 'package-lock.json')
const lock = JSON.parse(readFileSync(path, 'utf8'))
const added = completeLock(lock.packages)
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
console.log(added.length > 0 ? `Added to the lock file: ${added.join(', ')}` : 'The lock file is complete.')
