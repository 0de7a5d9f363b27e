import { SourceError } from '../../source-error.ts'
import { UntrustedDatabase } from '../sqlite/untrusted-database.ts'

/** GeoPackage and SpatiaLite are both SQLite databases; their tables tell them apart. */
export function sqliteKind(path: string, file: string): 'geopackage' | 'spatialite' {
  let database: UntrustedDatabase
  try {
    database = new UntrustedDatabase(path, file)
  } catch (error) {
    if (error instanceof SourceError) throw error
    // The reader of GeoPackages says what is wrong with it.
    return 'geopackage'
  }
  database.close()
  if (database.has('gpkg_contents')) return 'geopackage'
  if (database.has('tiles') && database.has('metadata'))
    throw new SourceError(`${file} is an archive of map tiles (MBTiles), not their source.`)
  return database.has('geometry_columns') ? 'spatialite' : 'geopackage'
}
