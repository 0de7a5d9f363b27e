import { findEpsg } from '../../crs/epsg.ts'
import type { FeatureStream } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import { type OpenSqliteOptions, openSqlite } from '../sqlite/open-sqlite.ts'
import type { DeclaredType, SqliteDialect, SqliteLayer } from '../sqlite/sqlite-dialect.ts'
import type { UntrustedDatabase } from '../sqlite/untrusted-database.ts'
import { readGeopackageGeometry } from './geopackage-geometry.ts'

/** Opens a layer of a GeoPackage: features, or a table without geometry. */
export function openGeopackage(
  path: string,
  file: string,
  options: OpenSqliteOptions = {},
): Promise<FeatureStream> {
  return openSqlite(path, file, GEOPACKAGE, options)
}

const GEOPACKAGE: SqliteDialect = {
  layers: layersOf,
  numbersRows: false,
  typeOf({ name, declared }, table, database) {
    return isJsonColumn(database, table, name) || declared === 'JSON' ? 'json' : typeOf(declared)
  },
  converter: () => null,
}

/** GDAL adds an empty table (ogr_empty_table), which is ignored, if no other table has geometry. */
function layersOf(database: UntrustedDatabase): SqliteLayer[] {
  if (!database.has('gpkg_contents'))
    throw new SourceError(`${database.file} is an SQLite database, but not a GeoPackage.`)
  const geometries = database.has('gpkg_geometry_columns')
    ? database.select('table_name, column_name, srs_id', 'gpkg_geometry_columns')
    : []
  return (
    database
      .select(
        'table_name AS name, data_type AS type, rowid AS position',
        'gpkg_contents',
        `WHERE data_type IN ('features', 'attributes', 'aspatial') AND table_name <> 'ogr_empty_table'`,
      )
      // Not sorted by SQLite, which would compute all rows before the first.
      .sort((left, right) => Number(left['position']) - Number(right['position']))
      .filter(({ name }) => database.has(String(name)))
      .map(({ name, type }) => {
        const geometry =
          type === 'features' ? geometries.find((each) => each['table_name'] === name) : undefined
        const layer = String(name)
        return {
          name: layer,
          geometryColumn: geometry ? String(geometry['column_name']) : null,
          readGeometry: readGeometryValue,
          crs: () => (geometry ? crsOf(database, layer, Number(geometry['srs_id'])) : null),
        }
      })
  )
}

function readGeometryValue(value: unknown) {
  if (!(value instanceof Uint8Array)) throw new SourceError('the geometry is not a GeoPackage geometry')
  return readGeopackageGeometry(value)
}

/** Whether the file's own data dictionary declares a text column as JSON. */
function isJsonColumn(database: UntrustedDatabase, table: string, column: string): boolean {
  if (!database.has('gpkg_data_columns')) return false
  const where = `WHERE table_name = ? AND column_name = ? AND mime_type = 'application/json'`
  try {
    return database.select('1', 'gpkg_data_columns', where, table, column).length > 0
  } catch {
    return false
  }
}

export function typeOf(declared: string): DeclaredType {
  if (declared === 'BOOLEAN') return 'boolean'
  if (/^(TINY|SMALL|MEDIUM|BIG)?INT(EGER)?\b/.test(declared)) return 'integer'
  if (/^(FLOAT|DOUBLE|REAL)/.test(declared)) return 'number'
  if (declared === 'DATE') return 'date'
  if (declared === 'DATETIME') return 'timestamp'
  if (/^(TEXT|BLOB|VARCHAR|CHAR|NVARCHAR|CLOB)/.test(declared)) return 'text'
  return 'infer-json'
}

/** The two undefined reference systems that every GeoPackage has (OGC 12-128r19, table 5). */
const UNDEFINED_CARTESIAN = -1
const UNDEFINED_GEOGRAPHIC = 0

function crsOf(database: UntrustedDatabase, layer: string, srsId: number): string | null {
  if (srsId === UNDEFINED_GEOGRAPHIC) return null
  if (srsId === UNDEFINED_CARTESIAN)
    throw new SourceError(
      `${database.file}: layer ${layer} has plane coordinates in an undefined CRS. Name it with --crs, such as --crs EPSG:25832.`,
    )
  const [srs] = database.select('*', 'gpkg_spatial_ref_sys', 'WHERE srs_id = ?', srsId)
  if (!srs) return null
  const code = Number(srs['organization_coordsys_id'])
  const organization = String(srs['organization']).toUpperCase()
  const isInList = /^(EPSG|ESRI)$/.test(organization) && findEpsg(code) !== null
  // The extension gpkg_crs_wkt stores WKT 2 in a separate column, and may leave "undefined" in the other.
  const texts = [srs['definition_12_063'], srs['definition']].map((text) => String(text ?? ''))
  const definition = texts.find((text) => text.includes('['))
  return isInList || definition === undefined ? `${organization}:${code}` : definition
}
