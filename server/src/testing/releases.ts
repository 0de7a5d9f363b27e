import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What an earlier release left behind; scripts/upgrades/make-release-fixture.ts makes these. */
export interface EarlierRelease {
  version: string
  secret: string
  platformSecret: string
  organizationId: string
  keyId: string
  /** Every statement that it sent to PostgreSQL. */
  statements: string[]
}

const folder = fileURLToPath(new URL('./releases/', import.meta.url))

export const earlierReleases: EarlierRelease[] = globSync('*.json', { cwd: folder })
  .sort()
  .map((file) => JSON.parse(readFileSync(join(folder, basename(file)), 'utf8')))

/** Unpacks the data folder of a release, and returns its path. */
export function unpackRelease({ version }: EarlierRelease, into: string): string {
  execFileSync('tar', ['-xzf', join(folder, `${version}.tar.gz`), '-C', into])
  const dataDir = join(into, 'data')
  execFileSync('chmod', ['-R', 'go-rwx', dataDir])
  return dataDir
}
