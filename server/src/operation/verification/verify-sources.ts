import type { Db } from '../../base/database/open.ts'
import { readTables } from '../../data/catalog/store.ts'
import { readStoredVersions } from '../../data/catalog/version-store.ts'
import type { Finding } from './finding.ts'

/** What version 0.1.0 did with files of these formats, and an attacker could exploit. */
const TRUSTED_FORMATS: { [format: string]: string } = {
  spatialite:
    'was published from a SpatiaLite file by a version that executed the schema of the file, which could read other files of the server',
  mapinfo:
    'was published from a MapInfo file by a version that opened other MapInfo tables whose names are in the file',
}

/**
 * Versions that were published from files which an earlier program trusted too much. They are warnings: the stored
 * data is intact, and most of these files are harmless.
 */
export async function verifySources(db: Db): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const table of await readTables(db)) {
    for (const { version, manifest } of await readStoredVersions(db, table)) {
      const { format, file, reader } = manifest.source
      const reason = TRUSTED_FORMATS[format]
      if (reader !== undefined || reason === undefined) continue
      findings.push({
        severity: 'warning',
        check: 'source',
        subject: table,
        message: `Version ${version} of ${table} (${file}) ${reason}.`,
        remedy: `Look at its columns and rows and at ${file}: SECURITY.md says what to do if they are not what you expect. Publish the file again to end this warning, and remove the old version.`,
      })
    }
  }
  return findings
}
