import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { SourceError } from '../../source-error.ts'

/** GeoPackage and SpatiaLite are both SQLite databases; their tables tell them apart. */
export function sqliteKind(path: string, file: string): 'geopackage' | 'spatialite' {
  let names: Set<string>
  try {
    const database = new DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true })
    try {
      database.exec('PRAGMA trusted_schema = OFF')
      const rows = database.prepare("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").all()
      names = new Set(rows.map((row) => String(row['name'])))
    } finally {
      database.close()
    }
  } catch {
    // The reader of GeoPackages says what is wrong with it.
    return 'geopackage'
  }
  if (names.has('gpkg_contents')) return 'geopackage'
  if (names.has('tiles') && names.has('metadata'))
    throw new SourceError(`${file} is an archive of map tiles (MBTiles), not their source.`)
  return names.has('geometry_columns') ? 'spatialite' : 'geopackage'
}
