import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LockedPackages } from './lock-platforms.ts'

/** The development packages of the lock file that are not installed in their locked version. */
export function missingTools(root: string, packages: LockedPackages): string[] {
  return Object.entries(packages)
    .filter(([, { dev, optional }]) => dev && !optional)
    .filter(([path, { version }]) => installedVersion(join(root, path)) !== version)
    .map(([path]) => path)
}

function installedVersion(folder: string): string | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
  } catch {
    return undefined
  }
}
