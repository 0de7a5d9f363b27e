/**
 * `npm run lock`: run it after `npm install` has changed package-lock.json. A package with native parts has
 * one optional dependency for each platform. If the registry in use lacks those of other platforms, npm omits
 * them from the lock file, and `npm ci` then rejects the file as out of sync. This script adds the missing
 * entries, and removes the Node versions that packages ask for.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { completeLock, removeEngines } from './lock-platforms.ts'

const path = join(import.meta.dirname, '..', 'package-lock.json')
const lock = JSON.parse(readFileSync(path, 'utf8'))
const added = completeLock(lock.packages)
removeEngines(lock.packages)
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
console.log(added.length > 0 ? `Added to the lock file: ${added.join(', ')}` : 'The lock file is complete.')
