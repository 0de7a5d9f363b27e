import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface LockedPackage {
  name: string
  version: string
  license: string
  /** Its folder, relative to the root. */
  path: string
}

interface LockEntry {
  version: string
  license?: string
  dev?: boolean
  link?: boolean
}

/** The npm packages that the program or the console contains, and what builds them; without tools of development. */
export function productionPackages(root: string): LockedPackage[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries<LockEntry>(packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link)
    .map(([path, { version, license = '' }]) => ({
      name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      license,
      path,
    }))
}

/** Those that are installed here: packages with native parts exist once for each platform. */
export function installedPackages(root: string): LockedPackage[] {
  return productionPackages(root).filter(({ path }) => existsSync(join(root, path, 'package.json')))
}
